package wire

import (
	"context"
	"fmt"

	"github.com/junctor-mcp/junctor/sdk"
)

// A vault is an open secret store, known by a handle that the host chooses. The host calls its methods
// concurrently, and may close it during a call.

// Limits of a list of keys. With them a list fits in one control message. A vault with more keys
// cannot be listed; longer labels are cut.
const (
	maxKey   = 200  // maximum size of a key in bytes
	maxKeys  = 4096 // maximum number of keys
	maxLabel = 256  // maximum size of a label in bytes
)

// StoreOpen opens a vault. A plugin that is closing opens none, also if Open took long.
func (c *Control) StoreOpen(a StoreOpenArgs, r *Reply) error {
	r.Status = c.do(a.Call, func(ctx context.Context) error {
		s := c.server
		store, ok := s.plugin.SecretStores[a.Component]
		if !ok {
			return missing("secret store", a.Component)
		}
		if s.closing.Err() != nil {
			return shuttingDown()
		}
		v, err := store.Open(ctx,
			&sdk.StoreServer{Dir: a.Dir, Log: s.log.With("secret_store", a.Component)}, a.Settings)
		if err != nil {
			return err
		}
		if v == nil {
			return sdk.Errorf(sdk.Internal, "Open of the secret store returned no vault")
		}
		if err := s.addVault(ctx, a.Handle, v); err != nil {
			_ = closeIfCloser(v)
			return err
		}
		return nil
	})
	return nil
}

// addVault adds an open vault to the plugin's side of the connection.
func (s *Server) addVault(ctx context.Context, handle string, v sdk.Vault) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.closing.Err() != nil:
		return shuttingDown()
	case s.vaults[handle] != nil:
		return sdk.Errorf(sdk.Internal, "vault %q is open already", handle)
	}
	s.vaults[handle] = v
	return nil
}

// StoreClose closes a vault, if it can be closed. Closing a vault that is not open succeeds.
func (c *Control) StoreClose(a StoreArgs, r *Reply) error {
	r.Status = c.do(a.Call, func(context.Context) error {
		s := c.server
		s.mu.Lock()
		v := s.vaults[a.Handle]
		delete(s.vaults, a.Handle)
		s.mu.Unlock()
		return closeIfCloser(v)
	})
	return nil
}

// vault calls f with the vault of a handle.
func (c *Control) vault(a StoreArgs, f func(context.Context, sdk.Vault) error) Status {
	return c.do(a.Call, func(ctx context.Context) error {
		c.server.mu.Lock()
		v := c.server.vaults[a.Handle]
		c.server.mu.Unlock()
		if v == nil {
			return sdk.Errorf(sdk.Unavailable, "vault %q is not open", a.Handle)
		}
		return f(ctx, v)
	})
}

// keyed calls f with the vault of a handle after checking the key.
func (c *Control) keyed(a StoreArgs, f func(context.Context, sdk.Vault) error) Status {
	return c.vault(a, func(ctx context.Context, v sdk.Vault) error {
		if err := checkKey(a.Key); err != nil {
			return err
		}
		return f(ctx, v)
	})
}

// StoreGet returns a secret.
func (c *Control) StoreGet(a StoreArgs, r *SecretReply) error {
	r.Status = c.keyed(a, func(ctx context.Context, v sdk.Vault) error {
		value, found, err := v.Secret(ctx, a.Key)
		if err != nil {
			return err
		}
		if err := checkValue(value); err != nil {
			return sdk.Errorf(sdk.Internal, "the secret store returned a secret that is too large: %v", err)
		}
		r.Value, r.Found = value, found
		return nil
	})
	return nil
}

// StoreSet stores a secret.
func (c *Control) StoreSet(a StoreArgs, r *Reply) error {
	r.Status = c.keyed(a, func(ctx context.Context, v sdk.Vault) error {
		if err := checkValue(a.Value); err != nil {
			return err
		}
		return v.SetSecret(ctx, a.Key, a.Value, clip(a.Label, maxLabel))
	})
	return nil
}

// StoreDelete removes a secret.
func (c *Control) StoreDelete(a StoreArgs, r *Reply) error {
	r.Status = c.keyed(a, func(ctx context.Context, v sdk.Vault) error { return v.DeleteSecret(ctx, a.Key) })
	return nil
}

// StoreKeys returns the keys of all secrets.
func (c *Control) StoreKeys(a StoreArgs, r *StoreKeysReply) error {
	r.Status = c.vault(a, func(ctx context.Context, v sdk.Vault) error {
		keys, err := v.Keys(ctx)
		if err != nil {
			return err
		}
		r.Keys, err = checkKeys(keys)
		return err
	})
	return nil
}

func checkKey(key string) error {
	if key == "" || len(key) > maxKey || !visible(key) {
		return &sdk.Error{Code: sdk.Invalid, Reason: "bad_key",
			Message: fmt.Sprintf("a key has 1 to %d visible ASCII characters", maxKey)}
	}
	return nil
}

func visible(s string) bool {
	for _, b := range []byte(s) {
		if b <= ' ' || b > '~' {
			return false
		}
	}
	return true
}

func checkValue(value []byte) error {
	if len(value) > sdk.MaxSecret {
		return &sdk.Error{
			Code: sdk.Invalid, Reason: "too_large",
			Message: fmt.Sprintf("a secret has at most %d bytes, this one has %d", sdk.MaxSecret, len(value)),
		}
	}
	return nil
}

// checkKeys drops keys that the host cannot have made: a store may contain
// entries of other programs. It fails if there are too many keys.
func checkKeys(keys []string) ([]string, error) {
	var good []string
	for _, k := range keys {
		if checkKey(k) == nil {
			good = append(good, k)
		}
	}
	if len(good) > maxKeys {
		return nil, sdk.Errorf(sdk.Internal, "the secret store holds %d secrets, at most %d can be listed",
			len(good), maxKeys)
	}
	return good, nil
}
