package wire

import (
	"context"

	"github.com/junctor-mcp/junctor/sdk"
)

// StoreOpen opens a vault. Later calls name it by a.Handle.
func (c *Client) StoreOpen(ctx context.Context, a StoreOpenArgs) error {
	a.Call = c.call.begin(ctx)
	r, err := invoke[Reply](ctx, &c.call, "StoreOpen", a.Call, a)
	if err != nil {
		return err
	}
	return r.Status.Err()
}

// Vault returns a vault in the plugin. It checks the limits of [sdk.Vault] on
// this side for arguments and results.
func (c *Client) Vault(handle string) *RemoteVault { return &RemoteVault{client: c, handle: handle} }

// A RemoteVault is a name for a vault in the plugin: values with the same handle are the same vault.
// The host chooses the handle; its Vault in host/plugin opens the vault and closes it, also during a
// call. The methods may be called concurrently.
type RemoteVault struct {
	client *Client
	handle string
}

var _ sdk.Vault = (*RemoteVault)(nil)

// Secret returns the secret stored under key.
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
		r.Value = []byte{} // gob decodes an empty slice as nil
	}
	return r.Value, r.Found, nil
}

// SetSecret stores a secret under key.
func (v *RemoteVault) SetSecret(ctx context.Context, key string, value []byte, label string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := checkValue(value); err != nil {
		return err
	}
	return v.plain(ctx, "StoreSet", StoreArgs{Key: key, Value: value, Label: clip(label, maxLabel)})
}

// DeleteSecret removes the secret stored under key.
func (v *RemoteVault) DeleteSecret(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return v.plain(ctx, "StoreDelete", StoreArgs{Key: key})
}

// Keys returns the keys of all secrets.
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

// Close closes the vault in the plugin.
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
