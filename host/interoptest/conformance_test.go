package interoptest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// suite is the official conformance suite, with the newer node that it needs.
var suite = &kit{
	name: "conformance", origin: "npm", needs: []string{"node", "npm"}, install: suiteInstall,
	sources: []string{"conformance/package.json", "conformance/package-lock.json"},
}

// suiteInstall also runs the one script that is needed: it fetches the node for
// this machine.
func suiteInstall(ctx context.Context, k *kit) error {
	if err := npmInstall(ctx, k); err != nil {
		return err
	}
	return tool(ctx, k.path("node_modules", "node"), "node", "installArchSpecificPackage")
}

// TestConformance lets the suite test Junctor as a client: testdata/conformance
// is what it runs in each scenario, and lists what is expected to fail.
func TestConformance(t *testing.T) {
	for revision, atLeast := range map[string]int{latestLegacy: 5, modern: 8} {
		t.Run(revision, func(t *testing.T) {
			if testing.Short() {
				t.Skip("it starts many programs")
			}
			t.Parallel()
			suite.require(t)
			if err := watchSources(); err != nil {
				t.Fatal(err)
			}
			out := conform(t, revision)
			passed := 0
			for _, line := range regexp.MustCompile(`(?m)^[✓✗] (\S+): \d+ passed.*`).FindAllStringSubmatch(out, -1) {
				switch {
				case strings.HasPrefix(line[1], "auth/"):
				case strings.HasPrefix(line[0], "✓"):
					passed++
				default: // those that the suite does not score are here, too
					t.Errorf("%s", line[0])
				}
			}
			if passed < atLeast {
				t.Errorf("%d scenarios without OAuth passed, want at least %d", passed, atLeast)
			}
			t.Logf("%s: %d scenarios without OAuth passed", revision, passed)
		})
	}
}

// conform runs the scenarios that a revision requires and returns what the suite
// says about them.
func conform(t *testing.T, revision string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, suite.path("node_modules", "node", "bin", "node"),
		suite.path("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"), "client",
		"--command", program("conformance"), "--requirements", revision, "--timeout", fmt.Sprint((2 * patience).Milliseconds()),
		"--expected-failures", repository+"/testdata/conformance/expected-failures.yaml")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "CONFORMANCE_JUNCTOR="+program("junctor"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return string(out)
}
