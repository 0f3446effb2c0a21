package secret

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
)

// mostStamp bounds what is read of a stamp.
const mostStamp = 64

// Changed is a stamp of what an owner has, and of what the user has, which any
// auth provider may read: it is another one after every change, also of another
// process. It costs two small files; no store is asked.
func (k *Keeper) Changed(o Owner) string {
	return k.readStamp(o.id()) + "/" + k.readStamp(userScope)
}

func (k *Keeper) readStamp(of string) string {
	if k.opts.Stamps == "" {
		return ""
	}
	f, err := os.Open(filepath.Join(k.opts.Stamps, of))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, mostStamp))
	return string(text)
}

// stamp says that something changed. Whoever cannot be told finds out later:
// what was stored is stored.
func (k *Keeper) stamp(of string) { k.writeStamp(of, rand.Text()) }

func (k *Keeper) writeStamp(of, text string) {
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
