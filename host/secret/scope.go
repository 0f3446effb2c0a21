package secret

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// An Owner is whose secrets they are. An owner who differs in one field sees none
// of them: a server whose address changed begins anew, and a configuration finds
// nothing of another's.
type Owner struct {
	Config   string // canonical path of the configuration; empty: the user's own
	Plugin   string // the auth provider's
	Server   string // the server block's label
	Resource string // how the server is reached
	Tenant   string // empty: everybody's
}

func (o Owner) id() string { return digest(o.Config, o.Plugin, o.Server, o.Resource, o.Tenant) }

// digest is 128 bits over parts that cannot run into each other.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Scope is what an auth provider sees of the store.
func (k *Keeper) Scope(o Owner) sdk.Secrets { return &scope{keeper: k, owner: o.id()} }

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
		return nil, false, told(err)
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
		if err := s.room(ctx, st, key); err != nil {
			return err
		}
		return st.SetSecret(ctx, key, value, cleanLabel(label))
	})
	if err == nil {
		s.keeper.stamp(s.owner)
	}
	return told(err)
}

// told puts what plugins understand into a fault about the store: it is nobody's
// mistake, and who logs in has to hear what to do about it.
func told(err error) error {
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
		s.keeper.stamp(s.owner)
	}
	return told(err)
}

// checkName refuses what cannot be typed or shown.
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
		WithHint("a secret has at most %d bytes; keep larger ones in a file of their own", most)
}

// cleanLabel makes a label one line of visible characters.
func cleanLabel(label string) string {
	b := make([]byte, 0, min(len(label), mostLabel))
	for i := 0; i < len(label) && len(b) < mostLabel; i++ {
		if c := label[i]; c >= ' ' && c <= '~' {
			b = append(b, c)
		}
	}
	return string(b)
}
