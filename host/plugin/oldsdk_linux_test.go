package plugin

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// TestOldSDK runs plugins built with each earlier SDK from a frozen copy of their source: a
// transport, an auth provider and a secret store.
func TestOldSDK(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	for _, version := range []string{"0.1.0"} {
		t.Run(version, func(t *testing.T) {
			h := newHost(t)
			path := filepath.Join(h.dir, "bin", FilePrefix+"old")
			buildOld(t, version, path)
			m, _, err := h.Describe(h.soon(), path, "")
			if err != nil || m.SDK != version {
				t.Fatalf("%+v, %v", m, err)
			}
			if err := Check(m, h.dir, "old", path); err != nil {
				t.Error(err)
			}
			spec := Spec{Name: "old", Path: path}
			h.oldTransport(spec)
			h.oldAuth(spec)
			h.oldStore(spec)
		})
	}
}

// buildOld builds testdata/oldsdk with an earlier version of the SDK.
func buildOld(t *testing.T, version, to string) {
	t.Helper()
	from, dir := filepath.Join("..", "..", "testdata", "oldsdk"), t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name),
				[]byte(strings.ReplaceAll(string(text), "0.1.0", version)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	z, err := zip.OpenReader(filepath.Join(from, "sdk-"+version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := os.CopyFS(filepath.Join(dir, "sdk-"+version), z); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", to, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building with SDK %s: %v\n%s", version, err, out)
	}
}

// oldTransport exchanges messages of all sizes and checks that a crash is detected.
func (h *testHost) oldTransport(spec Spec) {
	h.t.Helper()
	r := Request{Spec: spec, Component: "old", Server: "s", MaxMessage: 16 << 20, Settings: []byte(`{"word":"x"}`)}
	c := h.mustOpen(r)
	for _, size := range []int{1, 1 << 10, 1 << 20} {
		message := `{"x":"` + strings.Repeat("x", size) + `"}`
		c.send(h.t, message)
		if got, err := c.Read(); err != nil || string(got) != message {
			h.t.Errorf("%d bytes came back as %d, %v", size, len(got), err)
		}
	}
	if _, err := c.Status(h.soon()); err != nil {
		h.t.Error(err)
	}
	kill(h.t, h.pid(), syscall.SIGKILL)
	if _, err := c.Read(); !fault.Is(err, fault.PluginExited) {
		h.t.Errorf("got %v", err)
	}
	h.mustOpen(r).echoes(h.t)
}

// oldAuth obtains a credential with a secret of the host, and an error.
func (h *testHost) oldAuth(spec Spec) {
	h.t.Helper()
	a := h.Authorizer(AuthRequest{Spec: spec, Component: "old", Server: "s",
		Grant: sdk.Host{Secrets: drawer{"key": "sesame"}}})
	defer a.Close()
	cred, err := a.Authorize(h.soon(), sdk.AuthRequest{})
	if err != nil || cred.Headers["X-Word"] != "open sesame" || cred.PerRequest {
		h.t.Errorf("%+v, %v", cred, err)
	}
	_, err = a.Authorize(h.soon(), sdk.AuthRequest{Method: "refuse"})
	if f := mustFail(h.t, err, fault.PluginDenied, "refused", "ask"); f.Path != "word" {
		h.t.Errorf("the path is %q", f.Path)
	}
}

// oldStore stores a secret.
func (h *testHost) oldStore(spec Spec) {
	h.t.Helper()
	v := h.Vault(StoreRequest{Spec: spec, Component: "old", Settings: []byte("{}"), Timeout: time.Minute})
	defer v.Close()
	if err := v.SetSecret(h.soon(), "k", []byte("v"), ""); err != nil {
		h.t.Error(err)
	}
	if value, found, err := v.Secret(h.soon(), "k"); string(value) != "v" || !found || err != nil {
		h.t.Errorf("%q, %t, %v", value, found, err)
	}
	if keys, err := v.Keys(h.soon()); len(keys) != 1 || err != nil {
		h.t.Errorf("%q, %v", keys, err)
	}
}
