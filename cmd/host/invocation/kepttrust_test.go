package invocation

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/lockfile"
)

// TestTrustStaysOnlyForTheLockFileOfJunctor: another program changes the lock file while Junctor
// reads or writes it.
func TestTrustStaysOnlyForTheLockFileOfJunctor(t *testing.T) {
	const own = "server \"a\" {\n}\n"
	for name, c := range map[string]struct {
		before, after string // what another program writes before and after Junctor
		want          bool
	}{
		"nothing else": {"", "", true},
		"before":       {"server \"b\" {\n}\n", "", false},
		"after":        {"", "server \"b\" {\n}\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			home, dir := t.TempDir(), t.TempDir()
			// With a runtime directory this process would look like a junctor that started the programs of
			// other tests.
			inv := &Invocation{Terminal: &terminal.Terminal{
				Stderr: os.Stderr, Lookup: func(name string) (string, bool) { return home, name == "JUNCTOR_HOME" },
			}, Dirs: host.Dirs{Data: home, Run: home}}
			at := config.Location{Path: filepath.Join(dir, config.FoundName), Found: true}
			put := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put(config.FoundName, "defaults {\n  idle = \"1m\"\n}\n")
			r, diags, err := inv.Review(at)
			if err != nil || r == nil {
				t.Fatal(diags, err)
			}
			if err := TrustAgain(inv, r); err != nil {
				t.Fatal(err)
			}
			digest := func() string {
				lock, _ := config.ReadLock(filepath.Join(dir, lockfile.Name))
				return lock.SHA256
			}
			err = inv.KeepTrust(at)(func() (read, written string, err error) {
				if c.before != "" {
					put(lockfile.Name, c.before)
				}
				read = digest()
				put(lockfile.Name, own)
				written = digest()
				if c.after != "" {
					put(lockfile.Name, c.after)
				}
				return read, written, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := TrustedReview(inv, at) != nil; got != c.want {
				t.Errorf("trusted: %t", got)
			}
		})
	}
}
