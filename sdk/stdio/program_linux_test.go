package stdio

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"github.com/junctor-mcp/junctor/sdk/process"
)

// helperVariable selects one of the programs below in this test binary. Simple
// servers are shells.
const helperVariable = "STDIO_TEST_PROGRAM"

// patience is the timeout for events that normally happen at once.
const patience = 20 * time.Second

var programs = map[string]func(){
	"family": family,
	"orphan": orphan,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(helperVariable); name != "" {
		programs[name]()
		os.Exit(0)
	}
	if err := process.Adopt(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.onSpawner.func1.1"),
		goleak.IgnoreAnyFunction("github.com/junctor-mcp/junctor/sdk/process.reapAdopted"),
		goleak.IgnoreTopFunction("os/signal.signal_recv"),
		goleak.IgnoreTopFunction("os/signal.loop"))
}

// family is a server that starts a child in its group, one in a new session and
// an orphan in a new session. The first ignores SIGTERM.
func family() {
	for _, c := range []struct {
		command string
		attr    *syscall.SysProcAttr
	}{
		{"trap '' TERM; exec sleep 1000", nil},
		{"exec sleep 1000", &syscall.SysProcAttr{Setsid: true}},
		{"sleep 1000 & exit", &syscall.SysProcAttr{Setsid: true}},
	} {
		cmd := exec.Command("/bin/sh", "-c", c.command)
		cmd.SysProcAttr = c.attr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		if strings.HasSuffix(c.command, "exit") {
			_ = cmd.Wait()
		}
	}
	fmt.Println(`{"ready":true}`)
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// orphan is a server that exits and leaves a process that keeps its pipes open
// and has no mark.
func orphan() {
	cmd := exec.Command("/bin/sh", "-c", "exec sleep 1000")
	cmd.Env = []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, cmd.Process.Pid)
	for i := range 700 { // more than one read returns, less than a pipe holds
		fmt.Printf(`{"n":%d,"pad":"%050d"}`+"\n", i, 0)
	}
	os.Exit(3)
}

// environment returns the environment of the servers in these tests.
func environment(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere"}, more...)
}

// shell returns the options of a server that is a shell script.
func shell(script string, args ...string) Options {
	return Options{Command: append([]string{"/bin/sh", "-c", script, "sh"}, args...), Env: environment(),
		Log: hclog.NewNullLogger()}
}

// program returns the options of a server that is one of the programs.
func program(name string) Options {
	return Options{Command: []string{"/proc/self/exe"}, Env: environment(helperVariable + "=" + name),
		Log: hclog.NewNullLogger()}
}

// start starts a server. The test's cleanup ends it.
func start(t *testing.T, o Options) *Conn {
	t.Helper()
	o.Env = append(o.Env, "STDIO_TEST="+t.Name())
	c, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeNow(t, c) })
	return c
}

// closeNow closes the connection by force.
func closeNow(t *testing.T, c *Conn) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}

// relatives returns the living processes that the servers of the test started.
func relatives(t *testing.T) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err == nil && bytes.Contains(env, []byte("STDIO_TEST="+t.Name()+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// mustRecv receives one message and compares it.
func mustRecv(t *testing.T, c *Conn, want string) {
	t.Helper()
	msg, err := c.Recv()
	if err != nil || string(msg) != want {
		t.Errorf("got %.80q, %v; want %.80q", msg, err, want)
	}
}

func mustSend(t *testing.T, c *Conn, msg string) {
	t.Helper()
	if err := c.Send([]byte(msg)); err != nil {
		t.Error(err)
	}
	if err := c.Flush(); err != nil {
		t.Error(err)
	}
}

// saw waits until the server has printed a line to standard error.
func saw(t *testing.T, c *Conn, line string) {
	t.Helper()
	if !holdsWithin(patience, func() bool { return slices.Contains(c.Status().Stderr, line) }) {
		t.Errorf("%q is not in %q", line, c.Status().Stderr)
	}
}

// holdsWithin calls holds until it returns true or the limit has passed. It returns the last
// result.
func holdsWithin(limit time.Duration, holds func() bool) bool {
	// The tests of this module cannot use testdata/eventually.
	for begun := time.Now(); time.Since(begun) < limit; time.Sleep(time.Millisecond) {
		if holds() {
			return true
		}
	}
	return holds()
}
