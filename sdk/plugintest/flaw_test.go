package plugintest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/goplugin"
	"github.com/junctor-mcp/junctor/sdk/serve"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// TestMain runs a plugin with a flaw if the binary's name is "plugin-" and the
// flaw. The test programs are links to this binary.
func TestMain(m *testing.M) {
	flaw, ok := strings.CutPrefix(filepath.Base(os.Args[0]), "plugin-")
	if !ok {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise every program takes a second to end
		os.Exit(m.Run())
	}
	serveFlawed(flaw)
}

// linked returns the path of the program with a flaw.
func linked(t testing.TB, flaw string) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "plugin-"+flaw)
	if err := os.Symlink(exe, path); err != nil {
		t.Skip(err)
	}
	return path
}

func serveFlawed(flaw string) {
	describing := len(os.Args) > 1
	switch {
	case flaw == "chatty" && describing:
		fmt.Fprintln(os.Stderr, "describing myself")
	case flaw == "curt" && !describing && os.Getenv(wire.CookieKey) == "":
		fmt.Println("hello")
		os.Exit(0)
	case (flaw == "lingering" || flaw == "leaving") && !describing:
		serveBadly(flaw)
	}
	serve.Main(flawed(flaw))
}

// serveBadly serves a plugin without serve.Main, with mistakes that an author
// might make.
func serveBadly(flaw string) {
	if flaw == "leaving" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
	}
	server := wire.NewServer(flawed(flaw), hclog.New(&hclog.LoggerOptions{JSONFormat: true}), nil)
	_ = goplugin.Serve(wire.Majors(), server.Objects())
	time.Sleep(time.Minute) // although its host has gone
}

type settings struct {
	Address string  `hcl:"address" doc:"Where the server listens."`
	Token   string  `hcl:"token,optional" doc:"What to say first." sensitive:"true"`
	Greets  bool    `hcl:"greets,optional" doc:"The server speaks first."`
	Retry   []retry `hcl:"retry,block" doc:"How to try again."`
}

type retry struct {
	Max int `hcl:"max" doc:"How often."`
}

func (s *settings) Validate() error {
	if _, _, err := net.SplitHostPort(s.Address); err != nil {
		return sdk.AttrErrorf("address", "must be a host and a port")
	}
	for i, r := range s.Retry {
		if r.Max < 1 {
			return sdk.AttrErrorf(fmt.Sprintf("retry[%d].max", i), "must be positive")
		}
	}
	return nil
}

// flawed returns a plugin with one flaw, or without a flaw if flaw is empty.
func flawed(flaw string) *sdk.Plugin {
	var shared sdk.Conn
	var sharing sync.Mutex
	t := transport{flaw: flaw}
	t.Transport = sdk.NewTransport(func(ctx context.Context, s *sdk.Server, c *settings) (sdk.Conn, error) {
		if flaw == "sharing" {
			sharing.Lock()
			defer sharing.Unlock()
			if shared != nil {
				return shared, nil
			}
		}
		conn, err := connect(ctx, flaw, s, c)
		shared = conn
		return conn, err
	})
	return &sdk.Plugin{
		Name: "flawed", Version: "1.0.0", Transports: map[string]sdk.Transport{"t": t},
		Auths: map[string]sdk.Auth{"a": sdk.NewAuth(func(_ context.Context, s *sdk.AuthServer, c *accountSettings) (
			sdk.Authorizer, error,
		) {
			return newAccount(flaw, s, c)
		})},
		SecretStores: map[string]sdk.SecretStore{"v": sdk.NewSecretStore(func(_ context.Context, s *sdk.StoreServer,
			_ *fileVaultSettings) (sdk.Vault, error) {
			return newFileVault(flaw, s)
		})},
	}
}

// transport adds flaws to a transport of NewTransport.
type transport struct {
	sdk.Transport
	flaw string
}

func (t transport) Schema() sdk.Schema {
	s := t.Transport.Schema()
	switch t.flaw {
	case "undocumented":
		s.Attributes = append(s.Attributes, sdk.Attribute{Name: "x", Type: json.RawMessage(`"string"`)})
	case "fickle":
		s.Version = rand.Int()
	case "hanging":
		select {}
	}
	return s
}

func (t transport) Validate(ctx context.Context, settings []byte) error {
	switch {
	case t.flaw == "lenient":
		return nil
	case t.flaw == "lost":
		return sdk.AttrErrorf("nowhere", "is wrong")
	case t.flaw == "vague":
		return errors.New("something is wrong")
	case t.flaw == "delicate" && !json.Valid(settings):
		panic("ouch")
	case t.flaw == "telling" && len(settings) > 2:
		return sdk.AttrErrorf("", "cannot use %s", settings)
	}
	return t.Transport.Validate(ctx, settings)
}

var kept []any // resources that a flaw leaks

func connect(ctx context.Context, flaw string, s *sdk.Server, c *settings) (sdk.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", c.Address)
	if err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "%v", err)
	}
	if c.Greets {
		if flaw == "stubborn" {
			ctx = context.WithoutCancel(ctx)
			_ = conn.SetReadDeadline(time.Now().Add(600 * time.Millisecond))
		}
		defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
		if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
			return nil, sdk.Errorf(sdk.Unavailable, "no greeting: %v", err)
		}
	}
	switch flaw {
	case "logging":
		s.Log.Info("connected", "token", c.Token)
	case "printing":
		fmt.Println("connected")
	case "writing":
		_, _ = syscall.Write(1, []byte("connected\n"))
	case "goroutine":
		go func() { select {} }()
	case "descriptor":
		f, _ := os.Open(os.DevNull)
		kept = append(kept, f)
	case "child", "leaving":
		cmd := exec.Command("sleep", "10")
		_ = cmd.Start()
	}
	return &flawedConn{Conn: sdk.PipeConn(conn, conn), flaw: flaw}, nil
}

type flawedConn struct {
	sdk.Conn
	flaw               string
	held               []byte
	closed             atomic.Bool
	sending, receiving sync.Mutex // for the flaw that shares a connection
}

func (c *flawedConn) Send(msg []byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	switch {
	case c.flaw == "altering":
		msg = []byte(strings.ReplaceAll(string(msg), "\\u0000", "?"))
	case c.flaw == "small" && len(msg) > 1<<20:
		return nil
	case c.flaw == "reordering" && c.held == nil && strings.Contains(string(msg), `"id":500,`):
		c.held = append([]byte(nil), msg...)
		return nil
	case c.held != nil:
		err := c.Conn.Send(msg)
		held := c.held
		c.held = nil
		return errors.Join(err, c.Conn.Send(held))
	}
	return c.Conn.Send(msg)
}

func (c *flawedConn) Recv() ([]byte, error) {
	if c.flaw == "brief" {
		return nil, io.EOF
	}
	c.receiving.Lock()
	defer c.receiving.Unlock()
	msg, err := c.Conn.Recv()
	if d, ok := err.(*sdk.Dropped); ok {
		return nil, d
	}
	switch {
	case err == nil && c.flaw == "sharing":
		msg = append([]byte(nil), msg...)
	case err != nil && c.flaw == "deaf":
		select {}
	case err != nil && c.flaw == "blind" && !c.closed.Load():
		for !c.closed.Load() {
			time.Sleep(time.Millisecond) // it does not notice the end of the server
		}
	case err != nil && c.flaw == "guilty":
		return nil, sdk.Errorf(sdk.Internal, "the server is gone")
	}
	return msg, err
}

func (c *flawedConn) Close(ctx context.Context) error {
	if c.flaw == "stuck" {
		select {} // ignores ctx
	}
	if c.closed.Swap(true) && c.flaw == "touchy" {
		panic("close of closed connection")
	}
	return c.Conn.Close(ctx)
}

// recorder is a testing.TB that records failures.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	problems []string
	cleanups []func()
	skipped  bool
}

func (r *recorder) record(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, s)
}

func (r *recorder) Helper()                   {}
func (r *recorder) Error(args ...any)         { r.record(fmt.Sprint(args...)) }
func (r *recorder) Errorf(f string, a ...any) { r.record(fmt.Sprintf(f, a...)) }
func (r *recorder) Fatal(args ...any)         { r.record(fmt.Sprint(args...)); runtime.Goexit() }
func (r *recorder) Fatalf(f string, a ...any) { r.record(fmt.Sprintf(f, a...)); runtime.Goexit() }
func (r *recorder) Skip(...any)               { r.skipped = true; runtime.Goexit() }

func (r *recorder) Failed() bool { return len(r.found()) > 0 }

// found returns the failures so far. Goroutines of a check may still add some.
func (r *recorder) found() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.problems)
}

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

// run runs one check and returns up to three failures.
func (r *recorder) run(c check, s *subject) []string {
	inOrder := func(f func()) {
		done := make(chan struct{})
		go func() { defer close(done); f() }()
		<-done
	}
	inOrder(func() { c.limited(r, s) })
	for len(r.cleanups) > 0 {
		last := r.cleanups[len(r.cleanups)-1]
		r.cleanups = r.cleanups[:len(r.cleanups)-1]
		inOrder(last)
	}
	found := r.found()
	return found[:min(len(found), 3)]
}
