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

// FileOptions say where the encrypted file is.
type FileOptions struct {
	Path string // absolute
	// Password is asked when the password is needed for the first time: not
	// for reading while there is no file. Fresh means that there is none, so
	// that a person types it twice.
	Password func(ctx context.Context, fresh bool) ([]byte, error)
	Warn     func(msg, hint string)
}

// A File is a [Store] in one file, encrypted with a password by age. It is
// replaced whole, under a lock that other processes respect, so a process that
// is killed leaves the old one or the new one.
type File struct {
	opts FileOptions
	turn chan struct{} // holds one token; whoever has it may use pass and said
	pass *passphrase
	said bool // that an older file was put aside
}

// OpenFile makes a File. Nothing is read before it is used.
func OpenFile(o FileOptions) *File {
	f := &File{opts: o, turn: make(chan struct{}, 1)}
	f.turn <- struct{}{}
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

// Keys lists all keys.
func (f *File) Keys(ctx context.Context) ([]string, error) {
	c, err := f.read(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Collect(maps.Keys(c.Items)), nil
}

// SetSecret stores a value.
func (f *File) SetSecret(ctx context.Context, key string, value []byte, label string) error {
	return f.edit(ctx, func(c *content) bool {
		c.Items[key] = item{Value: value, Label: label}
		return true
	})
}

// DeleteSecret forgets a value, if there is one.
func (f *File) DeleteSecret(ctx context.Context, key string) error {
	return f.edit(ctx, func(c *content) bool {
		_, found := c.Items[key]
		delete(c.Items, key)
		return found
	})
}

// enter waits for this process's turn.
func (f *File) enter(ctx context.Context) (leave func(), err error) {
	select {
	case <-f.turn:
		return func() { f.turn <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// read returns what there is. It takes no lock: the file is replaced whole.
func (f *File) read(ctx context.Context) (*content, error) {
	leave, err := f.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	message, err := f.load()
	if errors.Is(err, errDamaged) {
		return nil, f.putAside(ctx)
	}
	if err != nil || message == nil {
		return &content{}, err
	}
	if err := f.ask(ctx, false); err != nil {
		return nil, err
	}
	c, err := f.open(message)
	if errors.Is(err, errDamaged) {
		return nil, f.putAside(ctx)
	}
	return c, err
}

// edit changes what there is. The password is asked for before the file is
// locked, for a person takes their time.
func (f *File) edit(ctx context.Context, change func(*content) bool) error {
	leave, err := f.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	message, err := f.load()
	if errors.Is(err, errDamaged) {
		return f.putAside(ctx)
	}
	if err != nil {
		return err
	}
	if message == nil && !change(&content{Items: map[string]item{}}) {
		return nil
	}
	if err := f.ask(ctx, message == nil); err != nil {
		return err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return f.rewrite(change)
}

// rewrite changes the file that is locked.
func (f *File) rewrite(change func(*content) bool) error {
	c := &content{Items: map[string]item{}}
	message, err := f.load()
	if err == nil && message != nil {
		c, err = f.open(message)
	}
	if errors.Is(err, errDamaged) {
		return f.moveAway(err)
	}
	if err != nil || !change(c) {
		return err
	}
	text, err := seal(c, f.pass)
	if err != nil {
		return f.unusable(err)
	}
	if len(text) > mostFile {
		return fault.New(fault.SecretTooLarge, "the encrypted file %s has no room for more", f.opts.Path).
			WithHint("remove secrets that nobody needs: `junctor secret list`")
	}
	if err := replace(f.opts.Path, text); err != nil {
		return f.unusable(err)
	}
	return nil
}

// open decrypts a message. A password that is wrong is forgotten.
func (f *File) open(message []byte) (*content, error) {
	c, err := unseal(message, f.pass)
	if errors.Is(err, errPassword) {
		f.pass = nil
		return nil, fault.New(fault.SecretPassword, "the password is not the one that %s was made with", f.opts.Path).
			WithHint("nothing was changed; try again with the right password. Without it the file cannot be read: remove it to begin anew")
	}
	return c, err
}

// ask makes sure that there is a password.
func (f *File) ask(ctx context.Context, fresh bool) error {
	if f.pass != nil {
		return nil
	}
	password, err := f.opts.Password(ctx, fresh)
	if err != nil {
		return err
	}
	defer clear(password)
	if len(password) == 0 {
		return fault.New(fault.SecretLocked, "the password for %s is empty", f.opts.Path).WithHint("%s", ways)
	}
	f.pass, err = newPassphrase(password)
	return err
}

func (f *File) unusable(err error) error {
	return fault.Because(fault.SecretStore, err, "the encrypted file %s cannot be used", f.opts.Path).
		WithHint("see that you may write to %s, and that there is room", filepath.Dir(f.opts.Path))
}

func (f *File) warn(msg, hint string) {
	if f.opts.Warn != nil {
		f.opts.Warn(msg, hint)
	}
}

var _ sdk.Vault = (*File)(nil)
