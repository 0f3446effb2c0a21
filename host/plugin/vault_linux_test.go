package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// storeRequest returns a request for a vault with the given behaviour.
func (h *testHost) storeRequest(mode, do string) StoreRequest {
	h.t.Helper()
	settings, err := json.Marshal(map[string]string{"do": do})
	if err != nil {
		h.t.Fatal(err)
	}
	return StoreRequest{Spec: h.spec(mode, ""), Component: "evil", Settings: settings, Dir: "/its/own"}
}

func (h *testHost) vault(r StoreRequest) *Vault {
	v := h.Vault(r)
	h.t.Cleanup(v.Close)
	return v
}

// TestVault checks that a vault starts on first use, stores secrets, and restarts after its
// process has ended.
func TestVault(t *testing.T) {
	h := newHost(t)
	v := h.vault(h.storeRequest("", ""))
	if len(h.Status()) > 0 {
		t.Errorf("before first use: %+v", h.Status())
	}
	large := bytes.Repeat([]byte{0, 0xff}, sdk.MaxSecret/2)
	key := strings.Repeat("k", 200)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			name := fmt.Sprint("key/", n)
			if err := v.SetSecret(t.Context(), name, []byte(name), strings.Repeat("a label", 100)); err != nil {
				t.Error(err)
			}
			if got, found, err := v.Secret(t.Context(), name); string(got) != name || !found || err != nil {
				t.Errorf("%s is %q, %t, %v", name, got, found, err)
			}
			if err := v.DeleteSecret(t.Context(), name); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := errors.Join(v.SetSecret(t.Context(), key, large, ""),
		v.SetSecret(t.Context(), "empty", nil, "")); err != nil {
		t.Fatal(err)
	}
	if got, found, err := v.Secret(t.Context(), key); !bytes.Equal(got, large) || !found || err != nil {
		t.Errorf("the large secret has %d bytes, %t, %v", len(got), found, err)
	}
	if got, found, err := v.Secret(t.Context(), "empty"); len(got) != 0 || got == nil || !found || err != nil {
		t.Errorf("the empty secret is %q, %t, %v", got, found, err)
	}
	if got, found, err := v.Secret(t.Context(), "absent"); got != nil || found || err != nil {
		t.Errorf("the missing secret: %q, %t, %v", got, found, err)
	}
	keys, err := v.Keys(t.Context())
	slices.Sort(keys)
	if err != nil || !slices.Equal(keys, []string{"empty", key}) {
		t.Errorf("keys %q, %v", keys, err)
	}
	if dir, _, err := v.Secret(t.Context(), "do/dir"); string(dir) != "/its/own" || err != nil {
		t.Errorf("its directory is %q, %v", dir, err)
	}
	first, _, _ := v.Secret(t.Context(), "do/process")
	kill(t, h.pid(), syscall.SIGKILL)
	eventually.NoError(t, func() error {
		second, _, err := v.Secret(t.Context(), "do/process")
		if err == nil && (bytes.Equal(first, second) || !bytes.HasSuffix(second, []byte(" 1"))) {
			t.Errorf("processes and their vaults: %s, %s", first, second)
		}
		return err
	})
	v.Close()
	_, _, err = v.Secret(t.Context(), "empty")
	mustFail(t, err, fault.UpstreamStopped)
}

// TestVaultLimits checks that host and plugin reject inputs over the limits and continue.
func TestVaultLimits(t *testing.T) {
	h := newHost(t)
	h.limits.backoffFirst = time.Millisecond
	v, crowded := h.vault(h.storeRequest("", "")), h.vault(h.storeRequest("", "crowded"))
	get := func(key string) error { _, _, err := v.Secret(t.Context(), key); return err }
	set := func(key string, size int) error {
		return v.SetSecret(t.Context(), key, make([]byte, size), "")
	}
	_, keysErr := crowded.Keys(t.Context())
	for _, c := range []struct {
		name  string
		err   error
		code  fault.Code
		words string
	}{
		{"no key", get(""), fault.SecretName, "visible ASCII"},
		{"a long key", get(strings.Repeat("k", 201)), fault.SecretName, "visible ASCII"},
		{"a space", set("a b", 1), fault.SecretName, "visible ASCII"},
		{"a line break", v.DeleteSecret(t.Context(), "a\n"), fault.SecretName, "visible ASCII"},
		{"a letter", get("é"), fault.SecretName, "visible ASCII"},
		{"a value too large", set("k", sdk.MaxSecret+1), fault.SecretTooLarge, "at most 16384 bytes"},
		{"an answer too large", get("do/large"), fault.PluginBroken, "returned a secret that is too large"},
		{"too many keys", keysErr, fault.PluginBroken, "at most 4096"},
		{"a panic", get("do/panic"), fault.PluginBroken, "the author's mistake"},
		{"locked", get("do/reason/locked"), fault.SecretLocked, "cannot be read"},
		{"damaged", get("do/reason/damaged"), fault.SecretDamaged, "cannot be read"},
		{"another password", get("do/reason/password"), fault.SecretPassword, "cannot be read"},
		{"gone", get("do/reason/absent"), fault.SecretStore, "cannot be read"},
		{"anything else", get("do/reason/whatever"), fault.SecretStore, "cannot be read"},
		{"the end of the process", get("do/exit"), fault.PluginExited, "exited with status 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := mustFail(t, c.err, c.code, c.words)
			e, ok := errors.AsType[*sdk.Error](c.err)
			if f.Plugin != "evil" || c.name == "locked" && (!ok || e.Reason != "locked") {
				t.Errorf("got %+v, %+v", f, e)
			}
		})
	}
	for do, want := range map[string]fault.Code{"absent": fault.SecretStore, "invalid": fault.UpstreamSettings} {
		_, err := h.vault(h.storeRequest("", do)).Keys(t.Context())
		mustFail(t, err, want)
	}
}

// TestVaultRedactsErrors checks that a secret in a store's error is never shown.
func TestVaultRedactsErrors(t *testing.T) {
	h := newHost(t)
	const canary = "canary-5d1e"
	err := h.vault(h.storeRequest("", "")).SetSecret(t.Context(), "do/tell", []byte(canary+"\n"), "")
	f := mustFail(t, err, fault.SecretStore, "cannot store (the secret)")
	if text := fmt.Sprintf("%+v %#v %v %s", f, f.Err, f.Err, h.logs); strings.Contains(text, canary) {
		t.Errorf("the error contains the secret: %s", text)
	}
}

// TestVaultHangs checks that an unresponsive store is killed in time, even if its program
// hangs before it has begun, as with an unresponsive D-Bus.
func TestVaultHangs(t *testing.T) {
	const timeout = 600 * time.Millisecond
	for _, c := range []struct {
		name, mode, do, key string
		code                fault.Code
	}{
		{"an answer", "", "", "do/hang", fault.PluginUnresponsive},
		{"an answer, and says so", "", "", "do/wait", fault.PluginUnresponsive},
		{"the opening", "", "hang", "k", fault.PluginUnresponsive},
		{"the program", "silent", "", "k", fault.PluginStartTimeout},
		{"the description", "describehang", "", "k", fault.PluginStartTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHost(t)
			r := h.storeRequest(c.mode, c.do)
			r.Timeout = timeout
			if c.mode == "" { // the duration of a start depends on the machine
				warm := h.storeRequest("", "")
				warm.Timeout = timeout
				eventually.NoError(t, func() error { _, err := h.vault(warm).Keys(h.soon()); return err })
			}
			v := h.vault(r)
			takes(t, "it", timeout+500*time.Millisecond, func() {
				_, _, err := v.Secret(context.Background(), c.key)
				mustFail(t, err, c.code)
			})
			eventually.NoError(t, func() error {
				for _, s := range h.Status() {
					if s.PID != 0 {
						return fmt.Errorf("%+v", s)
					}
				}
				return nil
			})
		})
	}
}

// TestVaultCallerTimeout checks that a caller with a shorter timeout gets its own error, and
// that the process survives.
func TestVaultCallerTimeout(t *testing.T) {
	h := newHost(t)
	v := h.vault(h.storeRequest("", ""))
	if _, err := v.Keys(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid := h.pid()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := v.Secret(ctx, "do/hang"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if _, err := v.Keys(t.Context()); err != nil || h.pid() != pid {
		t.Errorf("afterwards: %v", err)
	}
}
