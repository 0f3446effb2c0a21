package secret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// load reads the file and returns the message in it, or nil when there is no
// file. A file that others could read is made private; one that they could
// have written is refused.
func (f *File) load() (message []byte, err error) {
	info, err := os.Lstat(f.opts.Path)
	if errors.Is(err, fs.ErrNotExist) {
		f.rememberAside()
		return nil, nil
	}
	if err != nil {
		return nil, f.unusable(err)
	}
	if err := f.guard(info); err != nil {
		return nil, err
	}
	text, err := readFile(f.opts.Path)
	if err != nil {
		return nil, f.unusable(err)
	}
	message, err = vet(text)
	if errors.Is(err, errNewer) {
		return nil, fault.New(fault.SecretStore, "%s was %s", f.opts.Path, err).
			WithHint("use that version; or move the file away to begin anew")
	}
	return message, err
}

// guard looks at who may do what with the file.
func (f *File) guard(info fs.FileInfo) error {
	path, dir := f.opts.Path, filepath.Dir(f.opts.Path)
	if !info.Mode().IsRegular() {
		return fault.New(fault.SecretStore, "%s is not a regular file", path).
			WithHint("move it away, or choose another path in the secret_store block")
	}
	if !ours(info) {
		return fault.New(fault.SecretStore, "%s belongs to somebody else", path).
			WithHint("move it away, or choose another path in the secret_store block")
	}
	if at, err := os.Stat(dir); err != nil {
		return f.unusable(err)
	} else if othersWrite(at) {
		return fault.New(fault.SecretStore, "others may write to %s, where the encrypted file is", dir).
			WithHint("chmod 700 %s", dir)
	}
	if !othersTouch(info) {
		return nil
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return f.unusable(err)
	}
	f.warn(fmt.Sprintf("others could use the encrypted file %s, whose mode was %04o", path, info.Mode().Perm()), "it is 0600 now; see who changed it")
	return nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, mostFile+1))
}

// lock makes the directory, and waits until no other process writes.
func (f *File) lock(ctx context.Context) (unlock func(), err error) {
	dir := filepath.Dir(f.opts.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, f.unusable(err)
	}
	if at, err := os.Stat(dir); err != nil {
		return nil, f.unusable(err)
	} else if othersWrite(at) {
		return nil, fault.New(fault.SecretStore, "others may write to %s, where the encrypted file would be", dir).
			WithHint("chmod 700 %s", dir)
	}
	return lockFile(ctx, f.opts.Path+".lock")
}

// replace writes a file whole or not at all. The caller has the lock, so the
// name of the new file can be a fixed one, and what a killed process left of it
// is written over.
func replace(path string, text []byte) error {
	next := path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(next, path)
	}
	if err != nil {
		_ = os.Remove(next)
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// putAside renames a file that is damaged, unless another process did, or
// replaced it meanwhile: then the caller tries again.
func (f *File) putAside(ctx context.Context) error {
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	message, err := f.load()
	if err == nil && message != nil && f.pass != nil {
		_, err = f.open(message)
	}
	if errors.Is(err, errDamaged) {
		return f.moveAway(err)
	}
	if err != nil {
		return err
	}
	return fault.New(fault.SecretStore, "another process replaced the encrypted file %s", f.opts.Path).WithHint("try again")
}

// aside is what stands between the name of the file and when it was renamed.
const aside = ".damaged-"

func (f *File) moveAway(why error) error {
	to := f.opts.Path + aside + time.Now().UTC().Format("20060102T150405.000000000")
	if err := os.Rename(f.opts.Path, to); err != nil {
		return f.unusable(err)
	}
	f.said = true
	return fault.New(fault.SecretDamaged, "the encrypted file %s is %s; it was kept as %s", f.opts.Path, why, to).
		WithHint("put a good copy back as %s; or begin anew with `junctor secret set` and `junctor login`", f.opts.Path)
}

// rememberAside says once that there was a file: its absence is no news to
// nobody who has not seen the error.
func (f *File) rememberAside() {
	if f.said {
		return
	}
	f.said = true
	found, _ := filepath.Glob(globQuote(f.opts.Path) + aside + "*")
	if len(found) == 0 {
		return
	}
	f.warn("there are no secrets any more: the encrypted file was damaged and is kept as "+found[len(found)-1],
		"put a good copy back as "+f.opts.Path+"; or save the secrets again, and remove the damaged file")
}

// globQuote makes a pattern that matches one path.
func globQuote(path string) string {
	var b []rune
	for _, r := range path {
		if r == '*' || r == '?' || r == '[' || r == '\\' && filepath.Separator == '/' {
			b = append(b, '[', r, ']')
			continue
		}
		b = append(b, r)
	}
	return string(b)
}
