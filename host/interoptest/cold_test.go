package interoptest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// installing is how long an installation from cold caches may take here.
const installing = 4 * time.Minute

// passed are the variables that package managers need where the network is
// reached in a way of its own.
var passed = []string{
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "UV_INDEX_URL", "UV_DEFAULT_INDEX",
}

// cold is a server that its launcher installs into an empty cache first.
func cold(name string, command []string, env map[string]string) server {
	for _, variable := range passed {
		if v, ok := os.LookupEnv(variable); ok {
			env[variable] = v
		}
	}
	return server{name: name, command: command, env: env, more: "  timeouts {\n    start = \"10s\"\n  }\n"}
}

// npx is a server of the kit npmServers that npx installs into a cache.
func npx(t *testing.T, name, cache, program string, args ...string) server {
	t.Helper()
	for _, needed := range npmServers.needs {
		if _, err := exec.LookPath(needed); err != nil {
			if os.Getenv("JUNCTOR_REQUIRE_INTEROP") != "" {
				t.Fatal(err)
			}
			skip(t, needed+" is not installed")
		}
	}
	b, err := os.ReadFile(source("servers/package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var kit struct{ Dependencies map[string]string }
	if err := json.Unmarshal(b, &kit); err != nil {
		t.Fatal(err)
	}
	pkg := "@modelcontextprotocol/" + program
	command := append([]string{"npx", "-y", pkg + "@" + kit.Dependencies[pkg]}, args...)
	return cold(name, command, map[string]string{"npm_config_cache": cache})
}

// uvx is the server of the Python SDK's first or second major, which uvx installs
// into a cache.
func uvx(t *testing.T, name, cache, major string) server {
	t.Helper()
	pythonUv.require(t)
	b, err := os.ReadFile(source("python/requirements-" + major + ".txt"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(strings.Fields(string(b)), func(line string) bool { return strings.HasPrefix(line, "mcp==") })
	command := []string{pythonUv.path("bin", "uvx"), "--from", strings.Fields(string(b))[i], "python", "-W", "ignore", source("python/server.py")}
	return cold(name, command, map[string]string{"UV_CACHE_DIR": cache, "UV_PYTHON_DOWNLOADS": "never"})
}

// busy keeps the processors busy until the test ends.
func busy(t *testing.T, processes int) {
	t.Helper()
	for range processes {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
}

// TestColdLaunchers: servers that are installed by their launchers, all at the
// same time and into cold caches, get ready without a second attempt.
func TestColdLaunchers(t *testing.T) {
	if !whole() {
		t.Parallel()
	}
	dir := t.TempDir()
	npmCache, uvCache := filepath.Join(dir, "npm"), filepath.Join(dir, "uv")
	servers := []server{
		npx(t, "every", npmCache, "server-everything"),
		uvx(t, "py1", uvCache, "1"),
	}
	if whole() {
		servers = append(servers,
			npx(t, "again", npmCache, "server-everything"), // of the same cache entry
			npx(t, "files", npmCache, "server-filesystem", dir), npx(t, "memory", npmCache, "server-memory"),
			uvx(t, "py2", uvCache, "2"))
		busy(t, 4)
	}
	s := newSite(t, servers...)
	begun := time.Now()
	var list []status
	s.runWithin(installing, "", "status").into(&list)
	t.Logf("%d servers were ready after %s (bar %s)", len(list), time.Since(begun).Round(time.Second), installing)
	for _, one := range list {
		if !one.OK {
			t.Errorf("%s: %s", one.Server, encode(t, one))
		}
	}
	intact(t, npmCache)
}

// TestInterruptedInstallation: a start that ends in the middle of an
// installation, because its time is over or junctor ends, leaves a cache that the
// next start can use at once.
func TestInterruptedInstallation(t *testing.T) {
	if !whole() {
		t.Parallel()
	}
	moments := []time.Duration{2 * time.Second}
	if whole() {
		moments = []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}
	}
	for _, launcher := range []string{"npx", "uvx"} {
		for _, how := range []string{"timeout", "interrupt"} {
			for _, moment := range moments {
				t.Run(fmt.Sprintf("%s/%s/%s", launcher, how, moment), func(t *testing.T) {
					if launcher == "uvx" || how == "interrupt" {
						rarely(t)
					}
					cache := t.TempDir()
					again := func() server {
						if launcher == "uvx" {
							return uvx(t, "it", cache, "1")
						}
						return npx(t, "it", cache, "server-everything")
					}
					interrupted := again()
					if how == "timeout" {
						interrupted.more = fmt.Sprintf("  timeouts {\n    start = %q\n    install = %q\n  }\n", moment, moment)
					}
					s := newSite(t, interrupted)
					cmd := s.command("status")
					begun := time.Now()
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					if how == "interrupt" {
						time.Sleep(moment)
						_ = cmd.Process.Signal(syscall.SIGINT)
					}
					_ = cmd.Wait() // it may have been ready before
					ended := time.Since(begun)
					intact(t, cache)

					s = newSite(t, again())
					begun = time.Now()
					s.runWithin(installing, "", "status").exits(0)
					t.Logf("interrupted after %s it ended after %s, and the next start took %s (bar %s)",
						moment, ended.Round(time.Millisecond), time.Since(begun).Round(100*time.Millisecond), installing)
				})
			}
		}
	}
}

// intact checks that an npm cache has no lock that its owner left behind.
func intact(t *testing.T, cache string) {
	t.Helper()
	locks, err := filepath.Glob(filepath.Join(cache, "_npx", "*", "concurrency.lock"))
	if err != nil || len(locks) > 0 {
		t.Errorf("left behind: %q, %v", locks, err)
	}
}
