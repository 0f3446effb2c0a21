package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/goplugin"
	"github.com/junctor-mcp/junctor/sdk/serve"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// patience is the timeout for events that normally happen at once.
const patience = 20 * time.Second

// familyVariable is inherited by all processes of one test.
const familyVariable = "SERVE_TEST_FAMILY"

// TestMain runs the program named by the first argument. The test programs are
// links to this binary.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "a-plugin":
		serve.Main(author())
	case "a-broken-plugin":
		serve.Main(&sdk.Plugin{Name: "Broken"})
	case "a-host":
		if err := host(os.Args[1]); err != nil {
			fmt.Println(err)
		}
	default:
		os.Exit(m.Run())
	}
}

func program(t *testing.T, name string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(exe, path); err != nil {
		t.Fatal(err)
	}
	return path
}

type settings struct {
	Do string `hcl:"do" doc:"What to do."`
}

// author returns a plugin that does what its setting says.
func author() *sdk.Plugin {
	open := func(_ context.Context, s *sdk.Server, c *settings) (sdk.Conn, error) {
		switch c.Do {
		case "look":
			return nil, sdk.Errorf(sdk.Denied, "stdin %v\nargs %q\n%s",
				os.Stdin, os.Args[1:], strings.Join(os.Environ(), "\n"))
		case "log":
			s.Log.Info("hclog", "k", 1)
			log.Print("[WARN] package log")
			slog.With("a", 1).WithGroup("g").Error("package slog", "b", 2, slog.Group("h", "c", 3))
			slog.Debug("fine")
			fmt.Println("printed")
			fmt.Fprintln(os.Stderr, "complained")
		case "fork":
			fork()
			go func() {
				// Logging must not end the plugin after the host has gone, at any time.
				for ; ; time.Sleep(time.Millisecond) {
					s.Log.Info("tick")
				}
			}()
		}
		r, w := io.Pipe()
		return sdk.PipeConn(r, w), nil
	}
	return &sdk.Plugin{Name: "author", Version: "1.2.3",
		Transports: map[string]sdk.Transport{"t": sdk.NewTransport(open)}}
}

// fork starts processes in this group, in a new group and in a new session. In
// each it starts a shell with a child, and an orphan.
func fork() {
	for _, attr := range []*syscall.SysProcAttr{nil, {Setpgid: true}, {Setsid: true}} {
		cmd := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 1000 & wait")
		cmd.SysProcAttr = attr
		_ = cmd.Start()
		cmd = exec.Command("/bin/sh", "-c", "sleep 1000 & exit")
		cmd.SysProcAttr = attr
		_ = cmd.Run()
	}
}

// forked is the number of processes that fork leaves.
const forked = 9

// A conversation is the host's side of the connection to a plugin process.
type conversation struct {
	*wire.Client
	session  *goplugin.Client
	pid      int
	exited   chan struct{}
	lifeline *os.File
	stderr   *text // standard error of the process
	printed  *text // output of the author's code after the handshake
}

// converse starts a plugin and attaches to it.
func converse(path string, env ...string) (*conversation, error) {
	in, lifeline, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := exec.Command(path)
	cmd.Env = append(env, wire.CookieKey+"="+wire.CookieValue, goplugin.MajorsVariable+"=1")
	c := &conversation{lifeline: lifeline, exited: make(chan struct{}), stderr: new(text), printed: new(text)}
	cmd.Stdin, cmd.Stderr = in, c.stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return c, err
	}
	c.pid = cmd.Process.Pid
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() { defer close(c.exited); _ = cmd.Wait() }()
	if err != nil {
		return c, err
	}
	first, err := goplugin.ParseHandshake(line)
	if err != nil {
		return c, err
	}
	conn, err := net.Dial(first.Network, first.Address)
	if err != nil {
		return c, err
	}
	if c.session, err = goplugin.NewClient(conn, c.printed, c.printed); err != nil {
		return c, err
	}
	calls, err := c.session.Dispense(wire.Object)
	if err != nil {
		return c, err
	}
	c.Client = wire.NewClient(c.session.Broker, calls, noGrants{})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err = c.Attach(ctx, "test", "debug")
	return c, err
}

// do opens a connection with the given setting.
func (c *conversation) do(what string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := c.Open(ctx,
		wire.OpenArgs{Component: "t", Server: "s", Instance: what, Settings: fmt.Appendf(nil, `{"do":%q}`, what)})
	return err
}

// noGrants grants no service.
type noGrants struct{}

func (noGrants) Grant(string) (sdk.Host, bool) { return sdk.Host{}, false }

// host makes a plugin fork, prints "ready" and waits.
func host(path string) error {
	c, err := converse(path, os.Environ()...)
	if err != nil {
		return err
	}
	if err := c.do("fork"); err != nil {
		return err
	}
	fmt.Println("ready")
	time.Sleep(time.Hour) // until the test kills it
	return nil
}

// start starts the test plugin and attaches to it. The test's cleanup ends it.
func start(t *testing.T, env ...string) *conversation {
	t.Helper()
	c, err := converse(program(t, "a-plugin"), append(env, "PATH="+os.Getenv("PATH"))...)
	if c != nil {
		t.Cleanup(func() {
			_ = c.lifeline.Close()
			<-c.exited
			if c.session != nil {
				_ = c.session.Close()
			}
		})
	}
	if err != nil {
		t.Fatalf("%v: %s", err, c.stderr)
	}
	return c
}

// members returns the ids of the living processes of a family.
func members(family string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		env, err := os.ReadFile(f)
		if err == nil && bytes.Contains(env, []byte(familyVariable+"="+family+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// count waits for at most limit until a family has n living members.
func count(t *testing.T, family string, n int, limit time.Duration) {
	t.Helper()
	var got []int
	if holdsWithin(limit, func() bool {
		got = members(family)
		return len(got) == n
	}) {
		return
	}
	t.Errorf("the family has %d members, want %d", len(got), n)
	for _, pid := range got {
		_ = syscall.Kill(pid, syscall.SIGKILL)
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

// text is a buffer for concurrent reads and writes.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(b)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}
