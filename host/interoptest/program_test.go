package interoptest

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// printed is what a program printed that has ended.
type printed struct {
	stdout []byte
	stderr string
}

// output runs a program to its end and returns what it printed.
func output(t *testing.T, cmd *exec.Cmd) json.RawMessage {
	t.Helper()
	p, err := attempt(t, cmd)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, clip(string(p.stdout)), clip(p.stderr))
	}
	return p.stdout
}

// attempt runs a program to its end, which may be a failure.
func attempt(t *testing.T, cmd *exec.Cmd) (printed, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	err := cmd.Wait()
	t.Logf("%s took %s", strings.Join(cmd.Args, " "), time.Since(begin))
	return printed{stdout.Bytes(), stderr.String()}, err
}

// connectMcpc connects mcpc, which gives the process that keeps its session five
// seconds to start and tells its user to look why it did not. On a busy machine
// its user would try again.
func connectMcpc(t *testing.T, command func() *exec.Cmd) string {
	t.Helper()
	for again := 5; ; again-- {
		p, err := attempt(t, command())
		if err == nil {
			return string(p.stdout)
		}
		if again == 0 || !strings.Contains(p.stderr, "Bridge failed to start: socket file not created within timeout") {
			t.Fatalf("%v\n%s\n%s", err, clip(string(p.stdout)), clip(p.stderr))
		}
	}
}
