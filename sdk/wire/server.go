package wire

import (
	"context"
	"fmt"
	"net/rpc"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"github.com/junctor-mcp/junctor/sdk"
)

// A Server is the plugin's end of the conversation: it answers the host's
// calls with the author's code.
type Server struct {
	plugin   *sdk.Plugin
	log      hclog.Logger
	host     *hostClient
	attached func()

	mu        sync.Mutex
	instances map[string]*instance  // guarded by mu
	auths     map[string]authorizer // guarded by mu
	opening   sync.WaitGroup        // calls of Open that may still add an instance
	closing   bool                  // guarded by mu
}

type authorizer struct {
	sdk.Authorizer
	name string
}

// NewServer makes the plugin's end. It calls attached when the host has come;
// nil is nothing to call.
func NewServer(p *sdk.Plugin, log hclog.Logger, attached func()) *Server {
	if attached == nil {
		attached = func() {}
	}
	return &Server{
		plugin: p, log: log, host: newHostClient(), attached: attached,
		instances: map[string]*instance{}, auths: map[string]authorizer{},
	}
}

// Plugin is what go-plugin serves.
func (s *Server) Plugin() plugin.Plugin { return pluginSide{s} }

type pluginSide struct{ server *Server }

func (p pluginSide) Server(b *plugin.MuxBroker) (any, error) {
	c := &Control{server: p.server, broker: b}
	c.calls.log = func(stack string) { p.server.log.Error("panic", "stack", stack) }
	return c, nil
}

func (pluginSide) Client(*plugin.MuxBroker, *rpc.Client) (any, error) {
	return nil, fmt.Errorf("a plugin does not call itself")
}

// Close ends every connection, politely while ctx lasts, then by force. It
// returns when nothing is left. No connection can be opened afterwards.
func (s *Server) Close(ctx context.Context) {
	s.mu.Lock()
	s.closing = true
	var all []*instance
	for _, i := range s.instances {
		all = append(all, i)
	}
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, i := range all {
		wg.Go(func() { i.close(ctx) })
	}
	wg.Wait()
	s.opening.Wait()
}

// Control is the set of methods that the host calls. Its exported methods are
// the protocol; their arguments and replies stand in types.go.
type Control struct {
	server *Server
	broker *plugin.MuxBroker
	calls  calls
}

// Attach begins the conversation.
func (c *Control) Attach(a AttachArgs, r *AttachReply) error {
	r.Status = c.calls.do(a.Call, func(context.Context) error {
		m, err := c.server.plugin.Describe(Majors(), Features)
		if err != nil {
			return err
		}
		c.server.attached()
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

// Validate asks the author's code about settings.
func (c *Control) Validate(a ValidateArgs, r *Reply) error {
	r.Status = c.calls.do(a.Call, func(ctx context.Context) error {
		if a.Kind == "auth" {
			auth, ok := c.server.plugin.Auths[a.Component]
			if !ok {
				return missing("auth provider", a.Component)
			}
			return auth.Validate(ctx, a.Settings)
		}
		t, ok := c.server.plugin.Transports[a.Component]
		if !ok {
			return missing("transport", a.Component)
		}
		return t.Validate(ctx, a.Settings)
	})
	return nil
}

// Open opens a connection.
func (c *Control) Open(a OpenArgs, r *OpenReply) error {
	r.Status = c.calls.do(a.Call, func(ctx context.Context) error {
		t, ok := c.server.plugin.Transports[a.Component]
		if !ok {
			return missing("transport", a.Component)
		}
		s := c.server
		s.mu.Lock()
		if s.closing || s.instances[a.Instance] != nil {
			s.mu.Unlock()
			return sdk.Errorf(sdk.Unavailable, "the plugin is shutting down, or instance %q is open already", a.Instance)
		}
		s.opening.Add(1)
		s.mu.Unlock()
		defer s.opening.Done()

		conn, err := t.Open(ctx, &sdk.Server{
			Name: a.Server, Instance: a.Instance, Tenant: a.Tenant, Dir: a.Dir, Env: a.Env, MaxMessage: a.MaxMessage,
			Log: s.log.With("server", a.Server), Host: s.host.services(a.Instance, a.Capability),
		}, a.Settings)
		if err != nil {
			return err
		}
		i := newInstance(conn, s.log.With("server", a.Server))
		if err := ctx.Err(); err != nil || !s.keep(a.Instance, i) {
			i.close(expired())
			return sdk.Errorf(sdk.Canceled, "nobody waits for the connection any more")
		}
		r.Stream = c.broker.NextId()
		go func() {
			defer s.forget(a.Instance)
			i.run(c.broker, r.Stream, a.MaxMessage)
		}()
		return nil
	})
	return nil
}

// Close ends a connection. One that is not open is closed already.
func (c *Control) Close(a CloseArgs, r *Reply) error {
	r.Status = c.calls.do(a.Call, func(ctx context.Context) error {
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

// Status says how a connection is.
func (c *Control) Status(a InstanceArgs, r *InstanceReply) error {
	r.Status = c.calls.do(a.Call, func(context.Context) error {
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

// Health offers a throw-away stream, which proves more than an answer does:
// that the broker still accepts.
func (c *Control) Health(a HealthArgs, r *StreamReply) error {
	r.Status = c.calls.do(a.Call, func(context.Context) error {
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

// Shutdown closes every connection. The process ends when the host then closes
// its lifeline.
func (c *Control) Shutdown(a ShutdownArgs, r *Reply) error {
	r.Status = c.calls.do(a.Call, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(a.Grace))
		defer cancel()
		c.server.Close(ctx)
		return nil
	})
	return nil
}

// Cancel ends another call.
func (c *Control) Cancel(a CancelArgs, _ *Reply) error {
	c.calls.cancel(a.ID)
	return nil
}

func (s *Server) instance(name string) *instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instances[name]
}

// keep adds an instance, unless the plugin is closing.
func (s *Server) keep(name string, i *instance) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.instances[name] = i
	return true
}

func (s *Server) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.instances, name)
}

func missing(kind, name string) error {
	return &sdk.Error{Code: sdk.Unimplemented, Reason: "no_component", Message: fmt.Sprintf("the plugin has no %s %q", kind, name)}
}

// expired is a context that is done: by force, at once.
func expired() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
