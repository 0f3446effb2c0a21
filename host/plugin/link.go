package plugin

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

const (
	startTime  = 10 * time.Second
	afterDeath = 100 * time.Millisecond // for the last words of a process that ended
	exitTime   = 500 * time.Millisecond // for a process to end once its lifeline was cut
)

// A link is one running plugin process and the conversation with it. It is
// used once: a process that ended gets a new link.
type link struct {
	binary *program
	log    hclog.Logger // the host's
	kept   hclog.Logger // the plugin's own
	tail   *tail
	runner *processRunner
	plugin *plugin.Client
	rpc    *plugin.RPCClient
	wire   *wire.Client
	sets   map[int]plugin.PluginSet // by protocol
	conn   net.Conn

	cleaning sync.Once
	cleaned  chan struct{}
}

// launch starts a process, connects to it and attaches. On an error nothing of
// it is left.
func (s *Supervisor) launch(ctx context.Context, spec Spec, b *program, described sdk.Manifest) (*link, error) {
	l := &link{
		binary: b, log: s.opts.Log.Named("plugin." + spec.Name), kept: s.pluginLog(spec.Name), tail: &tail{}, cleaned: make(chan struct{}),
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := l.start(ctx, s, spec); err != nil {
		return nil, l.failed(err)
	}
	manifest, err := l.wire.Attach(ctx, s.opts.Version, "debug")
	if err == nil && !bytes.Equal(manifest, described.JSON()) {
		err = fault.New(fault.PluginBroken, "the plugin describes itself differently when it runs").
			WithHint("its description must not depend on time, environment or arguments")
	}
	if err != nil {
		l.kill()
		return nil, l.failed(err)
	}
	return l, nil
}

// start runs the process and dispenses its object.
func (l *link) start(ctx context.Context, s *Supervisor, spec Spec) error {
	useTLS := runtime.GOOS == "windows" // elsewhere the socket is in a directory of our own
	l.sets = wire.Sets(wire.HostSide(s))
	config := &plugin.ClientConfig{
		HandshakeConfig:  wire.Handshake,
		VersionedPlugins: l.sets,
		RunnerFunc:       l.runnerFunc(s.environment(spec.Env), useTLS),
		StartTimeout:     startTime,
		AutoMTLS:         useTLS,
		SkipHostEnv:      true,
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: s.opts.RunDir},
		Logger:           hclog.NewNullLogger(), // it says nothing that is not said better here
	}
	l.plugin = plugin.NewClient(config)
	addr, err := l.plugin.Start()
	if err != nil {
		return err
	}
	// The process runs: from here on its end ends everything below.
	go func() {
		<-l.runner.proc.Done()
		l.clean()
	}()
	if err := l.connect(ctx, addr, config.TLSConfig); err != nil {
		l.kill()
		return err
	}
	return nil
}

// connect does what go-plugin's Client would, behind a guard and with a
// deadline.
func (l *link) connect(ctx context.Context, addr net.Addr, tlsConfig *tls.Config) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, addr.Network(), addr.String())
	if err != nil {
		return fmt.Errorf("connecting to the plugin: %w", err)
	}
	if tlsConfig != nil {
		conn = tls.Client(conn, tlsConfig)
	}
	l.conn = newGuard(conn)
	done := make(chan error, 1)
	go func() { done <- l.dispense() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		_ = l.conn.Close() // ends dispense
		<-done
		return fault.New(fault.PluginStartTimeout, "the plugin did not answer in time")
	}
}

func (l *link) dispense() error {
	client, err := plugin.NewRPCClient(l.conn, l.sets[l.plugin.NegotiatedVersion()])
	if err != nil {
		return err
	}
	l.rpc = client
	stray := l.log.StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
	if err := client.SyncStreams(stray, stray); err != nil {
		return err
	}
	raw, err := client.Dispense(wire.Object)
	if err != nil {
		return err
	}
	l.wire = raw.(*wire.Client)
	return nil
}

// failed makes an error of starting into a fault with the plugin's last lines.
func (l *link) failed(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		f = fault.Because(fault.PluginHandshake, err, "starting the plugin")
		if e, ok := errors.AsType[*sdk.Error](err); ok && e.Code == sdk.Panicked {
			f.Code = fault.PluginBroken
		}
	}
	f.Output = l.tail.last(tailShown)
	return f
}

// tailShown is how many of a plugin's last lines an error shows.
const tailShown = 20

// exited is closed when the process has ended.
func (l *link) exited() <-chan struct{} { return l.runner.proc.Done() }

// gone is the fault of a process that ended.
func (l *link) gone() error {
	return &fault.Error{
		Code: fault.PluginExited, Message: "the plugin's process " + l.runner.proc.Ended(),
		Output: l.tail.last(tailShown), Hint: "the next call starts it again",
	}
}

// stop ends the process in order: its connections are closed within grace,
// then its lifeline is cut.
func (l *link) stop(grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace+exitTime)
	defer cancel()
	if err := l.wire.Shutdown(ctx, grace); err != nil {
		l.log.Debug("shutting down", "error", err)
	}
	l.runner.cutLifeline()
	if !l.runner.proc.Wait(exitTime) {
		l.log.Warn("the plugin did not end and is killed")
	}
	l.kill()
}

// kill ends the process at once and returns when nothing of it is left.
func (l *link) kill() {
	l.runner.proc.Kill()
	<-l.cleaned
}

// clean collects what go-plugin holds for a process that ended. Its own Kill
// would wait forty seconds for a process that was frozen, had it not been
// killed before.
func (l *link) clean() {
	l.cleaning.Do(func() {
		defer close(l.cleaned)
		l.runner.end()
		if l.conn != nil {
			_ = l.conn.Close()
		}
		if l.rpc != nil {
			_ = l.rpc.Close()
		}
		if l.wire != nil {
			l.wire.Wait()
		}
		l.plugin.Kill()
		_ = os.RemoveAll(l.runner.dir)
	})
}
