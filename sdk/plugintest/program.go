package plugintest

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk/goplugin"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// Limits for a program.
const (
	describeTime = 5 * time.Second  // to describe itself
	describeSize = 1 << 20          // bytes of the manifest
	startTime    = 10 * time.Second // to print the handshake
)

// A running is a started program. It does not use package sdk/process, which
// would clean up the processes that the checks look for. The test that starts it calls end.
type running struct {
	cmd                   *exec.Cmd
	done                  chan struct{} // closed when the program has ended
	stdin, stdout, stderr *os.File      // this side of the pipes; stdin is the lifeline
	readers               sync.WaitGroup
}

// run starts a program and copies its standard error to stderr. command is its
// path and arguments.
func run(t testing.TB, stderr *transcript, env []string, command ...string) *running {
	t.Helper()
	var ends [6]*os.File
	for i := 0; i < len(ends); i += 2 {
		var err error
		if ends[i], ends[i+1], err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Dir = env, t.TempDir()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = ends[0], ends[3], ends[5]
	err := cmd.Start()
	for _, theirs := range []*os.File{ends[0], ends[3], ends[5]} {
		_ = theirs.Close()
	}
	if err != nil {
		for _, ours := range []*os.File{ends[1], ends[2], ends[4]} {
			_ = ours.Close()
		}
		t.Fatalf("starting the program: %v", err)
	}
	r := &running{cmd: cmd, done: make(chan struct{}), stdin: ends[1], stdout: ends[2], stderr: ends[4]}
	go func() {
		defer close(r.done)
		_ = cmd.Wait() // the checks read the ProcessState
	}()
	r.readers.Go(func() { _, _ = r.stderr.WriteTo(stderr) })
	t.Cleanup(r.end)
	return r
}

func (r *running) pid() int { return r.cmd.Process.Pid }

// endsWithin waits for the end of the program for at most d, and reports
// whether it has ended.
func (r *running) endsWithin(d time.Duration) bool {
	select {
	case <-r.done:
		return true
	default:
	}
	select {
	case <-r.done:
		return true
	case <-time.After(d):
		return false
	}
}

// end kills the program and its descendants and closes the pipes.
func (r *running) end() {
	if !r.endsWithin(0) {
		family := descendants(r.pid())
		_ = r.cmd.Process.Kill()
		kill(family)
	}
	<-r.done
	for _, f := range []*os.File{r.stdout, r.stderr} { // orphans of the program may keep them open
		_ = f.SetReadDeadline(time.Now().Add(time.Second))
	}
	r.readers.Wait()
	for _, f := range []*os.File{r.stdin, r.stdout, r.stderr} {
		_ = f.Close()
	}
}

// kill kills the processes among pids that still live.
func kill(pids []int) {
	for _, pid := range living(pids) {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
}

// environment returns the environment that a host gives a plugin.
func environment(more ...string) []string {
	env := more
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT", "USERPROFILE",
		"GORACE", "GOCOVERDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// output runs a program to its end and returns its output.
func output(t testing.TB, path string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs transcript
	r := run(t, &errs, environment(), append([]string{path}, args...)...)
	r.readers.Go(func() { _, _ = r.stdout.WriteTo(&out) })
	if !r.endsWithin(patience) {
		t.Fatalf("%s %s does not end", path, strings.Join(args, " "))
	}
	r.end()
	return out.String(), errs.String(), r.cmd.ProcessState.ExitCode()
}

func program(path string) *subject {
	return &subject{
		path: path,
		describe: func(t testing.TB) []byte {
			stdout, stderr, status := output(t, path, "describe")
			if status != 0 || stderr != "" {
				t.Errorf("describe ended with status %d and printed %q to standard error", status, stderr)
			}
			return []byte(stdout)
		},
		connect: func(t testing.TB, l *link) { launch(t, path, l) },
	}
}

// launch starts the program as a host does and connects the link to it.
func launch(t testing.TB, path string, l *link) {
	t.Helper()
	sockets, err := os.MkdirTemp("", "pt") // shorter than t.TempDir: names of sockets have a maximum length
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	var versions []string
	for _, major := range wire.Majors() {
		versions = append(versions, strconv.Itoa(major))
	}
	r := run(t, &l.heard, environment(
		wire.CookieKey+"="+wire.CookieValue,
		goplugin.MajorsVariable+"="+strings.Join(versions, ","), goplugin.SocketDirVariable+"="+sockets,
		goplugin.MinPortVariable+"=10000", goplugin.MaxPortVariable+"=25000", // for systems without unix sockets
	), path)
	l.process = r

	stdout := bufio.NewReader(r.stdout)
	_ = r.stdout.SetReadDeadline(time.Now().Add(startTime))
	line, err := stdout.ReadString('\n')
	_ = r.stdout.SetReadDeadline(time.Time{})
	var first goplugin.Handshake
	if err == nil {
		first, err = goplugin.ParseHandshake(line)
	}
	if err != nil {
		t.Fatalf("the first line %.200q is not a go-plugin handshake: %v; standard error is %.2000q",
			line, err, l.heard.String())
	}
	r.readers.Go(func() { _, _ = stdout.WriteTo(&l.printed) })
	conn, err := net.Dial(first.Network, first.Address)
	if err != nil {
		t.Fatal(err)
	}
	l.begin(t, conn)
	if first.Network == "unix" {
		l.sockets = sockets
	}
	l.hangUp = l.shutDown
}

// shutDown ends the program as a host does.
func (l *link) shutDown(t testing.TB) {
	t.Helper()
	if !l.process.endsWithin(0) && l.Client != nil {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := l.note(l.Shutdown(ctx, 5*time.Second)); err != nil {
			t.Errorf("shutting down: %v", err)
		}
	}
	_ = l.process.stdin.Close()
	if !l.process.endsWithin(patience) {
		t.Error("the program does not end after its lifeline")
	}
	l.process.end()
	_ = l.session.Close()
}
