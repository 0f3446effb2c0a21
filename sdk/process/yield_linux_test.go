package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestStartedProcessesYieldMemory checks that the kernel, when memory is short, ends a program
// before the one that started it, and leaves a released one alone.
func TestStartedProcessesYieldMemory(t *testing.T) {
	own := yieldOf(t, os.Getpid())
	for name, c := range map[string]struct {
		release bool
		want    int
	}{
		"a server":   {false, min(own+yieldStep, mostYield)},
		"a released": {true, own},
	} {
		r := start(t, "sleep 30", func(of *Command) { of.Release = c.release })
		if got := yieldOf(t, r.PID()); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if c.release {
			_ = r.proc.Kill()
		}
	}
}

func yieldOf(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
