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

// installTimeout is how long an installation with cold caches may take.
const installTimeout = 4 * time.Minute

// passedVariables are the environment variables that package managers may need
// to reach the network.
var passedVariables = []string{
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "UV_INDEX_URL",
	"UV_DEFAULT_INDEX",
}

// cold returns a server that its launcher first installs into an empty cache.
func cold(name string, command []string, env map[string]string) server {
	for _, variable := range passedVariables {
		if v, ok := os.LookupEnv(variable); ok {
			env[variable] = v
		}
	}
	return server{name: name, command: command, env: env, more: "  timeouts {\n    start = \"10s\"\n  }\n"}
}

// npx returns a server of the kit npmServers that npx installs into a cache.
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

// uvx returns the server of the Python SDK's first or second major version,
// which uvx installs into a cache.
func uvx(t *testing.T, name, cache, major string) server {
	t.Helper()
	pythonUv.require(t)
	b, err := os.ReadFile(source("python/requirements-" + major + ".txt"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(strings.Fields(string(b)), func(line string) bool { return strings.HasPrefix(line, "mcp==") })
	command := []string{pythonUv.path("bin", "uvx"), "--from", strings.Fields(string(b))[i], "python", "-W", "ignore",
		source("python/server.py")}
	return cold(name, command, map[string]string{"UV_CACHE_DIR": cache, "UV_PYTHON_DOWNLOADS": "never"})
}

// TestColdLaunchers checks that servers that are installed at the same time,
// into cold caches, start at the first attempt.
func TestColdLaunchers(t *testing.T) {
	if !allCombinations() {
		t.Parallel()
	}
	dir := t.TempDir()
	npmCache, uvCache := filepath.Join(dir, "npm"), filepath.Join(dir, "uv")
	servers := []server{
		npx(t, "every", npmCache, "server-everything"),
		uvx(t, "py1", uvCache, "1"),
	}
	if allCombinations() {
		servers = append(servers,
			npx(t, "again", npmCache, "server-everything"), // same cache entry
			npx(t, "files", npmCache, "server-filesystem", dir), npx(t, "memory", npmCache, "server-memory"),
			uvx(t, "py2", uvCache, "2"))
		keepBusy(t, 4)
	}
	s := newWorkspace(t, servers...)
	begun := time.Now()
	list := s.runWithin(installTimeout, "", "status").servers()
	t.Logf("%d servers were ready after %s (limit %s)", len(list), time.Since(begun).Round(time.Second), installTimeout)
	for _, one := range list {
		if !one.OK {
			t.Errorf("%s: %s", one.Server, encode(t, one))
		}
	}
	if left := npmLocks(t, npmCache); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestInterruptedInstallation checks that a start that ends during an
// installation, by its timeout or the end of junctor, leaves a usable cache.
func TestInterruptedInstallation(t *testing.T) {
	if !allCombinations() {
		t.Parallel()
	}
	moments := []time.Duration{2 * time.Second}
	if allCombinations() {
		moments = []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second,
			8 * time.Second}
	}
	for _, launcher := range []string{"npx", "uvx"} {
		for _, how := range []string{"timeout", "interrupt"} {
			for _, moment := range moments {
				t.Run(fmt.Sprintf("%s/%s/%s", launcher, how, moment), func(t *testing.T) {
					if launcher == "uvx" || how == "interrupt" {
						rarely(t)
					}
					var cache string
					again := func() server {
						if launcher == "uvx" {
							return uvx(t, "it", cache, "1")
						}
						return npx(t, "it", cache, "server-everything")
					}
					var ended time.Duration
					// npm removes its lock when it is ended, but not in the first milliseconds
					// after it made the lock. So a lock may be left once.
					for try := 1; try == 1 || try <= 3 && len(npmLocks(t, cache)) > 0; try++ {
						cache = t.TempDir()
						begun := time.Now()
						interruptInstallation(t, again(), how, moment)
						ended = time.Since(begun)
					}
					if left := npmLocks(t, cache); len(left) > 0 {
						t.Errorf("left behind three times: %q", left)
					}

					s := newWorkspace(t, again())
					begun := time.Now()
					s.runWithin(installTimeout, "", "status").exits(0)
					t.Logf("interrupted after %s, ended after %s, next start took %s (limit %s)",
						moment, ended.Round(time.Millisecond), time.Since(begun).Round(100*time.Millisecond),
						installTimeout)
				})
			}
		}
	}
}

// interruptInstallation starts a server for the first time, and ends the start while its
// launcher installs it.
func interruptInstallation(t *testing.T, interrupted server, how string, moment time.Duration) {
	t.Helper()
	if how == "timeout" {
		interrupted.more = fmt.Sprintf("  timeouts {\n    start = %q\n    install = %q\n  }\n", moment, moment)
	}
	cmd := newWorkspace(t, interrupted).command("status")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if how == "interrupt" {
		time.Sleep(moment) // the interrupt comes at any time of the installation
		_ = cmd.Process.Signal(syscall.SIGINT)
	}
	_ = cmd.Wait() // may have been ready before
}

// npmLocks returns the locks in an npm cache.
func npmLocks(t *testing.T, cache string) []string {
	t.Helper()
	locks, err := filepath.Glob(filepath.Join(cache, "_npx", "*", "concurrency.lock"))
	if err != nil {
		t.Fatal(err)
	}
	return locks
}
