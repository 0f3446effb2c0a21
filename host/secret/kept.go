package secret

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/junctor-mcp/junctor/host/fault"
)

// KeepPassword keeps the password of the encrypted file, so that a process without a terminal
// can read secrets, and returns the path. A password that exists is taken from its source and
// has to open the file. For a file that does not exist yet it generates one. It fails if
// another store is in use. It may wait for a person. This file is for the verb secret unlock.
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
