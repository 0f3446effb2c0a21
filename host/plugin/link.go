package plugin

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// A link is one running plugin process and the conversation with it. It is
// used once: a process that ended gets a new link. Neither outlives the other.
type link struct {
	name    string // of the plugin in the configuration
	binary  *program
	limits  limits
	log     hclog.Logger
	journal *journal
	conceal concealer
	runner  *processRunner
	plugin  *plugin.Client
	rpc     *plugin.RPCClient
	wire    *wire.Client
	pulse   pulse                    // wire, but in tests
	sets    map[int]plugin.PluginSet // by protocol
	version int                      // of the protocol
	// attached says that the user started the process; see Supervisor.attach.
	attached bool
	conn     net.Conn

	stuck   atomic.Bool   // a connection could not be closed in time
	lost    chan struct{} // closed when the conversation is over
	cleaned chan struct{} // closed when nothing is left

	mu      sync.Mutex
	verdict *fault.Error        // guarded by mu; why the host ended the process, if it did
	culprit string              // guarded by mu; the server that verdict is about; empty: not known
	users   map[*user]struct{}  // guarded by mu; at the end those that were there
	grants  map[string]sdk.Host // guarded by mu; by capability; nil when the process has ended
}

// A pulse is the part of the conversation that is about the process.
type pulse interface {
	Health(context.Context) error
	Shutdown(ctx context.Context, grace time.Duration) error
}

// launch starts a process, connects to it and attaches. On an error nothing of
// it is left.
func (s *Supervisor) launch(ctx context.Context, spec Spec, b *program, described sdk.Manifest, at *stage) (*link, error) {
	l := s.newLink(spec)
	l.binary = b
	ctx, cancel := context.WithTimeout(ctx, s.limits.start)
	defer cancel()
	at.enter("print its handshake")
	if err := l.start(ctx, s, spec); err != nil {
		return nil, l.failed(err)
	}
	at.enter("answer the first call")
	manifest, err := l.wire.Attach(ctx, s.opts.Version, "debug")
	if err == nil && !describes(manifest, described) {
		err = fault.New(fault.PluginBroken, "the plugin describes itself differently when it runs").
			WithHint("its description must not depend on time, environment or arguments")
	}
	if err != nil {
		err = l.explain(err)
		l.kill()
		return nil, l.failed(err)
	}
	return l, nil
}

func (s *Supervisor) newLink(spec Spec) *link {
	log := s.opts.Log.Named("plugin." + spec.Name)
	return &link{
		name: spec.Name, limits: s.limits, log: log,
		journal: &journal{logs: []hclog.Logger{log, s.pluginLog(spec.Name)}, conceal: s.conceal, rate: limit.NewLineRate()}, conceal: s.conceal,
		lost: make(chan struct{}), cleaned: make(chan struct{}), grants: map[string]sdk.Host{},
	}
}

// start runs the process and dispenses its object.
func (l *link) start(ctx context.Context, s *Supervisor, spec Spec) error {
	useTLS := runtime.GOOS == "windows" // elsewhere the socket is in a directory of our own
	l.sets = wire.Sets(wire.HostSide(l))
	config := &plugin.ClientConfig{
		HandshakeConfig:  wire.Handshake,
		VersionedPlugins: l.sets,
		RunnerFunc:       l.runnerFunc(ctx, s.environment(spec.Env), useTLS),
		StartTimeout:     l.limits.start,
		AutoMTLS:         useTLS,
		SkipHostEnv:      true,
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: s.opts.RunDir},
		Logger:           hclog.NewNullLogger(), // it says nothing that is not said better here
	}
	l.plugin = plugin.NewClient(config)
	addr, err := l.plugin.Start()
	if err != nil {
		if l.runner != nil {
			_ = os.RemoveAll(l.runner.dir)
		}
		return err
	}
	l.version = l.plugin.NegotiatedVersion()
	return l.converse(ctx, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, addr.Network(), addr.String())
		if err != nil {
			return nil, fmt.Errorf("connecting to the plugin: %w", err)
		}
		if config.TLSConfig != nil {
			conn = tls.Client(conn, config.TLSConfig)
		}
		return conn, nil
	})
}

// converse dials a process that runs and dispenses its object. From here on the
// end of the process ends everything else.
func (l *link) converse(ctx context.Context, dial func(context.Context) (net.Conn, error)) error {
	ctx, died := context.WithCancel(ctx)
	connected := make(chan struct{})
	go func() {
		<-l.exited()
		died()
		<-connected
		l.clean()
	}()
	err := l.connect(ctx, dial)
	close(connected)
	if err != nil {
		err = l.explain(err)
		l.kill()
	}
	return err
}

// connect does what go-plugin's Client would, behind a guard and with a
// deadline.
func (l *link) connect(ctx context.Context, dial func(context.Context) (net.Conn, error)) error {
	conn, err := dial(ctx)
	if err != nil {
		return err
	}
	g := newGuard(conn, l.over)
	if l.attached {
		g.pings = new(pings)
	}
	l.conn = g
	done := make(chan error, 1)
	go func() { done <- l.dispense() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		_ = l.conn.Close() // ends dispense
		<-done
		return ctx.Err()
	}
}

func (l *link) dispense() error {
	client, err := plugin.NewRPCClient(l.conn, l.sets[l.version])
	if err != nil {
		return err
	}
	l.rpc = client
	// What the author's code prints once go-plugin has taken its streams.
	if err := client.SyncStreams(&lines{journal: l.journal}, &lines{journal: l.journal}); err != nil {
		return err
	}
	raw, err := client.Dispense(wire.Object)
	if err != nil {
		return err
	}
	l.wire = raw.(*wire.Client)
	l.pulse = l.wire
	if runtime.GOOS != "windows" { // there the conversation is encrypted, and sockets would not be
		l.wire.UseSockets(l.runner.dir)
	}
	return nil
}

// exited is closed when the process has ended.
func (l *link) exited() <-chan struct{} { return l.runner.proc.Done() }

// usable reports whether there is still somebody to talk to.
func (l *link) usable() bool { return !closed(l.lost) && !closed(l.exited()) }

// stop ends the process in order: its connections are closed within grace,
// then its lifeline is cut.
func (l *link) stop(grace time.Duration) {
	if l.stuck.Load() {
		grace = 0 // it has had the time to be polite
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace+l.limits.exit)
	defer cancel()
	if err := l.pulse.Shutdown(ctx, grace); err != nil {
		l.log.Debug("shutting down", "error", err)
	}
	if l.attached {
		l.kill()
		return
	}
	l.runner.cutLifeline()
	if !l.runner.proc.Wait(l.limits.exit) {
		l.log.Warn("the plugin did not end and is killed")
	}
	l.kill()
}

// kill ends the process at once and returns when nothing of it is left.
func (l *link) kill() {
	l.runner.proc.Kill()
	<-l.cleaned
}

// clean collects what is left of a process that ended. It does not call the
// Kill of go-plugin's client, which would dial the plugin's address once more,
// and wait without end for whoever answers there; its goroutines end with the
// process.
func (l *link) clean() {
	defer close(l.cleaned)
	l.revokeAll()
	if l.conn != nil {
		_ = l.conn.Close()
	}
	if l.rpc != nil {
		_ = l.rpc.Close()
	}
	if l.wire != nil {
		l.wire.HangUp()
		l.wire.Wait()
	}
	l.runner.end()
	if !l.attached {
		_ = os.RemoveAll(l.runner.dir)
	}
}

// healthy returns when the process has ended, which it sees to when the plugin
// does not answer.
func (l *link) healthy() {
	if l.attached { // it may stand at a breakpoint
		<-l.exited()
		return
	}
	t := time.NewTicker(l.limits.healthEvery)
	defer t.Stop()
	for {
		select {
		case <-l.exited():
			return
		case <-t.C:
		}
		misses := 0
		for misses < l.limits.misses && !l.answers() {
			misses++
		}
		if misses == l.limits.misses {
			l.condemn(fault.New(fault.PluginUnresponsive, "the plugin did not answer %d times in a row and was ended", misses))
		}
	}
}

// answers asks the plugin once how it is.
func (l *link) answers() bool {
	ctx, cancel := context.WithTimeout(context.Background(), l.limits.healthTime)
	defer cancel()
	err := l.pulse.Health(ctx)
	if err == nil || !l.usable() {
		return true
	}
	l.log.Warn("the plugin does not answer", "error", err)
	return false
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
