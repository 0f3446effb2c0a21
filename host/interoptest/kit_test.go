package interoptest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// A kit is a set of third-party programs that are installed together, once.
type kit struct {
	name    string
	origin  string   // source of its programs
	needs   []string // programs that must be in PATH
	sources []string // files under testdata/interop that determine the installation
	install func(ctx context.Context, k *kit) error

	once sync.Once
	err  error // why the kit is not usable; valid after once
}

var (
	npmServers = &kit{
		name: "servers", origin: "npm", needs: []string{"node", "npm"}, install: npmInstall,
		sources: []string{"servers/package.json", "servers/package-lock.json"},
	}
	npmClients = &kit{
		name: "clients", origin: "npm", needs: []string{"node", "npm"}, install: npmInstall,
		sources: []string{"clients/package.json", "clients/package-lock.json", "clients/client.mjs", "clients/odd.mjs",
			"clients/recorded.mjs", "clients/report.mjs", "clients/sessions.mjs"},
	}
	npmWeb = &kit{
		name: "web", origin: "npm", needs: []string{"node", "npm"}, install: npmInstall,
		sources: []string{"web/package.json", "web/package-lock.json", "web/server.mjs", "web/client.mjs",
			"web/login.mjs", "clients/report.mjs"},
	}
	pythonUv = &kit{
		name: "uv", origin: "PyPI", needs: []string{"python3"}, install: pipInstall,
		sources: []string{"python/requirements-uv.txt"},
	}
	npmAxe = &kit{
		name: "axe", origin: "npm", needs: []string{"node", "npm"}, install: npmInstall,
		sources: []string{"axe/package.json", "axe/package-lock.json"},
	}
	npmIdentity = &kit{
		name: "oidc", origin: "npm", needs: []string{"node", "npm"}, install: npmInstall,
		sources: []string{"oidc/package.json", "oidc/package-lock.json", "oidc/provider.mjs"},
	}
	pythonOne = &kit{
		name: "python-1", origin: "PyPI", needs: []string{"python3"}, install: pipInstall,
		sources: []string{"python/requirements-1.txt"},
	}
	pythonTwo = &kit{
		name: "python-2", origin: "PyPI", needs: []string{"python3"}, install: pipInstall,
		sources: []string{"python/requirements-2.txt"},
	}
)

// installTime bounds one installation including downloads.
const installTime = 5 * time.Minute

// dir returns the directory of the kit.
func (k *kit) dir() string { return filepath.Join(repository, ".cache", "interop", k.name) }

// path returns the path of a file of the kit.
func (k *kit) path(elem ...string) string {
	return filepath.Join(append([]string{k.dir()}, elem...)...)
}

// bin returns the path of a program that npm installed.
func (k *kit) bin(name string) string { return k.path("node_modules", ".bin", name) }

// python returns the path of the interpreter with the kit's packages.
func (k *kit) python() string { return k.path("bin", "python") }

func source(name string) string {
	return filepath.Join(repository, "testdata", "interop", filepath.FromSlash(name))
}

// require installs the kit if necessary, and skips the test if that is not
// possible.
func (k *kit) require(t *testing.T) {
	t.Helper()
	k.once.Do(func() { k.err = k.get() })
	if k.err == nil {
		return
	}
	if os.Getenv("JUNCTOR_REQUIRE_INTEROP") != "" {
		t.Fatalf("the kit %q is required but not usable: %v", k.name, k.err)
	}
	skip(t, fmt.Sprintf("nothing of the kit %q, from %s: %v", k.name, k.origin, k.err))
}

// get installs the kit if it differs from its sources. Only one of several test
// processes does it at a time.
func (k *kit) get() error {
	for _, name := range k.needs {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s is not installed", name)
		}
	}
	want, err := k.digest()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(k.dir()), 0o755); err != nil {
		return err
	}
	unlock, err := lockedfile.MutexAt(k.dir() + ".lock").Lock()
	if err != nil {
		return err
	}
	defer unlock()
	stamp := k.path(".installed")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
		return nil
	}
	if err := os.RemoveAll(k.dir()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), installTime)
	defer cancel()
	if err := k.install(ctx, k); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(want), 0o644)
}

// fetching are the installations that prefetch started.
var fetching sync.WaitGroup

// prefetch installs missing kits while the programs are built, if all tests run
// and none may be skipped. Otherwise the first test that needs a kit installs
// it.
func prefetch() {
	if os.Getenv("JUNCTOR_REQUIRE_INTEROP") == "" || testing.Short() || flag.Lookup("test.run").Value.String() != "" {
		return
	}
	kits := []*kit{suite, npmServers, pythonTwo, npmWeb, pythonOne, pythonUv, pythonFastmcp, mavenSDK, npmClients,
		npmIdentity, npmAxe}
	turn := make(chan struct{}, 2)
	for _, k := range kits {
		fetching.Go(func() {
			turn <- struct{}{}
			k.once.Do(func() { k.err = k.get() })
			<-turn
		})
	}
}

// digest changes with the sources and with the interpreter.
func (k *kit) digest() (string, error) {
	h := sha256.New()
	for _, name := range k.sources {
		b, err := os.ReadFile(source(name))
		if err != nil {
			return "", err
		}
		h.Write(b)
	}
	version, err := exec.Command(k.needs[0], "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", k.needs[0], err)
	}
	h.Write(version)
	return hex.EncodeToString(h.Sum(nil)), nil
}

func npmInstall(ctx context.Context, k *kit) error {
	if err := os.MkdirAll(k.dir(), 0o755); err != nil {
		return err
	}
	for _, name := range k.sources {
		b, err := os.ReadFile(source(name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(k.path(filepath.Base(name)), b, 0o644); err != nil {
			return err
		}
	}
	return tool(ctx, k.dir(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
		"--omit-lockfile-registry-resolved")
}

func pipInstall(ctx context.Context, k *kit) error {
	if err := tool(ctx, repository, "python3", "-m", "venv", k.dir()); err != nil {
		return err
	}
	return tool(ctx, repository, k.python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r",
		source(k.sources[0]))
}

func tool(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// TestLockFilesNameNoRegistry checks that lock files work with any mirror.
func TestLockFilesNameNoRegistry(t *testing.T) {
	for _, k := range []*kit{npmServers, npmClients, npmWeb, npmIdentity, npmAxe, suite} {
		b, err := os.ReadFile(source(k.name + "/package-lock.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{`"resolved"`, "registry"} {
			if strings.Contains(string(b), word) {
				t.Errorf("%s/package-lock.json contains %s: write it with npm config omit-lockfile-registry-resolved",
					k.name, word)
			}
		}
	}
}
