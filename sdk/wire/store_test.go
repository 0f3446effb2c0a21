package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// A vaulter is a secret store without settings.
type vaulter func(context.Context, *sdk.StoreServer) (sdk.Vault, error)

func (vaulter) Schema() sdk.Schema                     { return sdk.Schema{} }
func (vaulter) Validate(context.Context, []byte) error { return sdk.AttrErrorf("path", "is empty") }
func (v vaulter) Open(ctx context.Context, s *sdk.StoreServer, _ []byte) (sdk.Vault, error) {
	return v(ctx, s)
}

// mapVault keeps secrets in a map.
type mapVault struct {
	mu     sync.Mutex
	kept   map[string][]byte // guarded by mu
	labels map[string]string // guarded by mu
	more   []string          // further keys that Keys returns
	closed chan struct{}
}

func newMapVault() *mapVault {
	return &mapVault{kept: map[string][]byte{}, labels: map[string]string{}, closed: make(chan struct{})}
}

func (v *mapVault) Secret(ctx context.Context, key string) ([]byte, bool, error) {
	switch key {
	case "wait":
		return nil, false, waits(ctx)
	case "panic":
		panic("ouch")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	value, ok := v.kept[key]
	return value, ok, nil
}

func (v *mapVault) SetSecret(_ context.Context, key string, value []byte, label string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept[key], v.labels[key] = value, label
	return nil
}

func (v *mapVault) DeleteSecret(_ context.Context, key string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.kept, key)
	return nil
}

func (v *mapVault) Keys(context.Context) ([]string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append(slices.Sorted(maps.Keys(v.kept)), v.more...), nil
}

func (v *mapVault) Close() error {
	close(v.closed)
	return nil
}

// storePair connects a host to a plugin with one secret store, "v".
func storePair(t *testing.T, open vaulter) *pair {
	t.Helper()
	return attach(t, &sdk.Plugin{SecretStores: map[string]sdk.SecretStore{"v": open}}, grants{})
}

// openedVault returns a remote vault and the vault behind it.
func openedVault(t *testing.T) (*RemoteVault, *mapVault) {
	t.Helper()
	behind := newMapVault()
	p := storePair(t, func(_ context.Context, s *sdk.StoreServer) (sdk.Vault, error) {
		if s.Dir != "/d" || s.Log == nil {
			return nil, fmt.Errorf("opened with %+v", s)
		}
		return behind, nil
	})
	if err := p.StoreOpen(t.Context(), StoreOpenArgs{Component: "v", Handle: "h", Dir: "/d"}); err != nil {
		t.Fatal(err)
	}
	return p.Vault("h"), behind
}

func TestStore(t *testing.T) {
	v, behind := openedVault(t)
	if value, found, err := v.Secret(t.Context(), "k"); value != nil || found || err != nil {
		t.Errorf("before: %q, %t, %v", value, found, err)
	}
	longest, largest := strings.Repeat("~", maxKey), bytes.Repeat([]byte("\x00\xff"), sdk.MaxSecret/2)
	for key, value := range map[string][]byte{"k": []byte("v"), "empty": nil, longest: largest} {
		if err := v.SetSecret(t.Context(), key, value, strings.Repeat("l", 1000)); err != nil {
			t.Error(err)
		}
		if got, found, err := v.Secret(t.Context(), key); !bytes.Equal(got, value) ||
			got == nil || !found || err != nil {
			t.Errorf("%.9s is %.9q, %t, %v", key, got, found, err)
		}
	}
	if len(behind.labels["k"]) > maxLabel+4 {
		t.Errorf("a label of %d bytes", len(behind.labels["k"]))
	}
	behind.more = []string{"", "of somebody else", "é", strings.Repeat("k", maxKey+1)}
	if keys, err := v.Keys(t.Context()); err != nil || !slices.Equal(keys, []string{"empty", "k", longest}) {
		t.Errorf("keys %q, %v", keys, err)
	}
	for range 2 { // deleting a secret that does not exist succeeds
		if err := v.DeleteSecret(t.Context(), "k"); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if err := v.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	within(t, "the close", behind.closed)
	if _, _, err := v.Secret(t.Context(), "empty"); sdk.CodeOf(err) != sdk.Unavailable {
		t.Errorf("afterwards: %v", err)
	}
}

// TestStoreLimits checks that each side enforces the limits without relying on
// the other.
func TestStoreLimits(t *testing.T) {
	v, behind := openedVault(t)
	behind.kept["large"] = make([]byte, sdk.MaxSecret+1)
	control := &Control{server: &Server{vaults: map[string]sdk.Vault{"h": behind}}}
	for _, key := range []string{"", " ", "a b", "a\n", "é", "\x7f", strings.Repeat("k", maxKey+1)} {
		var theirs Reply
		_ = control.StoreDelete(StoreArgs{Handle: "h", Key: key}, &theirs)
		_, _, err := v.Secret(t.Context(), key)
		for what, err := range map[string]error{
			"get": err, "set": v.SetSecret(t.Context(), key, nil, ""),
			"delete": v.DeleteSecret(t.Context(), key), "the plugin's side": theirs.Status.Err(),
		} {
			if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Code != sdk.Invalid || e.Reason != "bad_key" {
				t.Errorf("%s of the key %.9q: %v", what, key, err)
			}
		}
	}
	var theirs Reply
	_ = control.StoreSet(StoreArgs{Handle: "h", Key: "k", Value: make([]byte, sdk.MaxSecret+1)}, &theirs)
	for what, err := range map[string]error{
		"set":               v.SetSecret(t.Context(), "k", make([]byte, sdk.MaxSecret+1), ""),
		"the plugin's side": theirs.Status.Err(),
	} {
		if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Code != sdk.Invalid || e.Reason != "too_large" {
			t.Errorf("%s: %v", what, err)
		}
	}
	if value, _, err := v.Secret(t.Context(), "large"); value != nil || sdk.CodeOf(err) != sdk.Internal {
		t.Errorf("a large answer: %d bytes, %v", len(value), err)
	}
	for n := range maxKeys {
		behind.more = append(behind.more, fmt.Sprintf("%0*d", maxKey, n))
	}
	if _, err := v.Keys(t.Context()); sdk.CodeOf(err) != sdk.Internal {
		t.Errorf("%d keys: %v", maxKeys+1, err)
	}
	behind.more = behind.more[1:]
	if keys, err := v.Keys(t.Context()); len(keys) != maxKeys || err != nil {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	if _, _, err := v.Secret(t.Context(), "panic"); sdk.CodeOf(err) != sdk.Panicked {
		t.Errorf("panic: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := v.Secret(ctx, "wait"); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestStoreRefuses(t *testing.T) {
	late, again := newMapVault(), newMapVault()
	entered := make(chan struct{})
	var first *mapVault
	p := storePair(t, func(ctx context.Context, s *sdk.StoreServer) (sdk.Vault, error) {
		switch s.Dir {
		case "nil":
			return nil, nil
		case "panic":
			panic("ouch")
		case "absent":
			return nil, &sdk.Error{Code: sdk.Unavailable, Reason: "absent", Message: "no key ring"}
		case "again":
			return again, nil
		case "late":
			close(entered)
			<-ctx.Done()
			return late, nil
		}
		first = newMapVault()
		return first, nil
	})
	open := func(ctx context.Context, dir, component string) error {
		return p.StoreOpen(ctx, StoreOpenArgs{Component: component, Handle: "h", Dir: dir})
	}
	if err := open(t.Context(), "first", "v"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, component string
		want           sdk.Code
	}{{"x", "b", sdk.Unimplemented}, {"nil", "v", sdk.Internal}, {"panic", "v", sdk.Panicked},
		{"absent", "v", sdk.Unavailable}, {"again", "v", sdk.Internal}} {
		if err := open(t.Context(), c.dir, c.component); sdk.CodeOf(err) != c.want {
			t.Errorf("%s: %v", c.dir, err)
		}
	}
	within(t, "the close of the one too many", again.closed)
	for component, want := range map[string]sdk.Code{"v": sdk.Invalid, "b": sdk.Unimplemented} {
		if err := p.Validate(t.Context(), "secret_store", component, nil); sdk.CodeOf(err) != want {
			t.Errorf("validating %s: %v", component, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- open(ctx, "late", "v") }()
	within(t, "Open", entered)
	cancel()
	if err := within(t, "the end of Open", done); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	within(t, "the close of what came late", late.closed)
	if err := p.Shutdown(t.Context(), patience); err != nil {
		t.Error(err)
	}
	within(t, "the close with the plugin", first.closed)
	if err := open(t.Context(), "x", "v"); sdk.CodeOf(err) != sdk.Unavailable {
		t.Errorf("afterwards: %v", err)
	}
}
