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

// A User accesses the user's own secrets under the names of keyring("name") and
// `junctor secret`. The name is stored in front of the value, so that List can
// return it. It keeps no state; its methods may be called concurrently.
type User struct{ keeper *Keeper }

// User returns the user's own secrets.
func (k *Keeper) User() *User { return &User{keeper: k} }

// UserVersion returns a version of the user's secrets, as Changed does.
func (k *Keeper) UserVersion() string { return k.versions().read(userScope) }

func userKey(name string) string { return prefix + userScope + "/" + digest(name) }

// userName matches the names that keyring() accepts in a configuration.
var userName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)

func checkUserName(name string) error {
	if len(name) > MostName || !userName.MatchString(name) {
		return fault.New(fault.SecretName, "%.40q cannot be the name of a secret", name).
			WithHint("a name has 1 to %d letters, digits and . _ / -, starting with a letter or a digit", MostName)
	}
	return nil
}

// Get returns a secret. It fails with [fault.SecretUnknown] if there is none.
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
		return nil, u.foreignValue(name)
	}
	return value, nil
}

// Set stores a secret, in place of an earlier one.
func (u *User) Set(ctx context.Context, name string, value []byte) error {
	if err := checkUserName(name); err != nil {
		return err
	}
	if len(value) > maxUserValue {
		return tooLarge(name, len(value), maxUserValue)
	}
	with := append([]byte(name+"\n"), value...)
	defer clear(with)
	err := u.keeper.do(ctx, func(st Store) error { return st.SetSecret(ctx, userKey(name), with, "Junctor: "+name) })
	if err == nil {
		u.keeper.versions().bump(userScope)
	}
	return err
}

// Remove deletes a secret and its grants. It fails if there is no such secret.
func (u *User) Remove(ctx context.Context, name string) error {
	if err := checkUserName(name); err != nil {
		return err
	}
	unlock, err := u.lockGrants(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	err = u.keeper.do(ctx, func(st Store) error {
		_, found, err := st.Secret(ctx, userKey(name))
		if err == nil && !found {
			return u.unknown(name)
		}
		if err != nil && !damaged(err) { // damaged values can be removed
			return err
		}
		return errors.Join(st.DeleteSecret(ctx, userKey(name)), st.DeleteSecret(ctx, grantsKey(name)))
	})
	if err == nil {
		u.keeper.versions().bump(userScope)
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
		WithHint("save it with `junctor secret set %s`; `junctor secret list` shows the names", name)
}

// foreignValue returns the error for a value that Junctor did not write.
func (u *User) foreignValue(name string) error {
	return fault.New(fault.SecretDamaged, "the value of the secret %q in %s was not written by Junctor",
		name, u.keeper.Where()).
		WithHint("save it again with `junctor secret set`")
}
