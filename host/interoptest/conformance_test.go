package interoptest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
			passed := conform(t, filepath.Join(repository, "testdata", "conformance", "expected-failures.yaml"), "client", "--command", program("conformance"), "--requirements", revision)
			if passed < atLeast {
				t.Errorf("%d scenarios without OAuth passed, want at least %d", passed, atLeast)
			}
			t.Logf("%s: %d scenarios without OAuth passed", revision, passed)
		})
	}
}

// verdict is what the suite prints of each scenario in the end.
var verdict = regexp.MustCompile(`(?m)^[✓✗] (\S+): \d+ passed.*`)

// conform runs the suite and returns how many scenarios passed. Those that failed
// and are not among the expected ones are errors.
func conform(t *testing.T, expected string, args ...string) (passed int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	list, err := os.ReadFile(expected)
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{suite.path("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")}, args...)
	args = append(args, "--timeout", fmt.Sprint((2 * patience).Milliseconds()), "--expected-failures", expected)
	cmd := exec.CommandContext(ctx, suite.path("node_modules", "node", "bin", "node"), args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "CONFORMANCE_JUNCTOR="+program("junctor"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, line := range verdict.FindAllStringSubmatch(string(out), -1) {
		switch {
		case strings.HasPrefix(line[1], "auth/"):
		case strings.HasPrefix(line[1], "tasks-"): // the server behind us has no tasks either
		case strings.HasPrefix(line[0], "✓"):
			passed++
		case strings.Contains(string(list), "- "+line[1]+" "):
		default: // those that the suite does not score are here, too
			t.Errorf("%s", line[0])
		}
	}
	return passed
}
