//go:build unix

package host

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/host/cache"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/testdata/eventually"
	"github.com/junctor-mcp/junctor/testdata/programs"
)

// A reloadedApp is an App with the file of its configuration.
type reloadedApp struct {
	*App
	path string
}

// loadApp loads an App whose servers are the demo server.
func loadApp(t *testing.T) *reloadedApp {
	t.Helper()
	a := &reloadedApp{path: filepath.Join(demoDir(t), "junctor.hcl")}
	a.write(t, 0, false)
	a.load(t, "")
	return a
}

// demoDir returns a directory with the demo server and the plugin for it.
func demoDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := programs.Build(dir, "./testdata/demo"); err != nil {
		t.Fatal(err)
	}
	buildPlugin(t, dir, "stdio")
	return dir
}

// buildPlugin builds a plugin for a configuration in a directory.
func buildPlugin(t *testing.T, dir, name string) {
	t.Helper()
	plugins := filepath.Join(dir, "plugins")
	if err := programs.Build(plugins, "./plugins/"+name); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(plugins, name), filepath.Join(plugins, "junctor-plugin-"+name)); err != nil {
		t.Fatal(err)
	}
}

// load loads the App with the managed configuration at a path; empty: none.
func (a *reloadedApp) load(t *testing.T, managed string) {
	t.Helper()
	dir := filepath.Dir(a.path)
	var diags source.Diagnostics
	a.App, diags = Load(t.Context(), Options{
		Config: config.Location{Path: a.path}, Version: "0.1.0", Log: hclog.NewNullLogger(), Managed: managed,
		Dirs: Dirs{Cache: cache.Dir(filepath.Join(dir, "cache")), Data: filepath.Join(dir, "data"), Run: t.TempDir()},
		Lookup: func(name string) (string, bool) {
			if name == "JUNCTOR_PLUGIN_DIR" {
				return filepath.Join(dir, "plugins"), true
			}
			return os.LookupEnv(name)
		},
	})
	if a.App == nil {
		t.Fatal(diags.Err())
	}
}

// write writes a configuration in which one server changes with the version.
func (a *reloadedApp) write(t *testing.T, version int, broken bool) {
	t.Helper()
	text := ""
	for name, v := range map[string]int{"steady": 0, "other": version} {
		text += fmt.Sprintf("server %q {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n    env = { VERSION = \"%d\" }\n  }\n}\n",
			name, v)
	}
	if broken {
		text += "server \"unclosed\" {\n"
	}
	if err := os.WriteFile(a.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// connect connects all servers of the generation in effect.
func (a *reloadedApp) connect(t *testing.T) {
	t.Helper()
	for name, u := range a.Upstreams() {
		if err := u.Connect(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// TestReloadLeaksNoGoroutine: after reloads of connected servers the App has as many
// goroutines as before, and none after Stop.
func TestReloadLeaksNoGoroutine(t *testing.T) {
	// The goroutine that makes all forks lasts as long as the process.
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(),
		goleak.IgnoreTopFunction("github.com/junctor-mcp/junctor/sdk/process.onSpawner.func1.1"))
	a := loadApp(t)
	defer a.Stop()
	a.connect(t)
	before := runtime.NumGoroutine()
	for n := 1; n <= 20; n++ {
		a.write(t, n, n%3 == 0)
		changed, diags, err := a.Reload(context.Background(), nil, "a test")
		if err != nil || (changed == nil) != (n%3 == 0) {
			t.Fatalf("reload %d: %v, %v, %v", n, changed, diags.Err(), err)
		}
		a.connect(t)
	}
	eventually.NoError(t, func() error { // the replaced servers are being closed
		after := runtime.NumGoroutine()
		if after <= before {
			return nil
		}
		stacks := make([]byte, 1<<20)
		return fmt.Errorf("%d goroutines before the reloads, %d afterwards\n%s",
			before, after, stacks[:runtime.Stack(stacks, true)])
	})
}

// constantCredentials is an auth provider.
type constantCredentials struct{}

func (constantCredentials) Authorize(context.Context, sdk.AuthRequest) (sdk.Credential, error) {
	return sdk.Credential{Headers: map[string]string{"Authorization": "Bearer x"}}, nil
}

func (constantCredentials) Challenge(context.Context, sdk.Challenge) (sdk.ChallengeResult, error) {
	return sdk.ChallengeResult{}, nil
}

// TestReloadClosesBrokersOfChangedServers: the broker for the earlier settings of a server
// is closed once its connections are.
func TestReloadClosesBrokersOfChangedServers(t *testing.T) {
	a := loadApp(t)
	defer a.Stop()
	ended := map[string]chan struct{}{"steady": make(chan struct{}), "other": make(chan struct{})}
	for server, end := range ended {
		key := credential.Key{Server: server, Version: a.current.Load().inputs[server]}
		_, err := a.process.credentials.Credentials(key, func() (*credential.Broker, func()) {
			return credential.New(credential.Options{Server: server, Auth: constantCredentials{}}),
				func() { close(end) }
		}).Authorize(t.Context(), sdk.AuthRequest{})
		if err != nil {
			t.Fatal(err)
		}
	}
	a.write(t, 1, false)
	if changed, diags, err := a.Reload(t.Context(), nil, "a test"); err != nil || changed == nil {
		t.Fatalf("%v, %v", diags.Err(), err)
	}
	select {
	case <-ended["other"]:
	case <-time.After(30 * time.Second):
		t.Error("the broker of the changed server is open")
	}
	select {
	case <-ended["steady"]:
		t.Error("the broker of the unchanged server was closed")
	default:
	}
}

// TestReloadRenewsFilesOfWrappedPrograms: the connection of an unchanged wrapped program ends
// when another server names a file that its tools must not change, and only then.
func TestReloadRenewsFilesOfWrappedPrograms(t *testing.T) {
	dir := demoDir(t)
	buildPlugin(t, dir, "cli")
	a := &reloadedApp{path: filepath.Join(dir, "junctor.hcl")}
	write := func(command, value string) {
		text := fmt.Sprintf("server \"w\" {\n  transport \"cli\" {\n    command = [\"true\"]\n  }\n}\nserver \"other\" {\n  transport \"stdio\" {\n    command = [%s]\n    env = { VERSION = %q }\n  }\n}\n",
			command, value)
		if err := os.WriteFile(a.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`"./demo"`, "1")
	a.load(t, "")
	defer a.Stop()
	for _, c := range []struct {
		command, value string
		renewed        bool
	}{
		{`"./demo"`, "2", false},
		{`"./later.sh"`, "2", true},
		{`"sh", "sub/script.sh"`, "2", true},
		{`"sh", "sub/script.sh"`, "3", false},
		{`"python3", "-m", "served"`, "3", true},
	} {
		before := a.current.Load().inputs["w"]
		write(c.command, c.value)
		if _, diags, err := a.Reload(t.Context(), nil, "a test"); err != nil {
			t.Fatalf("%v, %v", diags.Err(), err)
		}
		if renewed := a.current.Load().inputs["w"] != before; renewed != c.renewed {
			t.Errorf("command %s, VERSION %s: renewed %v", c.command, c.value, renewed)
		}
	}
}

// TestFailedReloadKeepsDisconnectedServers: a configuration that removes a disconnected server
// and cannot take effect leaves it disconnected, and it can be connected again.
func TestFailedReloadKeepsDisconnectedServers(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	a := loadApp(t)
	defer a.Stop()
	stop, err := startTelemetry(t.Context(), a.App, false)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := Disconnect(a.App, "other", "a test"); err != nil {
		t.Fatal(err)
	}
	text := "server \"steady\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n  }\n}\n" +
		fmt.Sprintf("telemetry {\n  metrics {\n    listen = %q\n  }\n}\n", taken.Addr())
	if err := os.WriteFile(a.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Reload(t.Context(), nil, "a test"); !fault.Is(err, fault.ListenAddress) {
		t.Fatalf("the reload: %v", err)
	}
	if err := Connect(t.Context(), a.App, "other", "a test"); err != nil {
		t.Errorf("the server cannot be connected: %v", err)
	}
}

// TestLocksKnowTheCatalog: the lock files are compared with the tools that servers list.
func TestLocksKnowTheCatalog(t *testing.T) {
	a := viewedApp(t, `server "steady" {
  definitions = "first_use"
  transport "stdio" {
    command = ["./demo"]
  }
}
`)
	differences, known, err := a.Locks().Differences("steady")
	if err != nil || !known || len(differences) != 0 {
		t.Errorf("%v, %v, %v", differences, known, err)
	}
}
