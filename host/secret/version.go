package secret

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
)

// maxVersion bounds how much of a version file is read, in bytes.
const maxVersion = 64

// Changed returns a version of an owner's secrets and of the user's secrets, which
// any auth provider may read. It differs after every change by any process. It reads
// two small files and calls no store.
func (k *Keeper) Changed(o Owner) string {
	return k.readVersion(o.id()) + "/" + k.readVersion(userScope)
}

// UserVersion returns a version of the user's secrets, as Changed does.
func (k *Keeper) UserVersion() string { return k.readVersion(userScope) }

func (k *Keeper) readVersion(of string) string {
	if k.opts.Stamps == "" {
		return ""
	}
	f, err := os.Open(filepath.Join(k.opts.Stamps, of))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxVersion))
	return string(text)
}

// bumpVersion gives the secrets of an owner a new version. Errors are ignored: the
// secret is stored, and other processes only notice it later.
func (k *Keeper) bumpVersion(of string) { k.writeVersion(of, rand.Text()) }

func (k *Keeper) writeVersion(of, text string) {
	if k.opts.Stamps == "" || os.MkdirAll(k.opts.Stamps, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(k.opts.Stamps, ".new-*")
	if err != nil {
		return
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil || os.Rename(f.Name(), filepath.Join(k.opts.Stamps, of)) != nil {
		_ = os.Remove(f.Name())
	}
}
