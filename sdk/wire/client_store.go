package wire

import (
	"context"

	"github.com/junctor-mcp/junctor/sdk"
)

// StoreOpen opens a vault, to be named by a.Handle from then on.
func (c *Client) StoreOpen(ctx context.Context, a StoreOpenArgs) error {
	a.Call = c.call.begin(ctx)
	r, err := invoke[Reply](ctx, &c.call, "StoreOpen", a.Call, a)
	if err != nil {
		return err
	}
	return r.Status.Err()
}

// Vault is a vault in the plugin, as the host uses it. What goes beyond the
// limits of [sdk.Vault] is refused on this side, in either direction.
func (c *Client) Vault(handle string) *RemoteVault { return &RemoteVault{client: c, handle: handle} }

// A RemoteVault is a vault in a plugin.
type RemoteVault struct {
	client *Client
	handle string
}

var _ sdk.Vault = (*RemoteVault)(nil)

// Secret reads a secret.
func (v *RemoteVault) Secret(ctx context.Context, key string) ([]byte, bool, error) {
	if err := checkKey(key); err != nil {
		return nil, false, err
	}
	r, err := askVault[SecretReply](ctx, v, "StoreGet", StoreArgs{Key: key})
	if err != nil {
		return nil, false, err
	}
	if err := r.Status.Err(); err != nil {
		return nil, false, err
	}
	if err := checkValue(r.Value); err != nil {
		return nil, false, sdk.Errorf(sdk.Internal, "the secret store returned a secret that is too large: %v", err)
	}
	if r.Value == nil && r.Found {
		r.Value = []byte{} // gob makes nil of what is empty
	}
	return r.Value, r.Found, nil
}

// SetSecret stores a secret.
func (v *RemoteVault) SetSecret(ctx context.Context, key string, value []byte, label string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := checkValue(value); err != nil {
		return err
	}
	return v.plain(ctx, "StoreSet", StoreArgs{Key: key, Value: value, Label: clip(label, labelMax)})
}

// DeleteSecret removes a secret.
func (v *RemoteVault) DeleteSecret(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return v.plain(ctx, "StoreDelete", StoreArgs{Key: key})
}

// Keys lists the keys.
func (v *RemoteVault) Keys(ctx context.Context) ([]string, error) {
	r, err := askVault[StoreKeysReply](ctx, v, "StoreKeys", StoreArgs{})
	if err != nil {
		return nil, err
	}
	if err := r.Status.Err(); err != nil {
		return nil, err
	}
	return checkKeys(r.Keys)
}

// Close makes the plugin forget the vault.
func (v *RemoteVault) Close(ctx context.Context) error {
	return v.plain(ctx, "StoreClose", StoreArgs{})
}

func (v *RemoteVault) plain(ctx context.Context, method string, a StoreArgs) error {
	r, err := askVault[Reply](ctx, v, method, a)
	if err != nil {
		return err
	}
	return r.Status.Err()
}

func askVault[R any](ctx context.Context, v *RemoteVault, method string, a StoreArgs) (*R, error) {
	a.Call, a.Handle = v.client.call.begin(ctx), v.handle
	return invoke[R](ctx, &v.client.call, method, a.Call, a)
}
