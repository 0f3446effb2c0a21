package subprocess

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

func TestMain(m *testing.M) {
	if err := process.Adopt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(m.Run())
}

// shell returns a command that runs a script in a shell.
func shell(script string, args ...string) process.Command {
	return process.Command{Path: "/bin/sh", Args: append([]string{"sh", "-c", script, "sh"}, args...),
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}}
}

// run runs a script to its end and returns both of its outputs.
func run(t *testing.T, c process.Command, input *string) (p *Process, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p, err := Start(c, nil, input, &out, &errs)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(20 * time.Second):
		p.Kill()
		<-p.Done()
		t.Error("the program did not end within 20 s")
	}
	p.Drain()
	return p, out.String(), errs.String()
}

func TestStartConnectsAllStreams(t *testing.T) {
	input := "one\ntwo"
	p, stdout, stderr := run(t, shell("cat; echo err >&2; exit 3"), &input)
	if stdout != input || stderr != "err\n" || p.ExitCode() != 3 {
		t.Errorf("stdout %q, stderr %q, status %d", stdout, stderr, p.ExitCode())
	}
}

func TestInputIsEmptyWithoutText(t *testing.T) {
	if _, stdout, _ := run(t, shell("cat; echo end"), nil); stdout != "end\n" {
		t.Errorf("stdout %q", stdout)
	}
}

func TestProgramMayLeaveItsInputUnread(t *testing.T) {
	input := strings.Repeat("x", 4<<20)
	begun := time.Now()
	if _, stdout, _ := run(t, shell("echo done"), &input); stdout != "done\n" || time.Since(begun) > 5*time.Second {
		t.Errorf("stdout %q after %s", stdout, time.Since(begun))
	}
}

func TestOutputIsCompleteAfterDrain(t *testing.T) {
	const size = 4 << 20
	_, stdout, _ := run(t, shell(fmt.Sprintf("head -c %d /dev/zero", size)), nil)
	if len(stdout) != size {
		t.Errorf("%d bytes of %d arrived", len(stdout), size)
	}
}

// TestDrainDoesNotWaitForOrphans: a process that carries no mark of package
// process keeps the pipe open.
func TestDrainDoesNotWaitForOrphans(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	script := `setsid env -i /bin/sh -c 'echo $$ > "$0"; exec sleep 300' "$1" & while ! test -s "$1"; do sleep 0.01; done; echo out`
	begun := time.Now()
	_, stdout, _ := run(t, shell(script, file), nil)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
		defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	}
	if took := time.Since(begun); stdout != "out\n" || took > 20*time.Second {
		t.Errorf("stdout %q after %s", stdout, took)
	}
}

// A failingWriter fails after its first write and ends the program.
type failingWriter struct {
	got  []byte
	fail func()
}

func (w *failingWriter) Write(b []byte) (int, error) {
	w.got = append(w.got, b...)
	w.fail()
	return 0, errors.New("full")
}

func TestFailingWriterStopsTheCopy(t *testing.T) {
	ready, full := make(chan struct{}), make(chan struct{})
	w := &failingWriter{fail: func() { <-ready; close(full) }}
	p, err := Start(shell("exec yes"), nil, nil, w, &bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	close(ready)
	<-full
	p.Kill()
	<-p.Done()
	p.Drain()
	if len(w.got) == 0 || len(w.got) > bufferSize {
		t.Errorf("%d bytes were written, want one read of at most %d", len(w.got), bufferSize)
	}
}

func TestFailedStartLeavesNoPipeOpen(t *testing.T) {
	input := "x"
	descriptors := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := descriptors()
	for range 3 {
		if _, err := Start(process.Command{Path: "/nowhere", Args: []string{"x"}}, nil, &input, &bytes.Buffer{},
			&bytes.Buffer{}); err == nil {
			t.Fatal("a program that does not exist was started")
		}
	}
	eventually.NoError(t, func() error { // the runtime may have opened a descriptor as well
		if after := descriptors(); after > before {
			return fmt.Errorf("%d descriptors are open, %d before", after, before)
		}
		return nil
	})
}
