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

// A StoreRequest describes the secret store to open.
type StoreRequest struct {
	Spec      Spec
	Component string // the secret store of the plugin
	Settings  []byte
	Dir       string // private directory of the store
	// Timeout limits each operation, including a start; 0 means 3 s. The process is
	// killed after it, because a key ring can block before its program has begun.
	Timeout time.Duration
	// Lacks is why the settings are not complete. Each operation fails with it if it is not nil.
	Lacks error
	// Place returns the position of a setting in the configuration, given its path
	// in an error. It may be nil.
	Place func(path string) string
}

const vaultTime = 3 * time.Second

// A Vault is an open secret store in a plugin's process. It opens on first use. Its
// methods may be called concurrently. Its faults wrap the plugin's [sdk.Error], whose
// Reason is more specific. Package host makes it for package secret and closes it.
type Vault struct {
	component
	timeout time.Duration
	lacks   error                    // see StoreRequest
	place   func(path string) string // see StoreRequest
}

var _ sdk.Vault = (*Vault)(nil)

// Vault returns a vault that has not been opened. The caller closes it.
func (s *Supervisor) Vault(r StoreRequest) *Vault {
	timeout := cmp.Or(r.Timeout, vaultTime)
	r.Spec.Start = timeout
	v := &Vault{component{
		sup: s, spec: r.Spec, what: fmt.Sprintf("secret store %q", r.Component), limit: timeout, fatal: true,
	}, timeout, r.Lacks, r.Place}
	v.life, v.end = context.WithCancel(context.Background())
	v.start = func(ctx context.Context, l *link, handle, _ string) error {
		return l.wire.StoreOpen(ctx,
			wire.StoreOpenArgs{Component: r.Component, Handle: handle, Settings: r.Settings, Dir: r.Dir})
	}
	v.stop = func(ctx context.Context, l *link, handle string) error { return l.wire.Vault(handle).Close(ctx) }
	return v
}

// Secret returns a secret. found is false if there is none.
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
	return v.ask(ctx, nil,
		func(ctx context.Context, remote *wire.RemoteVault) error { return remote.DeleteSecret(ctx, key) })
}

// Keys returns the keys of all stored secrets.
func (v *Vault) Keys(ctx context.Context) (keys []string, err error) {
	err = v.ask(ctx, nil, func(ctx context.Context, remote *wire.RemoteVault) (err error) {
		keys, err = remote.Keys(ctx)
		return err
	})
	return keys, err
}

// ask calls f with the vault in the plugin and kills the plugin if it times out. No
// error contains the value.
func (v *Vault) ask(outer context.Context, value []byte, f func(context.Context, *wire.RemoteVault) error) error {
	if v.lacks != nil {
		return v.lacks
	}
	ctx, cancel := context.WithTimeout(outer, v.timeout)
	defer cancel()
	err := v.use(ctx, func(ctx context.Context, l *link, handle string) error {
		err := f(ctx, l.wire.Vault(handle))
		if outer.Err() == nil && timedOut(ctx, err) {
			l.killWith(v.unresponsive())
		}
		return err
	})
	if outer.Err() == nil && timedOut(ctx, err) {
		return v.withPlugin(v.unresponsive())
	}
	return placed(v.explain(err, value), v.place)
}

func (v *Vault) unresponsive() *fault.Error {
	return fault.New(fault.PluginUnresponsive, "%s did not respond within %s and was killed", v.what, v.timeout).
		WithHint("unlock the store if it waits for you, or select another one with a secret_store block")
}

// vaultReasons maps the reasons of secret stores to fault codes.
var vaultReasons = map[string]fault.Code{
	"locked": fault.SecretLocked, "absent": fault.SecretStore,
	"password": fault.SecretPassword, "damaged": fault.SecretDamaged,
	"bad_key": fault.SecretName, "too_large": fault.SecretTooLarge,
}

// explain converts a fault about the server to one about secrets, and removes the value
// from it.
func (v *Vault) explain(err error, value []byte) error {
	f, isFault := errors.AsType[*fault.Error](err)
	e, isTheirs := errors.AsType[*sdk.Error](err)
	if !isFault || !isTheirs {
		return err
	}
	hide := func(s string) string { return s }
	if len(bytes.TrimSpace(value)) > 0 {
		hide = strings.NewReplacer(string(value), "(the secret)", string(bytes.TrimSpace(value)),
			"(the secret)").Replace
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
