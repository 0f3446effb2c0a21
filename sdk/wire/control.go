package wire

import (
	"context"
	"crypto/subtle"
	"net"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/goplugin"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

// Control holds the methods that the host calls. Its exported methods are the
// protocol. Their arguments and replies are in types.go. net/rpc calls the methods
// concurrently, each on a goroutine of its own.
type Control struct {
	server *Server
	broker *goplugin.Broker
	calls  calls

	// admitted is set when the host that started the plugin has attached. Without
	// it, a program that reaches the socket of the plugin could call its methods, which start
	// programs.
	admitted atomic.Bool
}

// do runs f for one call of the host.
func (c *Control) do(call Call, f func(context.Context) error) Status {
	if c.server.secret != "" && !c.admitted.Load() {
		return StatusOf(sdk.Errorf(sdk.Denied, "attach first"))
	}
	return c.calls.do(call, f)
}

// Attach starts the connection.
func (c *Control) Attach(a AttachArgs, r *AttachReply) error {
	r.Status = c.calls.do(a.Call, func(context.Context) error {
		if c.server.secret != "" && subtle.ConstantTimeCompare([]byte(a.Secret), []byte(c.server.secret)) != 1 {
			return sdk.Errorf(sdk.Denied, "this plugin serves the host that started it")
		}
		c.admitted.Store(true)
		m, err := c.server.plugin.Describe(Majors(), Features)
		if err != nil {
			return err
		}
		c.server.attached()
		c.server.sockets.setHostFeatures(a.Features)
		r.Manifest = m.JSON()
		if l := hclog.LevelFromString(a.LogLevel); l != hclog.NoLevel {
			c.server.log.SetLevel(l)
		}
		r.Services = c.broker.NextId()
		go c.server.host.accept(c.broker, r.Services)
		return nil
	})
	return nil
}

// Validate calls the author's validation of settings.
func (c *Control) Validate(a ValidateArgs, r *Reply) error {
	r.Status = c.do(a.Call, func(ctx context.Context) error {
		switch a.Kind {
		case "auth":
			auth, ok := c.server.plugin.Auths[a.Component]
			if !ok {
				return missing("auth provider", a.Component)
			}
			return auth.Validate(ctx, a.Settings)
		case "secret_store":
			store, ok := c.server.plugin.SecretStores[a.Component]
			if !ok {
				return missing("secret store", a.Component)
			}
			return store.Validate(ctx, a.Settings)
		}
		t, ok := c.server.plugin.Transports[a.Component]
		if !ok {
			return missing("transport", a.Component)
		}
		return t.Validate(ctx, a.Settings)
	})
	return nil
}

// Open opens a connection to a server.
func (c *Control) Open(a OpenArgs, r *OpenReply) error {
	r.Status = c.do(a.Call, func(ctx context.Context) error {
		if a.MaxMessage <= 0 {
			a.MaxMessage = ndjson.DefaultLimit
		}
		i, err := c.server.open(ctx, a)
		if err != nil {
			return err
		}
		accept := c.offer(r)
		r.Pipes = i.takePipes(r.Socket != "" && c.server.sockets.takes.Load())
		go func() {
			defer c.server.forget(a.Instance)
			i.run(accept)
		}()
		return nil
	})
	return nil
}

// offer offers a data stream for a connection: a socket, or a stream of the
// broker if sockets are not available.
func (c *Control) offer(r *OpenReply) (accept func() (net.Conn, error)) {
	if r.Socket, accept = c.server.sockets.offer(); accept != nil {
		return accept
	}
	id := c.broker.NextId()
	r.Stream = id
	return func() (net.Conn, error) { return c.broker.Accept(id) }
}

// Close ends a connection to a server. Closing a connection that is not open
// succeeds.
func (c *Control) Close(a CloseArgs, r *Reply) error {
	r.Status = c.do(a.Call, func(ctx context.Context) error {
		i := c.server.instance(a.Instance)
		if i == nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, time.Duration(a.Grace))
		defer cancel()
		i.drain()
		i.close(ctx)
		return nil
	})
	return nil
}

// Status returns the status of a connection to a server.
func (c *Control) Status(a InstanceArgs, r *InstanceReply) error {
	r.Status = c.do(a.Call, func(context.Context) error {
		i := c.server.instance(a.Instance)
		if i == nil {
			return sdk.Errorf(sdk.Unavailable, "instance %q is not open", a.Instance)
		}
		r.State = "open"
		if st, ok := i.conn.(sdk.Statuser); ok {
			s := st.Status()
			r.State, r.PID, r.Stderr, r.Dropped = s.State, s.PID, s.Stderr, s.Dropped
		}
		return nil
	})
	return nil
}

// Health offers a stream for one byte. It proves that the broker still accepts
// streams.
func (c *Control) Health(a HealthArgs, r *StreamReply) error {
	r.Status = c.do(a.Call, func(context.Context) error {
		r.Stream = c.broker.NextId()
		go func(id uint32) {
			conn, err := c.broker.Accept(id)
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte{1})
			_ = conn.Close()
		}(r.Stream)
		return nil
	})
	return nil
}

// Shutdown closes all connections. The process ends when the host then closes
// its lifeline.
func (c *Control) Shutdown(a ShutdownArgs, r *Reply) error {
	r.Status = c.do(a.Call, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(a.Grace))
		defer cancel()
		c.server.Close(ctx)
		return nil
	})
	return nil
}

// Cancel cancels another call.
func (c *Control) Cancel(a CancelArgs, _ *Reply) error {
	c.calls.cancel(a.ID)
	return nil
}
