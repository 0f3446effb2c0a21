package secret

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/filelock"
)

// newPasswordBytes is the size of a generated password, 256 bits.
const newPasswordBytes = 32

// KeptPath returns the path in dir of the file that keeps the password of an encrypted
// file. An encrypted file elsewhere may lie in a project that is published: its password
// is never kept beside it.
func KeptPath(dir, encrypted string) string {
	name := filepath.Base(encrypted)
	if filepath.Dir(encrypted) != dir {
		name = digest(encrypted)
	}
	return filepath.Join(dir, name+".password")
}

// kept reads the kept password. found is false without one.
func kept(path string) (password []byte, found bool, err error) {
	if path == "" {
		return nil, false, nil
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	password, err = passwordFile(path)
	return password, true, err
}

// keepNew generates a password and keeps it. Of processes that do so at once, all return
// the password of the first.
func keepNew(ctx context.Context, path string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, unkept(path, err)
	}
	unlock, err := filelock.Lock(ctx, path+".lock")
	if err != nil {
		return nil, lockFault(path+".lock", err)
	}
	defer unlock()
	if password, found, err := kept(path); found {
		return password, err
	}
	raw := make([]byte, newPasswordBytes)
	_, _ = rand.Read(raw) // never fails
	password := []byte(base64.RawURLEncoding.EncodeToString(raw))
	return password, keep(path, password)
}

// keep writes the password to a file that only this user can read.
func keep(path string, password []byte) error {
	text := append(append([]byte{}, password...), '\n')
	defer clear(text)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = replace(path, text)
	}
	if err != nil {
		return unkept(path, err)
	}
	return nil
}

func unkept(path string, err error) error {
	return fault.Because(fault.SecretStore, err, "keeping the password in %s", path).
		WithHint("check that you may write to %s and that the disk has space", filepath.Dir(path))
}

// KeepPassword keeps the password of the encrypted file, so that a process
// without a terminal can read secrets, and returns the path. A password that exists is
// taken from its source and has to open the file. For a file that does not exist yet it
// generates one. It fails if another store is in use.
func (k *Keeper) KeepPassword(ctx context.Context) (path string, err error) {
	err = k.do(ctx, func(s Store) error {
		if f, ok := s.(*File); ok {
			path = f.opts.Kept
			return f.keepPassword(ctx)
		}
		if _, err := s.Keys(ctx); err != nil {
			return err
		}
		return fault.New(fault.Usage, "secrets are stored in %s, which needs no password of Junctor", k.Where()).
			WithHint("there is nothing to keep: the junctor that a client starts reads them there too")
	})
	return path, err
}

// KeptPassword returns the path of the kept password, or "" without one.
func (k *Keeper) KeptPassword() string {
	for _, s := range k.opts.Stores {
		f, ok := s.Store.(*File)
		if !ok || f.opts.Kept == "" {
			continue
		}
		if _, err := os.Lstat(f.opts.Kept); err == nil {
			return f.opts.Kept
		}
	}
	return ""
}

// ForgetPassword removes the kept password.
func (k *Keeper) ForgetPassword() error {
	path := k.KeptPassword()
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fault.Because(fault.SecretStore, err, "removing the password file").
			WithHint("check that you may write to %s", filepath.Dir(path))
	}
	return nil
}

// keepPassword keeps the password of this file.
func (f *File) keepPassword(ctx context.Context) error {
	release, err := f.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	if f.opts.Kept == "" {
		return fault.New(fault.Usage, "the configuration says where the password of %s is", f.opts.Path).
			WithHint("there is nothing to keep: the junctor that a client starts reads it there too")
	}
	message, err := f.load()
	switch {
	case errors.Is(err, errDamaged):
		return f.lockAndMoveAside(ctx)
	case err != nil:
		return err
	case message != nil:
		return f.keepKnown(ctx, message)
	}
	_, err = keepNew(ctx, f.opts.Kept)
	return err
}

// keepKnown keeps the password that opens the message.
func (f *File) keepKnown(ctx context.Context, message []byte) error {
	password, err := f.opts.Password(ctx, false)
	if err != nil {
		return err
	}
	defer clear(password)
	if f.pass, err = newPassphrase(password); err != nil {
		return err
	}
	if _, err := f.open(message); err != nil {
		return err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return keep(f.opts.Kept, password)
}
