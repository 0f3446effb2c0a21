package plugin

import (
	"context"
	"crypto/rand"
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

// A link is one running plugin process and the connection to it. Both end together. A
// restarted process has a new link. The proc that starts it owns it and stops it. The fields
// above stuck are set before it is used and do not change; methods may be called concurrently.
type link struct {
	name          string // name of the plugin in the configuration
	binary        *program
	secret        string // of this host and the process; see wire.SecretVariable
	limits        limits
	log           hclog.Logger
	journal       *journal
	conceal       concealer
	runner        *processRunner
	plugin        *plugin.Client
	rpc           *plugin.RPCClient
	wire          *wire.Client
	control       processControl           // wire, except in tests
	sets          map[int]plugin.PluginSet // by protocol version
	version       int                      // protocol version
	pluginVersion string                   // in the manifest of binary
	// attached is true if the user started the process; see Supervisor.attach.
	attached bool
	conn     net.Conn

	stuck   atomic.Bool   // a connection was not closed in time
	lost    chan struct{} // closed when the connection has ended
	cleaned chan struct{} // closed when all resources are released

	mu        sync.Mutex
	endReason *fault.Error              // guarded by mu; why the host ended the process, or nil
	culprit   string                    // guarded by mu; the server that caused endReason, or ""
	users     map[*processUser]struct{} // guarded by mu; final after the process has ended
	grants    map[string]sdk.Host       // guarded by mu; by capability; nil after the process has ended
}

// A processControl checks and stops a plugin process.
type processControl interface {
	Health(context.Context) error
	Shutdown(ctx context.Context, grace time.Duration) error
}

// launch starts a process, connects to it and attaches. It releases everything if it
// fails. It blocks until the process answers or its start has failed.
func (s *Supervisor) launch(ctx context.Context, spec Spec, b *program, described sdk.Manifest,
	at *startStep) (*link, error) {
	l := s.newLink(spec)
	l.binary, l.pluginVersion = b, described.Version
	ctx, cancel := context.WithTimeout(ctx, s.limits.start)
	defer cancel()
	at.enter("print its handshake")
	if err := l.start(ctx, s, spec); err != nil {
		return nil, l.failed(err)
	}
	at.enter("answer the first call")
	l.wire.UseSecret(l.secret)
	manifest, err := l.wire.Attach(ctx, s.opts.Version, "debug")
	if err == nil && !describes(manifest, described) {
		err = fault.New(fault.PluginBroken, "the running plugin describes itself differently").
			WithHint("the description of a plugin must not depend on time, environment or arguments")
	}
	if err != nil {
		err = l.explain(err)
		l.kill()
		return nil, l.failed(err)
	}
	return l, nil
}

// newLink returns a link without a process.
func (s *Supervisor) newLink(spec Spec) *link {
	log := s.opts.Log.Named("plugin." + spec.Name)
	return &link{
		name: spec.Name, secret: rand.Text(), limits: s.limits, log: log,
		journal: &journal{
			logs: []hclog.Logger{log, s.pluginLog(spec.Name)}, conceal: s.secrets.hide, rate: limit.NewLineRate(),
		}, conceal: s.secrets.hide,
		lost: make(chan struct{}), cleaned: make(chan struct{}), grants: map[string]sdk.Host{},
	}
}

// start starts the process and dispenses its object.
func (l *link) start(ctx context.Context, s *Supervisor, spec Spec) error {
	useTLS := runtime.GOOS == "windows" // on other systems the socket is in a private directory
	l.sets = dispensed(l)
	config := &plugin.ClientConfig{
		HandshakeConfig: plugin.HandshakeConfig{
			MagicCookieKey: wire.CookieKey, MagicCookieValue: wire.CookieValue,
		},
		VersionedPlugins: l.sets,
		RunnerFunc: l.runnerFunc(ctx,
			append(s.opts.environment(spec.Env), wire.SecretVariable+"="+l.secret), useTLS),
		StartTimeout:     l.limits.start,
		AutoMTLS:         useTLS,
		SkipHostEnv:      true,
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: s.opts.RunDir},
		Logger:           hclog.NewNullLogger(), // this package logs the same events
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
	return l.establish(ctx, func(ctx context.Context) (net.Conn, error) {
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

// establish dials a running process and dispenses its object. From then on the end of
// the process releases everything else.
func (l *link) establish(ctx context.Context, dial func(context.Context) (net.Conn, error)) error {
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

// connect replaces the connection of go-plugin's Client: it adds a connFilter and a
// deadline.
func (l *link) connect(ctx context.Context, dial func(context.Context) (net.Conn, error)) error {
	conn, err := dial(ctx)
	if err != nil {
		return err
	}
	g := newConnFilter(conn, l.connectionEnded)
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

// dispense performs go-plugin's part of the connection.
func (l *link) dispense() error {
	client, err := plugin.NewRPCClient(l.conn, l.sets[l.version])
	if err != nil {
		return err
	}
	l.rpc = client
	// Standard output and error of the process after go-plugin has redirected them.
	if err := client.SyncStreams(&lines{journal: l.journal}, &lines{journal: l.journal}); err != nil {
		return err
	}
	raw, err := client.Dispense(wire.Object)
	if err != nil {
		return err
	}
	l.wire = raw.(*wire.Client)
	l.control = l.wire
	if runtime.GOOS != "windows" { // Windows encrypts the connection, and sockets are not encrypted
		l.wire.UseSockets(l.runner.dir)
		l.wire.TakePipes()
	}
	return nil
}

// exited returns a channel that is closed when the process has ended.
func (l *link) exited() <-chan struct{} { return l.runner.proc.Done() }

// usable reports whether the process and its connection are alive.
func (l *link) usable() bool { return !closed(l.lost) && !closed(l.exited()) }

// stop stops the process gracefully. It closes its connections within grace, then its
// lifeline, and finally kills it. It blocks until the process has ended and all is released. It
// may be called more than once.
func (l *link) stop(grace time.Duration) {
	if l.stuck.Load() {
		grace = 0 // the grace period was already used
	}
	ctx, cancel := context.WithTimeout(context.Background(), grace+l.limits.exit)
	defer cancel()
	if err := l.control.Shutdown(ctx, grace); err != nil {
		l.log.Debug("shutdown failed", "error", err)
	}
	if l.attached {
		l.kill()
		return
	}
	l.runner.cutLifeline()
	if !l.runner.proc.Wait(l.limits.exit) {
		l.log.Warn("the plugin did not exit and is killed")
	}
	l.kill()
}

// kill kills the process and returns when all resources are released.
func (l *link) kill() {
	l.runner.proc.Kill()
	<-l.cleaned
}

// clean releases the resources of a process that has ended. It avoids Kill of
// go-plugin's client, which would dial the plugin's address again and could block
// forever. The client's goroutines end with the process.
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

// watchHealth checks the process periodically and returns when it has ended. It ends a
// process that does not respond. It runs on the goroutine of proc.watch.
func (l *link) watchHealth() {
	if l.attached { // the process may be stopped at a breakpoint
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
		for misses < l.limits.maxMisses && !l.checkHealth() {
			misses++
		}
		if misses == l.limits.maxMisses {
			l.killWith(fault.New(fault.PluginUnresponsive,
				"the plugin failed %d consecutive health checks and was killed", misses))
		}
	}
}

// checkHealth performs one health check. It returns true if the connection has ended.
func (l *link) checkHealth() bool {
	ctx, cancel := context.WithTimeout(context.Background(), l.limits.healthTime)
	defer cancel()
	err := l.control.Health(ctx)
	if err == nil || !l.usable() {
		return true
	}
	l.log.Warn("health check failed", "error", err)
	return false
}

// closed reports whether c is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Grant returns the services that the holder of a capability may use. A capability is
// the random name of one connection or authorizer. It is valid only in the process that
// received it. Goroutines that serve the plugin's calls to the host call it.
func (l *link) Grant(capability string) (sdk.Host, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h, ok := l.grants[capability]
	return h, ok
}

// grant makes a capability valid until it is revoked or the process ends.
func (l *link) grant(capability string, h sdk.Host) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grants != nil {
		l.grants[capability] = h
	}
}

// revoke makes a capability invalid.
func (l *link) revoke(capability string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.grants, capability)
}

// revokeAll revokes all capabilities and rejects new ones, because the process has
// ended.
func (l *link) revokeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grants = nil
}
