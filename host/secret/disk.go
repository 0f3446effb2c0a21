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
	"github.com/junctor-mcp/junctor/host/filelock"
)

// load reads the file and returns its age message, or nil if there is no file. If
// other users could read the file, load makes it private. It fails if they could
// have written it. The caller holds the token of the File, as for all methods of File in this
// file.
func (f *File) load() (message []byte, err error) {
	info, err := os.Lstat(f.opts.Path)
	if errors.Is(err, fs.ErrNotExist) {
		f.warnMovedAside()
		return nil, nil
	}
	if err != nil {
		return nil, f.unusable(err)
	}
	if err := f.checkPermissions(info); err != nil {
		return nil, err
	}
	text, err := readFile(f.opts.Path)
	if err != nil {
		return nil, f.unusable(err)
	}
	message, err = parseFile(text)
	if errors.Is(err, errNewer) {
		return nil, fault.New(fault.SecretStore, "%s was %s", f.opts.Path, err).
			WithHint("use that version; or move the file away to start with an empty one")
	}
	return message, err
}

// checkPermissions fails unless the file is regular, belongs to this user and lies
// in a directory that only this user may write to.
func (f *File) checkPermissions(info fs.FileInfo) error {
	path, dir := f.opts.Path, filepath.Dir(f.opts.Path)
	if !info.Mode().IsRegular() {
		return fault.New(fault.SecretStore, "%s is not a regular file", path).
			WithHint("move it away, or choose another path in the secret_store block")
	}
	if !ownedByUser(info) {
		return fault.New(fault.SecretStore, "%s belongs to another user", path).
			WithHint("move it away, or choose another path in the secret_store block")
	}
	if at, err := os.Stat(dir); err != nil {
		return f.unusable(err)
	} else if writableByOthers(at) {
		return fault.New(fault.SecretStore, "other users may write to %s, the directory of the encrypted file", dir).
			WithHint("run `chmod 700 %s`", dir)
	}
	if !accessibleByOthers(info) {
		return nil
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return f.unusable(err)
	}
	f.warn(fmt.Sprintf("other users had access to the encrypted file %s: its mode was %04o", path, info.Mode().Perm()),
		"it is 0600 now; find out what changed it")
	return nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile+1))
}

// lock creates the directory and takes the lock of the encrypted file.
func (f *File) lock(ctx context.Context) (unlock func(), err error) {
	dir := filepath.Dir(f.opts.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, f.unusable(err)
	}
	if at, err := os.Stat(dir); err != nil {
		return nil, f.unusable(err)
	} else if writableByOthers(at) {
		return nil, fault.New(fault.SecretStore,
			"other users may write to %s, the directory of the encrypted file", dir).
			WithHint("run `chmod 700 %s`", dir)
	}
	path := f.opts.Path + ".lock"
	within, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	unlock, err = filelock.Lock(within, path)
	switch {
	case err == nil:
		return unlock, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		err = errLockHeld
	}
	return nil, lockFault(path, err)
}

// lockPatience is how long a call waits for the lock. Its holder writes one small file.
const lockPatience = 10 * time.Second

var errLockHeld = errors.New("another process holds the lock")

func lockFault(path string, err error) error {
	return fault.Because(fault.SecretStore, err, "locking %s", path).
		WithHint("check that you may write to the file, and that no other junctor process hangs")
}

// replace writes a file atomically. The caller holds the lock, so the temporary
// file has a fixed name, and one that a killed process left is overwritten.
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

// lockAndMoveAside renames a damaged file and returns the error about it. If another
// process has replaced the file meanwhile it keeps it and asks the caller to retry.
func (f *File) lockAndMoveAside(ctx context.Context) error {
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
		return f.moveAside(err)
	}
	if err != nil {
		return err
	}
	return fault.New(fault.SecretStore, "another process replaced the encrypted file %s meanwhile", f.opts.Path).
		WithHint("try again")
}

// damagedSuffix separates the name of the file from the time of its renaming.
const damagedSuffix = ".damaged-"

func (f *File) moveAside(why error) error {
	to := f.opts.Path + damagedSuffix + time.Now().UTC().Format("20060102T150405.000000000")
	if err := os.Rename(f.opts.Path, to); err != nil {
		return f.unusable(err)
	}
	f.warned = true
	return fault.New(fault.SecretDamaged, "the encrypted file %s is %s; it was moved to %s", f.opts.Path, why, to).
		WithHint("put a good copy back as %s; or start again with `junctor secret set` and `junctor login`",
			f.opts.Path)
}

// warnMovedAside warns once if a damaged file was moved damagedSuffix earlier, for users who
// have not seen that error.
func (f *File) warnMovedAside() {
	if f.warned {
		return
	}
	f.warned = true
	found, _ := filepath.Glob(globQuote(f.opts.Path) + damagedSuffix + "*")
	if len(found) == 0 {
		return
	}
	f.warn("there are no secrets: the encrypted file was damaged and moved to "+found[len(found)-1],
		"put a good copy back as "+f.opts.Path+"; or save the secrets again, and remove the damaged file")
}

// globQuote returns a pattern that matches exactly one path.
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
