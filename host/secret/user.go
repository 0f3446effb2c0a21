package secret

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
)

// userScope stands in the keys where the digest of an owner stands otherwise,
// which it cannot be taken for.
const userScope = "user"

// A User is a person's own secrets, by the names that keyring("name") and
// `junctor secret` have for them. The name is kept in front of the value, so
// that what is there can be listed.
type User struct{ keeper *Keeper }

// User is what a person sees of the store.
func (k *Keeper) User() *User { return &User{keeper: k} }

func userKey(name string) string { return prefix + userScope + "/" + digest(name) }

// userName is what keyring() takes in a configuration: what could be kept under
// another name could not be used there.
var userName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

func checkUserName(name string) error {
	if len(name) > MostName || !userName.MatchString(name) {
		return fault.New(fault.SecretName, "%.40q cannot be the name of a secret", name).
			WithHint("a name has 1 to %d letters, digits and . _ / -, starting with a letter or a digit", MostName)
	}
	return nil
}

// Get returns the secret of a name.
func (u *User) Get(ctx context.Context, name string) ([]byte, error) {
	if err := checkUserName(name); err != nil {
		return nil, err
	}
	var value []byte
	var found bool
	err := u.keeper.do(ctx, func(st Store) error {
		var err error
		value, found, err = st.Secret(ctx, userKey(name))
		return err
	})
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, u.unknown(name)
	}
	called, value, ok := bytes.Cut(value, []byte("\n"))
	if !ok || string(called) != name {
		return nil, u.foreign()
	}
	return value, nil
}

// Set keeps a secret, in place of the one that was there.
func (u *User) Set(ctx context.Context, name string, value []byte) error {
	if err := checkUserName(name); err != nil {
		return err
	}
	if len(value) > mostUser {
		return tooLarge(name, len(value), mostUser)
	}
	with := append([]byte(name+"\n"), value...)
	defer clear(with)
	err := u.keeper.do(ctx, func(st Store) error { return st.SetSecret(ctx, userKey(name), with, "Junctor: "+name) })
	if err == nil {
		u.keeper.stamp(userScope)
	}
	return err
}

// Remove forgets a secret, which must be there.
func (u *User) Remove(ctx context.Context, name string) error {
	if err := checkUserName(name); err != nil {
		return err
	}
	err := u.keeper.do(ctx, func(st Store) error {
		_, found, err := st.Secret(ctx, userKey(name))
		if err == nil && !found {
			return u.unknown(name)
		}
		if err != nil && !damaged(err) { // what is damaged can be removed
			return err
		}
		return errors.Join(st.DeleteSecret(ctx, userKey(name)), st.DeleteSecret(ctx, grantsKey(name)))
	})
	if err == nil {
		u.keeper.stamp(userScope)
	}
	return err
}

// List returns the names of all secrets, sorted.
func (u *User) List(ctx context.Context) ([]string, error) {
	var names []string
	err := u.keeper.do(ctx, func(st Store) error {
		keys, err := st.Keys(ctx)
		if err != nil {
			return err
		}
		names = nil
		for _, key := range keys {
			if !strings.HasPrefix(key, prefix+userScope+"/") {
				continue
			}
			value, found, err := st.Secret(ctx, key)
			if err != nil {
				return err
			}
			name, _, ok := bytes.Cut(value, []byte("\n"))
			if found && ok && userKey(string(name)) == key {
				names = append(names, string(name))
			}
			clear(value)
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

func (u *User) unknown(name string) error {
	return fault.New(fault.SecretUnknown, "there is no secret %q in %s", name, u.keeper.Where()).
		WithHint("save it with `junctor secret set %s`; `junctor secret list` shows what there is", name)
}

// foreign is a value that we did not write.
func (u *User) foreign() error {
	return fault.New(fault.SecretDamaged, "what %s has for the secret was not written by this program", u.keeper.Where()).
		WithHint("save it again with `junctor secret set`")
}
