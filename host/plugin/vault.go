package plugin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// A StoreRequest asks for a vault.
type StoreRequest struct {
	Spec      Spec
	Component string // which of the plugin's secret stores
	Settings  []byte
	Dir       string // a directory of the store's own
	// Timeout bounds each operation, with the start that it may need; 3 s when
	// it is zero. The process is ended when it passes: a key ring can hang
	// before its program has begun.
	Timeout time.Duration
	// Place returns where in the configuration a setting is, by its path in an
	// error; nil: it is not known.
	Place func(path string) string
}

const vaultTime = 3 * time.Second

// A Vault is a vault in a plugin, that is opened when it is first used. Its
// methods may be called concurrently. Faults wrap the plugin's own [sdk.Error],
// whose Reason says more.
type Vault struct {
	component
	timeout time.Duration
	place   func(path string) string // see StoreRequest
}

var _ sdk.Vault = (*Vault)(nil)

// Vault makes a vault of a plugin. It starts nothing yet. Whoever asked for it
// closes it.
func (s *Supervisor) Vault(r StoreRequest) *Vault {
	timeout := cmp.Or(r.Timeout, vaultTime)
	r.Spec.Start = timeout
	v := &Vault{component{
		sup: s, spec: r.Spec, what: fmt.Sprintf("secret store %q", r.Component), limit: timeout, fatal: true,
	}, timeout, r.Place}
	v.life, v.end = context.WithCancel(context.Background())
	v.start = func(ctx context.Context, l *link, handle, _ string) error {
		return l.wire.StoreOpen(ctx, wire.StoreOpenArgs{Component: r.Component, Handle: handle, Settings: r.Settings, Dir: r.Dir})
	}
	v.stop = func(ctx context.Context, l *link, handle string) error { return l.wire.Vault(handle).Close(ctx) }
	return v
}

// Secret reads a secret.
func (v *Vault) Secret(ctx context.Context, key string) (value []byte, found bool, err error) {
	err = v.ask(ctx, nil, func(ctx context.Context, remote *wire.RemoteVault) (err error) {
		value, found, err = remote.Secret(ctx, key)
		return err
	})
	return value, found, err
}

// SetSecret stores a secret.
func (v *Vault) SetSecret(ctx context.Context, key string, value []byte, label string) error {
	return v.ask(ctx, value, func(ctx context.Context, remote *wire.RemoteVault) error {
		return remote.SetSecret(ctx, key, value, label)
	})
}

// DeleteSecret removes a secret.
func (v *Vault) DeleteSecret(ctx context.Context, key string) error {
	return v.ask(ctx, nil, func(ctx context.Context, remote *wire.RemoteVault) error { return remote.DeleteSecret(ctx, key) })
}

// Keys lists the keys of all that is stored.
func (v *Vault) Keys(ctx context.Context) (keys []string, err error) {
	err = v.ask(ctx, nil, func(ctx context.Context, remote *wire.RemoteVault) (err error) {
		keys, err = remote.Keys(ctx)
		return err
	})
	return keys, err
}

// ask calls f with the vault in the plugin, and ends the plugin when it is
// late. No error shows the value.
func (v *Vault) ask(outer context.Context, value []byte, f func(context.Context, *wire.RemoteVault) error) error {
	ctx, cancel := context.WithTimeout(outer, v.timeout)
	defer cancel()
	err := v.use(ctx, func(ctx context.Context, l *link, handle string) error {
		err := f(ctx, l.wire.Vault(handle))
		if outer.Err() == nil && timedOut(ctx, err) {
			l.condemn(v.unresponsive())
		}
		return err
	})
	if outer.Err() == nil && timedOut(ctx, err) {
		return v.of(v.unresponsive())
	}
	return placed(v.explain(err, value), v.place)
}

func (v *Vault) unresponsive() *fault.Error {
	return fault.New(fault.PluginUnresponsive, "%s did not answer within %s and was ended", v.what, v.timeout).
		WithHint("it may wait for a person: unlock it, or choose another with a secret_store block")
}

// vaultReasons are the words of secret stores.
var vaultReasons = map[string]fault.Code{
	"locked": fault.SecretLocked, "absent": fault.SecretStore, "password": fault.SecretPassword, "damaged": fault.SecretDamaged,
	"bad_key": fault.SecretName, "too_large": fault.SecretTooLarge,
}

// explain makes what the plugin said about the server, as far as anybody knew,
// into something about secrets, and takes the value out of it.
func (v *Vault) explain(err error, value []byte) error {
	f, isFault := errors.AsType[*fault.Error](err)
	e, isTheirs := errors.AsType[*sdk.Error](err)
	if !isFault || !isTheirs {
		return err
	}
	hide := func(s string) string { return s }
	if len(bytes.TrimSpace(value)) > 0 {
		hide = strings.NewReplacer(string(value), "(the secret)", string(bytes.TrimSpace(value)), "(the secret)").Replace
	}
	theirs, told := *e, *f
	for _, text := range []*string{&theirs.Message, &theirs.Hint, &told.Message, &told.Hint} {
		*text = hide(*text)
	}
	theirs.Output, told.Output = nil, hideAll(f.Output, hide)
	told.Err = &theirs
	switch {
	case vaultReasons[e.Reason] != "":
		told.Code = vaultReasons[e.Reason]
	case f.Code != fault.UpstreamSettings && !strings.HasPrefix(string(f.Code), "plugin."):
		told.Code = fault.SecretStore
	}
	return &told
}

func hideAll(lines []string, hide func(string) string) []string {
	var hidden []string
	for _, line := range lines {
		hidden = append(hidden, hide(line))
	}
	return hidden
}
