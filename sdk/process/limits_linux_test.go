package process

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestLimits checks that a process has its limits and that its children inherit
// them.
func TestLimits(t *testing.T) {
	out, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	gate, gateW, err := os.Pipe() // the shell waits for its end, when the limits are set
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(Command{
		Path: "/bin/sh",
		Args: []string{"sh", "-c", "read x; cat /proc/self/limits"}, Env: []string{"PATH=/bin:/usr/bin"},
		Stdin: gate, Stdout: outW,
		Limits: Limits{CPU: 1500 * time.Millisecond, Memory: 512 << 20, Files: 20, Processes: 4000},
	})
	outW.Close()
	gate.Close()
	if err != nil {
		t.Fatal(err)
	}
	gateW.Close()
	<-p.Done()
	text := make([]byte, 64<<10)
	n, _ := out.Read(text)
	seen := map[string]string{}
	for line := range strings.Lines(string(text[:n])) {
		if f := strings.Fields(line); len(f) > 3 {
			seen[f[1]] = strings.Join(f[2:], " ")
		}
	}
	for name, want := range map[string]string{
		"cpu": "time 2 2 seconds", "address": "space 536870912 536870912 bytes",
		"open": "files 20 20 files", "processes": "4000 4000 processes",
	} {
		if seen[name] != want {
			t.Errorf("%s is limited to %q, want %q", name, seen[name], want)
		}
	}
}

// TestCPULimit checks that a process that exceeds its CPU time is killed.
func TestCPULimit(t *testing.T) {
	p, err := Start(Command{Path: "/bin/sh", Args: []string{"sh", "-c", "while :; do :; done"},
		Limits: Limits{CPU: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Wait(10 * time.Second) {
		p.Kill()
		t.Fatal("it still runs")
	}
	if !strings.Contains(p.Ended(), "SIGKILL") && !strings.Contains(p.Ended(), "SIGXCPU") {
		t.Errorf("it %s", p.Ended())
	}
}
