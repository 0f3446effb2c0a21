package interoptest

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A process is a program that the test talks to on its standard streams.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr *transcript
	exited chan struct{} // closed when it ended
	err    error         // of Wait; valid once exited is closed
	work   sync.WaitGroup
}

// launch starts a program. The test's end kills it.
func launch(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, stderr: new(transcript), exited: make(chan struct{})}
	cmd.Stderr = p.stderr
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	// A pipe of our own: that of the package would be closed by Wait while
	// its last lines are still being read.
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
	case <-time.After(patience):
		p.t.Fatalf("%s did not end", filepath.Base(p.cmd.Path))
		return 0
	}
}

// siteVariable marks in the environment what belongs to a site: the tests set
// it for junctor and, in the configuration, for the servers.
const siteVariable = "INTEROP_SITE"

// running are the processes with a variable in their environment that begins
// as given.
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

// marked are the processes below a junctor process, by the mark that it sets
// itself.
func marked(pid int) []string { return running("JUNCTOR_RUN_ID", strconv.Itoa(pid)+".") }

// noneLeft checks that nothing of a junctor process that ended is running.
func (g *gateway) noneLeft() {
	g.t.Helper()
	noneLeft(g.t, func() []string { return append(marked(g.cmd.Process.Pid), g.site.running()...) })
}

// running are the processes that belong to the site.
func (s *site) running() []string { return running(siteVariable, s.dir+"\x00") }

// noneLeft checks that soon there are none of some processes. The design gives
// what junctor started half a second.
func noneLeft(t *testing.T, left func() []string) {
	t.Helper()
	still := left()
	for until := time.Now().Add(5 * time.Second); len(still) > 0 && time.Now().Before(until); still = left() {
		time.Sleep(20 * time.Millisecond)
	}
	if len(still) > 0 {
		t.Errorf("left behind:\n%s", strings.Join(still, "\n"))
	}
}

// A transcript collects what a process prints.
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
