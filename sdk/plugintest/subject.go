package plugintest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/rpc"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/goplugin"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// A subject is the plugin under test.
type subject struct {
	plugin   *sdk.Plugin // nil for a program
	path     string      // path of the program; empty in process
	describe func(t testing.TB) []byte
	connect  func(t testing.TB, l *link)

	pipes  bool         // the host takes the servers' own streams
	passed *atomic.Bool // set when the plugin has passed streams; not nil if pipes
}

func inProcess(p *sdk.Plugin) *subject {
	s := &subject{plugin: p, describe: func(t testing.TB) []byte {
		m, err := p.Describe(wire.Majors(), wire.Features)
		if err != nil {
			t.Fatal(err)
		}
		return m.JSON()
	}}
	s.connect = func(t testing.TB, l *link) {
		logger := hclog.New(&hclog.LoggerOptions{Name: p.Name, Level: hclog.Trace, Output: &l.heard, JSONFormat: true})
		server := wire.NewServer(p, logger, nil)
		ours, theirs := net.Pipe()
		go goplugin.ServeConn(theirs, server.Objects())
		l.begin(t, ours)
		l.hangUp = func(testing.TB) {
			server.Close(context.Background())
			_ = l.session.Close()
		}
	}
	return s
}

// A link is the host's connection to a freshly started plugin.
type link struct {
	*wire.Client
	rpc      *rpc.Client // the same connection without wire.Client
	broker   *goplugin.Broker
	session  *goplugin.Client
	manifest []byte
	process  *running // nil in process
	sockets  string   // directory of the program's sockets; empty: none

	heard   transcript // output, logs and errors of the plugin
	printed transcript // standard output of the plugin

	hangUp func(testing.TB)
	once   sync.Once
	opened int
	passed *atomic.Bool   // see subject; nil: the host takes no streams
	piped  []*wire.Stream // open connections whose streams were passed
}

// Capabilities of a link's instances.
const (
	capabilityAll     = "all"     // grants the services of the case's Host
	capabilityNothing = "nothing" // grants no services
)

// grants is the Granter of these capabilities.
type grants struct{ host *Host }

func (g grants) Grant(capability string) (sdk.Host, bool) {
	switch capability {
	case capabilityAll:
		return g.host.Services(), true
	case capabilityNothing:
		return sdk.Host{}, true
	}
	return sdk.Host{}, false
}

// begin begins the session of a connection to the plugin.
func (l *link) begin(t testing.TB, conn net.Conn) {
	t.Helper()
	var err error
	if l.session, err = goplugin.NewClient(conn, &l.printed, &l.heard); err != nil {
		t.Fatal(err)
	}
	l.broker = l.session.Broker
}

// start starts a fresh plugin and connects a host to it. The test's cleanup
// stops the plugin and searches its output for secrets.
func (s *subject) start(t testing.TB, host *Host) *link {
	t.Helper()
	l := new(link)
	s.connect(t, l)
	t.Cleanup(func() { l.stop(t) })
	var err error
	if l.rpc, err = l.session.Dispense(wire.Object); err != nil {
		t.Fatalf("dispensing: %v", err)
	}
	l.Client = wire.NewClient(l.broker, l.rpc, grants{host})
	l.UseSockets(l.sockets)
	if s.pipes {
		l.TakePipes()
		l.passed = s.passed
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if l.manifest, err = l.Attach(ctx, "0.0.0-plugintest", "trace"); err != nil {
		t.Fatalf("attaching: %v", err)
	}
	return l
}

// stop ends the connection and the plugin.
func (l *link) stop(t testing.TB) {
	t.Helper()
	l.once.Do(func() {
		ended := returns(stopTime, func() {
			l.hangUp(t)
			if l.Client != nil {
				l.Wait()
			}
		})
		if !ended {
			t.Errorf("the plugin did not end within %s: its code does not return\n\n%s", stopTime, stacks())
		}
		if strings.Contains(l.heard.String()+l.printed.String(), Canary) {
			t.Errorf("the plugin printed a secret: %s", around(l.heard.String()+l.printed.String(), Canary))
		}
		if out := l.printed.String(); out != "" {
			t.Errorf("the plugin printed %.200q to standard output, which is reserved for the host; use the logger",
				out)
		}
	})
}

// around returns word with the 80 bytes of text before and after it.
func around(text, word string) string {
	i := strings.Index(text, word)
	return fmt.Sprintf("%q", text[max(0, i-80):min(len(text), i+len(word)+80)])
}

// note records an error, in which stop searches for secrets, and returns it.
func (l *link) note(err error) error {
	for _, e := range flatten(err) {
		fmt.Fprintf(&l.heard, "error: %s %s %s %s %q\n", e.Path, e.Reason, e.Message, e.Hint, e.Output)
	}
	return err
}

// flatten returns the errors in a joined error.
func flatten(err error) []*sdk.Error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*sdk.Error
		for _, e := range joined.Unwrap() {
			all = append(all, flatten(e)...)
		}
		return all
	}
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return []*sdk.Error{e}
	}
	if err != nil {
		return []*sdk.Error{{Code: sdk.Internal, Message: err.Error()}}
	}
	return nil
}

// args returns the arguments for a new connection of a case.
func (l *link) args(t testing.TB, c *Transport, p Peer) wire.OpenArgs {
	l.opened++
	return wire.OpenArgs{
		Component: c.Name, Server: "plugintest", Instance: fmt.Sprintf("i%d", l.opened), Settings: []byte(p.Settings),
		Dir: t.TempDir(), Env: p.Env, Capability: capabilityAll,
	}
}

// open opens a connection and returns its stream and its instance.
func (l *link) open(t testing.TB, c *Transport, p Peer) (*wire.Stream, string) {
	t.Helper()
	a := l.args(t, c, p)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := l.Open(ctx, a)
	if l.note(err) != nil {
		t.Fatalf("opening: %v", err)
	}
	if l.passed != nil && s.Piped() {
		l.passed.Store(true)
		l.piped = append(l.piped, s)
	}
	return s, a.Instance
}

// close closes a connection with a grace of five seconds. A host that has the server's
// input closes it first.
func (l *link) close(t testing.TB, instance string) {
	t.Helper()
	for _, s := range l.piped {
		_ = s.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := l.note(l.Close(ctx, instance, 5*time.Second)); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// A transcript is a buffer for concurrent writes.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (t *transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
