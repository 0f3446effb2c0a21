package interoptest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// A process is a program on whose standard streams a test communicates.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr *transcript
	exited chan struct{} // closed when the process has ended
	err    error         // result of Wait; valid after exited
	work   sync.WaitGroup
}

// launch starts a program. The end of the test kills it.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, stderr: new(transcript), exited: make(chan struct{})}
	cmd.Stderr = p.stderr
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	// Not StdoutPipe, which Wait closes while the last lines are still being
	// read.
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout, cmd.Stdout = out, in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	p.work.Go(func() { p.err = cmd.Wait(); close(p.exited) })
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.exited
		p.stdin.Close()
		p.stdout.Close()
		p.work.Wait()
		if t.Failed() {
			t.Logf("%s printed on standard error:\n%s", filepath.Base(cmd.Path), p.stderr)
		}
	})
	return p
}

// wait waits for the end of the process and returns its exit status.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(testTimeout):
		p.t.Fatalf("%s did not end", filepath.Base(p.cmd.Path))
		return 0
	}
}

// workspaceVariable marks the processes of a workspace in their environment.
// Tests set it for junctor and, in the configuration, for the servers.
const workspaceVariable = "INTEROP_SITE"

// running returns the processes with a variable in their environment that
// begins with value.
func running(variable, value string) []string {
	mark := []byte(variable + "=" + value)
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var found []string
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.HasPrefix(env, mark) && !bytes.Contains(env, append([]byte{0}, mark...)) {
			continue
		}
		words, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err == nil && len(words) > 0 { // a zombie has none
			found = append(found, filepath.Base(filepath.Dir(file))+" "+strings.ReplaceAll(string(words), "\x00", " "))
		}
	}
	return found
}

// marked returns the processes below a junctor process, by the mark that it
// sets.
func marked(pid int) []string { return running("JUNCTOR_RUN_ID", strconv.Itoa(pid)+".") }

// expectNoProcesses checks that no process of an ended junctor is running, but for the one
// that reads lists after its client has left, which it ends.
func (g *gateway) expectNoProcesses() {
	g.t.Helper()
	expectNone(g.t, func() []string { return append(marked(g.cmd.Process.Pid), g.site.endReaders()...) })
}

// endReaders ends the processes that read lists after their client has left, which wait for
// servers as long as they may, and returns the processes of the workspace.
func (s *workspace) endReaders() []string {
	all := s.running()
	for _, p := range all {
		pid, words, _ := strings.Cut(p, " ")
		n, err := strconv.Atoi(pid)
		if err != nil || !strings.Contains(words, " finish-lists ") {
			continue
		}
		if p, err := os.FindProcess(n); err == nil {
			_ = p.Signal(syscall.SIGTERM)
		}
	}
	return all
}

// running returns the processes of the workspace.
func (s *workspace) running() []string { return running(workspaceVariable, s.dir+"\x00") }

// expectNone checks that all processes end soon. By design junctor's processes
// have half a second.
func expectNone(t *testing.T, left func() []string) {
	t.Helper()
	begun := time.Now()
	var late []string // those left after five seconds
	eventually.NoError(t, func() error {
		still := left()
		if len(still) == 0 {
			return nil
		}
		if late == nil && time.Since(begun) > 5*time.Second {
			late = still
		}
		return fmt.Errorf("left behind:\n%s", strings.Join(still, "\n"))
	})
	if late != nil {
		t.Errorf("left behind after 5 s:\n%s", strings.Join(late, "\n"))
	}
}

// A transcript collects the output of a process.
type transcript struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

func (w *transcript) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(b)
}

func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// A printed is the output of a program that has ended.
type printed struct {
	stdout []byte
	stderr string
}

// output runs a program to its end and returns its standard output.
func output(t *testing.T, cmd *exec.Cmd) json.RawMessage {
	t.Helper()
	p, err := attempt(t, cmd)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, clip(string(p.stdout)), clip(p.stderr))
	}
	return p.stdout
}

// attempt runs a program to its end, which may fail.
func attempt(t *testing.T, cmd *exec.Cmd) (printed, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*testTimeout)
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

// connectMcpc connects mcpc. The process that keeps its session has five
// seconds to start, so connecting is repeated on a busy machine.
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
