package interoptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	// discoveryTime bounds one run of "junctor tools", which stops waiting for
	// the program after two minutes.
	discoveryTime = 4 * time.Minute
	// discoveryRuns bounds the runs until a program is completely known. Each
	// continues where the previous one stopped.
	discoveryRuns = 2
)

// TestDiscoveryUnderLoad lists the tools of real programs with cold caches on a
// busy machine. A run prints the complete list, or an incomplete one with a
// message and an exit status that say so. A later run has the complete list.
func TestDiscoveryUnderLoad(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("starts many programs, and a shell to keep the machine busy")
	}
	programs, load := []string{"apt-get", "openssl"}, 2
	if allCombinations() {
		programs, load = []string{"git", "docker", "kubectl", "npm", "cargo", "apt-get", "openssl"}, 8
	}
	keepBusy(t, load)
	for _, name := range programs {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				skip(t, name+" is not installed")
			}
			s := discoveryWorkspace(t, name)
			known := 0
			for run := 1; ; run++ {
				l := s.list(t)
				t.Logf("run %d: exit status %d, %d tools, %s", run, l.status, l.tools, l.took.Round(time.Millisecond))
				if l.tools < known {
					t.Errorf("run %d has %d tools, the previous run had %d", run, l.tools, known)
				}
				if known = l.tools; l.status == 0 {
					break
				}
				if run == discoveryRuns {
					t.Fatalf("the list is incomplete after %d runs", run)
				}
			}
			if l := s.list(t); l.status != 0 || l.tools != known {
				t.Errorf("the complete list has %d tools, a later one %d with exit status %d", known, l.tools, l.status)
			}
		})
	}
}

// TestDiscoveryOfOrderedArguments lists the tools of a program whose arguments
// depend on their order, and whose words the table does not have. No tool may be listed, and the error must contain the
// alternative.
func TestDiscoveryOfOrderedArguments(t *testing.T) {
	if _, err := exec.LookPath("ffplay"); err != nil {
		skip(t, "ffplay is not installed")
	}
	s := discoveryWorkspace(t, "ffplay")
	for run, explained := 1, 0; explained < 2; run++ { // with a cold and with a warm cache
		out, err := s.command("tools").CombinedOutput()
		switch {
		case err != nil && strings.Contains(string(out), "write tool blocks with fixed arguments"):
			explained++
		case err == nil || run > discoveryRuns || !strings.Contains(string(out), "code: list.unknown"):
			t.Fatalf("run %d: %v: %s", run, err, out)
		}
	}
}

// keepBusy runs processes that only compute until the test ends.
func keepBusy(t *testing.T, processes int) {
	t.Helper()
	for range processes {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	}
}

// discoveryWorkspace returns a workspace that wraps a program, with cold
// caches.
func discoveryWorkspace(t *testing.T, program string) *workspace {
	t.Helper()
	if err := watchSources(); err != nil {
		t.Fatal(err)
	}
	s := &workspace{t: t, dir: t.TempDir()}
	s.config = filepath.Join(s.dir, "junctor.hcl")
	text := fmt.Sprintf("server \"all\" {\n  transport \"cli\" {\n    command = [%s]\n  }\n}\n", quoted(program))
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// A toolsRun is the result of one "junctor tools".
type toolsRun struct {
	status, tools int
	took          time.Duration
}

// list runs "junctor tools" and checks that its output, messages and status
// agree.
func (s *workspace) list(t *testing.T) toolsRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), discoveryTime)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := s.command("tools", "--cost")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // checked by the status
	stop()
	r := toolsRun{status: cmd.ProcessState.ExitCode(), took: time.Since(begun)}
	if ctx.Err() != nil {
		t.Fatalf("junctor tools did not end within %s: %s", discoveryTime, clip(stderr.String()))
	}
	var cost struct{ Tools []json.RawMessage }
	if stdout.Len() > 0 {
		if err := json.Unmarshal(stdout.Bytes(), &cost); err != nil {
			t.Fatalf("%v: %s", err, clip(stdout.String()))
		}
	}
	r.tools = len(cost.Tools)
	partial, unknown := strings.Contains(stderr.String(), "code: list.partial"), strings.Contains(stderr.String(),
		"code: list.unknown")
	switch {
	case r.status == 0 && r.tools > 0 && !partial && !unknown:
	case r.status == 6 && r.tools > 0 && partial:
	case r.status == 3 && stdout.Len() == 0 && unknown:
	default:
		t.Errorf("exit status %d with %d tools and the message: %s", r.status, r.tools, clip(stderr.String()))
	}
	return r
}
