package secret

import (
	"context"
	"errors"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// An Owner identifies the secrets of one auth provider for one server. Owners that
// differ in any field share no secrets. A server with a changed address starts without
// secrets, and so does another configuration. It is a value. A digest of it is part of keys at
// rest.
type Owner struct {
	Config   string // canonical path of the configuration; empty: the user configuration
	Plugin   string // name of the auth provider
	Server   string // label of the server block
	Resource string // how the server is reached
	Tenant   string // empty: all tenants
}

func (o Owner) id() string { return digest(o.Config, o.Plugin, o.Server, o.Resource, o.Tenant) }

// Scope returns the secrets of one owner, for its auth provider.
func (k *Keeper) Scope(o Owner) sdk.Secrets { return &scope{keeper: k, owner: o.id()} }

// Changed returns a version of an owner's secrets and of the user's secrets, which
// any auth provider may read. It differs after every change by any process. It reads
// two small files and calls no store.
func (k *Keeper) Changed(o Owner) string {
	return k.versions().read(o.id()) + "/" + k.versions().read(userScope)
}

// A scope is the secrets of one owner. It is immutable; its methods may be called concurrently.
type scope struct {
	keeper *Keeper
	owner  string
}

func (s *scope) key(name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	return prefix + s.owner + "/" + digest(name), nil
}

func (s *scope) Secret(ctx context.Context, name string) (value []byte, found bool, err error) {
	key, err := s.key(name)
	if err != nil {
		return nil, false, err
	}
	err = s.keeper.do(ctx, func(st Store) error {
		var err error
		value, found, err = st.Secret(ctx, key)
		return err
	})
	if err != nil || !found {
		return nil, false, asPluginError(err)
	}
	return value, true, nil
}

func (s *scope) SetSecret(ctx context.Context, name string, value []byte, label string) error {
	key, err := s.key(name)
	if err != nil {
		return err
	}
	if len(value) > MostValue {
		return tooLarge(name, len(value), MostValue)
	}
	err = s.keeper.do(ctx, func(st Store) error {
		if err := s.checkQuota(ctx, st, key); err != nil {
			return err
		}
		return st.SetSecret(ctx, key, value, cleanLabel(label))
	})
	if err == nil {
		s.keeper.versions().bump(s.owner)
	}
	return asPluginError(err)
}

// asPluginError adds to a fault of the store an sdk.Error with the same message and
// hint, which plugins understand and show to the user.
func asPluginError(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	e := &sdk.Error{Code: sdk.Unavailable, Reason: "secret_store", Message: f.Message, Hint: f.Hint}
	switch f.Code {
	case fault.SecretLocked:
		e.Reason = "locked"
	case fault.SecretPassword:
		e.Reason = "password"
	case fault.SecretDamaged:
		e.Reason = "damaged"
	}
	g := *f
	g.Err = e
	return &g
}

func (s *scope) DeleteSecret(ctx context.Context, name string) error {
	key, err := s.key(name)
	if err != nil {
		return err
	}
	err = s.keeper.do(ctx, func(st Store) error { return st.DeleteSecret(ctx, key) })
	if err == nil {
		s.keeper.versions().bump(s.owner)
	}
	return asPluginError(err)
}

// maxOwned is the number of secrets that one owner may have. An auth provider needs a
// handful. The limit keeps a faulty one from filling the store.
const maxOwned = 64

// checkQuota fails if the owner would exceed maxOwned. If the store cannot list its
// keys it returns nil, because losing a refresh token would be worse.
func (s *scope) checkQuota(ctx context.Context, st Store, key string) error {
	switch _, found, err := st.Secret(ctx, key); {
	case found || damaged(err): // it is replaced
		return nil
	case err != nil:
		return err
	}
	keys, err := st.Keys(ctx)
	if err != nil {
		return nil
	}
	owned := 0
	for _, k := range keys {
		if strings.HasPrefix(k, prefix+s.owner+"/") {
			owned++
		}
	}
	if owned < maxOwned {
		return nil
	}
	return fault.New(fault.SecretTooLarge,
		"the auth provider already has %d secrets for one server, the most it may have", owned).
		WithHint("report it to the author of the plugin; a logout may remove them")
}

// checkName fails if a name contains anything but visible ASCII characters.
func checkName(name string) error {
	wrong := name == "" || len(name) > MostName
	for i := 0; i < len(name); i++ {
		wrong = wrong || name[i] <= ' ' || name[i] > '~'
	}
	if wrong {
		return fault.New(fault.SecretName, "%.40q cannot be the name of a secret", name).
			WithHint("a name has 1 to %d visible ASCII characters and no spaces", MostName)
	}
	return nil
}

func tooLarge(name string, size, most int) error {
	return fault.New(fault.SecretTooLarge, "the secret %q has %d bytes", name, size).
		WithHint("a secret has at most %d bytes; keep a larger one in a file", most)
}

// cleanLabel removes all but visible ASCII characters and cuts the label to maxLabel.
func cleanLabel(label string) string {
	b := make([]byte, 0, min(len(label), maxLabel))
	for i := 0; i < len(label) && len(b) < maxLabel; i++ {
		if c := label[i]; c >= ' ' && c <= '~' {
			b = append(b, c)
		}
	}
	return string(b)
}
