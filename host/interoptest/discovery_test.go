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
	// discoveryTime is how long one run of "junctor tools" may take: it stops
	// waiting for the program after two minutes.
	discoveryTime = 4 * time.Minute
	// discoveryRuns is how many runs a program may take to be known, each of which
	// continues where the one before stopped.
	discoveryRuns = 2
)

// TestDiscoveryUnderLoad lists the tools of real programs with cold caches on a
// busy machine. Each run prints the whole list, or what is known with words and an
// exit status that say so; and a later run has the whole list.
func TestDiscoveryUnderLoad(t *testing.T) {
	if testing.Short() || runtime.GOOS == "windows" {
		t.Skip("starts many programs, and a shell to keep the machine busy")
	}
	programs, load := []string{"apt-get", "openssl"}, 2
	if whole() {
		programs, load = []string{"git", "docker", "kubectl", "npm", "cargo", "apt-get", "openssl"}, 8
	}
	keepBusy(t, load)
	for _, name := range programs {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				skip(t, name+" is not installed")
			}
			s := discoverySite(t, name)
			known := 0
			for run := 1; ; run++ {
				l := s.list(t)
				t.Logf("run %d: exit status %d, %d tools, %s", run, l.status, l.tools, l.took.Round(time.Millisecond))
				if l.tools < known {
					t.Errorf("run %d has %d tools, the one before had %d", run, l.tools, known)
				}
				if known = l.tools; l.status == 0 {
					break
				}
				if run == discoveryRuns {
					t.Fatalf("after %d runs not all is known", run)
				}
			}
			if l := s.list(t); l.status != 0 || l.tools != known {
				t.Errorf("once it was complete it has %d tools, then %d with exit status %d", known, l.tools, l.status)
			}
		})
	}
}

// TestDiscoveryOfOrderedArguments lists the tools of a program whose arguments
// depend on each other's order. Nothing of it is offered, and the error says what
// to write instead.
func TestDiscoveryOfOrderedArguments(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		skip(t, "ffmpeg is not installed")
	}
	s := discoverySite(t, "ffmpeg")
	for range 2 { // with a cold cache, and with a warm one
		cmd := s.command("tools")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "write tool blocks with fixed arguments") {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// keepBusy runs processes that do nothing but compute until the test ends.
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

// discoverySite is a configuration that wraps a whole program, whose caches are
// cold.
func discoverySite(t *testing.T, program string) *site {
	t.Helper()
	if err := watchSources(); err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: t.TempDir()}
	s.config = filepath.Join(s.dir, "junctor.hcl")
	text := fmt.Sprintf("server \"all\" {\n  transport \"cli\" {\n    command = [%s]\n  }\n}\n", quoted(program))
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// A toolsRun is what one run of "junctor tools" did.
type toolsRun struct {
	status, tools int
	took          time.Duration
}

// list runs "junctor tools" and checks that what it prints, says and returns fit
// together.
func (s *site) list(t *testing.T) toolsRun {
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
	_ = cmd.Wait() // the status says it
	stop()
	r := toolsRun{status: cmd.ProcessState.ExitCode(), took: time.Since(begun)}
	if ctx.Err() != nil {
		t.Fatalf("it did not end within %s: %s", discoveryTime, clip(stderr.String()))
	}
	var cost struct{ Tools []json.RawMessage }
	if stdout.Len() > 0 {
		if err := json.Unmarshal(stdout.Bytes(), &cost); err != nil {
			t.Fatalf("%v: %s", err, clip(stdout.String()))
		}
	}
	r.tools = len(cost.Tools)
	partial, unknown := strings.Contains(stderr.String(), "code: list.partial"), strings.Contains(stderr.String(), "code: list.unknown")
	switch {
	case r.status == 0 && r.tools > 0 && !partial && !unknown:
	case r.status == 6 && r.tools > 0 && partial:
	case r.status == 3 && stdout.Len() == 0 && unknown:
	default:
		t.Errorf("exit status %d with %d tools and these words: %s", r.status, r.tools, clip(stderr.String()))
	}
	return r
}
