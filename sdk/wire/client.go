package wire

import (
	"context"
	"fmt"
	"net"
	"net/rpc"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// A Client is the host's side of the connection to a plugin process. Its
// methods may be called concurrently and return at the latest when their
// context is done. UseSecret, UseSockets and TakePipes come before
// Attach, and Attach before the rest, from one goroutine. Package host/plugin makes a Client for each
// process.
type Client struct {
	call       caller
	broker     Dialer
	granter    Granter
	serving    sync.WaitGroup
	sockets    string // directory of the plugin's sockets; empty: use the broker only
	takesPipes bool   // see TakePipes
	secret     string // see UseSecret

	mu     sync.Mutex
	open   map[*socket]struct{} // guarded by mu
	hungUp bool                 // guarded by mu
}

// A Dialer dials the streams that the plugin offers by their numbers. The brokers of go-plugin and
// of package goplugin are dialers.
type Dialer interface {
	Dial(id uint32) (net.Conn, error)
}

// NewClient returns the host's side of a connection: calls are those of the plugin's [Object], and g
// decides which services the plugin may use. HangUp ends it.
func NewClient(broker Dialer, calls *rpc.Client, g Granter) *Client {
	return &Client{call: caller{rpc: calls, prefix: "Plugin"}, broker: broker, granter: g,
		open: map[*socket]struct{}{}}
}

// UseSecret sets the secret that the plugin has in SecretVariable. Call it before Attach.
func (c *Client) UseSecret(secret string) { c.secret = secret }

// Attach starts the connection and returns the plugin's manifest as the plugin
// printed it. From then on the host serves its services until the process ends.
func (c *Client) Attach(ctx context.Context, hostVersion, logLevel string) ([]byte, error) {
	call := c.call.begin(ctx)
	r, err := invoke[AttachReply](ctx, &c.call, "Attach", call,
		AttachArgs{Call: call, HostVersion: hostVersion, Features: c.features(), LogLevel: logLevel, Secret: c.secret})
	if err != nil {
		return nil, err
	}
	if err := r.Status.Err(); err != nil {
		return nil, err
	}
	conn, err := c.dial(ctx, r.Services)
	if err != nil {
		return nil, fmt.Errorf("connect services: %w", err)
	}
	c.serving.Go(func() { serveHost(conn, c.granter) })
	return r.Manifest, nil
}

// Wait returns when the host no longer serves its services to the plugin, which
// is when the process has ended.
func (c *Client) Wait() { c.serving.Wait() }

// Validate calls the plugin's own validation of settings.
func (c *Client) Validate(ctx context.Context, kind, component string, settings []byte) error {
	call := c.call.begin(ctx)
	r, err := invoke[Reply](ctx, &c.call, "Validate", call,
		ValidateArgs{Call: call, Kind: kind, Component: component, Settings: settings})
	if err != nil {
		return err
	}
	return r.Status.Err()
}

// Open opens a connection to a server and returns its data stream.
func (c *Client) Open(ctx context.Context, a OpenArgs) (*Stream, error) {
	a.Call = c.call.begin(ctx)
	r, err := invoke[OpenReply](ctx, &c.call, "Open", a.Call, a)
	if err != nil {
		return nil, err
	}
	if err := r.Status.Err(); err != nil {
		return nil, err
	}
	conn, err := c.Data(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("connect data stream: %w", err)
	}
	if !r.Pipes {
		return NewStream(conn, a.MaxMessage), nil
	}
	stream := newEventStream(conn)
	s, ok := conn.(*socket)
	if !ok || !c.takesPipes {
		stream.Leave()
		return nil, fmt.Errorf("%w: unexpected descriptors", ErrProtocol)
	}
	from, to, err := receivePipes(s.UnixConn)
	if err != nil {
		stream.Leave()
		return nil, err
	}
	stream.pipes = newPipes(stream, from, to, a.MaxMessage)
	return stream, nil
}

// Close ends a connection to a server: in order within grace, then by force.
func (c *Client) Close(ctx context.Context, instance string, grace time.Duration) error {
	call := c.call.begin(ctx)
	r, err := invoke[Reply](ctx, &c.call, "Close", call, CloseArgs{Call: call, Instance: instance, Grace: int64(grace)})
	if err != nil {
		return err
	}
	return r.Status.Err()
}

// Status returns the status of a connection to a server.
func (c *Client) Status(ctx context.Context, instance string) (sdk.ConnStatus, error) {
	call := c.call.begin(ctx)
	r, err := invoke[InstanceReply](ctx, &c.call, "Status", call, InstanceArgs{Call: call, Instance: instance})
	if err != nil {
		return sdk.ConnStatus{}, err
	}
	return sdk.ConnStatus{State: r.State, PID: r.PID, Stderr: r.Stderr, Dropped: r.Dropped}, r.Status.Err()
}

// Health checks that the process answers and that its broker still accepts
// streams. Control.Ping succeeds even if the broker is dead.
func (c *Client) Health(ctx context.Context) error {
	call := c.call.begin(ctx)
	r, err := invoke[StreamReply](ctx, &c.call, "Health", call, HealthArgs{Call: call})
	if err != nil {
		return err
	}
	if err := r.Status.Err(); err != nil {
		return err
	}
	conn, err := c.dial(ctx, r.Stream)
	if err != nil {
		return fmt.Errorf("connect health stream: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })()
	if _, err = conn.Read(make([]byte, 1)); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Shutdown closes all connections of the plugin within grace. The process ends
// when its lifeline is closed.
func (c *Client) Shutdown(ctx context.Context, grace time.Duration) error {
	call := c.call.begin(ctx)
	r, err := invoke[Reply](ctx, &c.call, "Shutdown", call, ShutdownArgs{Call: call, Grace: int64(grace)})
	if err != nil {
		return err
	}
	return r.Status.Err()
}

// dial opens a stream that the plugin offered. The broker's Dial has no
// deadline: after ctx is done it continues in a goroutine that ends with the
// process at the latest.
func (c *Client) dial(ctx context.Context, id uint32) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result, 1)
	go func() {
		conn, err := c.broker.Dial(id)
		done <- result{conn, err}
	}()
	select {
	case r := <-done:
		return r.conn, r.err
	case <-ctx.Done():
		go func() {
			if r := <-done; r.conn != nil {
				_ = r.conn.Close()
			}
		}()
		return nil, ctx.Err()
	}
}
