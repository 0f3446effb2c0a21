package secret

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// FileOptions configure a [File]. A File calls Password on one goroutine at a time.
type FileOptions struct {
	Path string // absolute
	// Password returns the password when it is first needed. Reading does not
	// need it while there is no file. fresh means that the file is about to be
	// created, so a person has to type the password twice.
	Password func(ctx context.Context, fresh bool) ([]byte, error)
	Kept     string // where [Keeper.KeepPassword] writes the password; empty: nowhere
	Warn     func(msg, hint string)
}

// A File is a [Store] in one file, which age encrypts with a password. It replaces
// the file atomically and under a lock between processes. A killed process leaves
// the old or the new file. Its methods may be called concurrently. There is nothing to close.
type File struct {
	opts   FileOptions
	token  chan struct{} // holds one token; its holder may use pass and warned
	pass   *passphrase
	warned bool // that a damaged file was moved aside
}

// OpenFile returns a File. It does not read the file yet.
func OpenFile(o FileOptions) *File {
	f := &File{opts: o, token: make(chan struct{}, 1)}
	f.token <- struct{}{}
	return f
}

// Secret returns the value of a key.
func (f *File) Secret(ctx context.Context, key string) (value []byte, found bool, err error) {
	c, err := f.read(ctx)
	if err != nil {
		return nil, false, err
	}
	i, found := c.Items[key]
	return i.Value, found, nil
}

// Keys returns all keys.
func (f *File) Keys(ctx context.Context) ([]string, error) {
	c, err := f.read(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(c.Items)), nil
}

// SetSecret stores a value, in place of an earlier one.
func (f *File) SetSecret(ctx context.Context, key string, value []byte, label string) error {
	return f.edit(ctx, func(c *content) bool {
		c.Items[key] = item{Value: value, Label: label}
		return true
	})
}

// DeleteSecret deletes a value. It succeeds if there is none.
func (f *File) DeleteSecret(ctx context.Context, key string) error {
	return f.edit(ctx, func(c *content) bool {
		_, found := c.Items[key]
		delete(c.Items, key)
		return found
	})
}

// acquire waits until no other call of this File is in progress, or ctx ends. It blocks until
// ctx ends at the latest; the caller must call release once.
func (f *File) acquire(ctx context.Context) (release func(), err error) {
	select {
	case <-f.token:
		return func() { f.token <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read returns the content. It takes no lock, because the file is replaced atomically. It waits
// for the token.
func (f *File) read(ctx context.Context) (*content, error) {
	release, err := f.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	message, err := f.load()
	if errors.Is(err, errDamaged) {
		return nil, f.lockAndMoveAside(ctx)
	}
	if err != nil || message == nil {
		return &content{}, err
	}
	if err := f.ensurePassword(ctx, false); err != nil {
		return nil, err
	}
	c, err := f.open(message)
	if errors.Is(err, errDamaged) {
		return nil, f.lockAndMoveAside(ctx)
	}
	return c, err
}

// edit changes the content. It asks for the password before it takes the lock,
// because a person may need long to type. It waits for the token, for a person who types and
// for the lock.
func (f *File) edit(ctx context.Context, change func(*content) bool) error {
	release, err := f.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	message, err := f.load()
	if errors.Is(err, errDamaged) {
		return f.lockAndMoveAside(ctx)
	}
	if err != nil {
		return err
	}
	if message == nil && !change(&content{Items: map[string]item{}}) {
		return nil
	}
	if err := f.ensurePassword(ctx, message == nil); err != nil {
		return err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return f.rewrite(change)
}

// rewrite applies a change to the file. The caller holds the lock.
func (f *File) rewrite(change func(*content) bool) error {
	c := &content{Items: map[string]item{}}
	message, err := f.load()
	if err == nil && message != nil {
		c, err = f.open(message)
	}
	if errors.Is(err, errDamaged) {
		return f.moveAside(err)
	}
	if err != nil || !change(c) {
		return err
	}
	text, err := seal(c, f.pass)
	if err != nil {
		return f.unusable(err)
	}
	if len(text) > maxFile {
		return fault.New(fault.SecretTooLarge, "the encrypted file %s would exceed %d MiB", f.opts.Path, maxFile>>20).
			WithHint("remove secrets that you no longer need: `junctor secret list`")
	}
	if err := replace(f.opts.Path, text); err != nil {
		return f.unusable(err)
	}
	return nil
}

// open decrypts a message. It forgets a wrong password.
func (f *File) open(message []byte) (*content, error) {
	c, err := unseal(message, f.pass)
	if errors.Is(err, errPassword) {
		f.pass = nil
		return nil, fault.New(fault.SecretPassword, "the password does not open %s", f.opts.Path).
			WithHint("try again with the right password; nothing was changed. A password that was kept is forgotten with `junctor secret lock`. If it is lost, remove the file to start with an empty one")
	}
	return c, err
}

// ensurePassword asks for the password unless it is known.
func (f *File) ensurePassword(ctx context.Context, fresh bool) error {
	if f.pass != nil {
		return nil
	}
	password, err := f.opts.Password(ctx, fresh)
	if err != nil {
		return err
	}
	defer clear(password)
	if len(password) == 0 {
		return fault.New(fault.SecretLocked, "the password for %s is empty", f.opts.Path).WithHint("%s", passwordHint)
	}
	f.pass, err = newPassphrase(password)
	return err
}

func (f *File) unusable(err error) error {
	return fault.Because(fault.SecretStore, err, "the encrypted file %s cannot be used", f.opts.Path).
		WithHint("check that you may write to %s and that the disk has space", filepath.Dir(f.opts.Path))
}

func (f *File) warn(msg, hint string) {
	if f.opts.Warn != nil {
		f.opts.Warn(msg, hint)
	}
}

var _ sdk.Vault = (*File)(nil)
