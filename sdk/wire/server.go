package wire

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/goplugin"
)

// A Server is the plugin's side of the connection. It runs the author's code
// for the host's calls. Package serve makes it, sets it up before the host
// attaches, and closes it. From then on its methods may be called concurrently.
type Server struct {
	plugin   *sdk.Plugin
	log      hclog.Logger
	host     *hostClient
	attached func() // called when the host attaches
	sockets  sockets
	secret   string // which the host has to know; empty: every host is served

	mu        sync.Mutex
	instances map[string]*instance      // guarded by mu; nil while an instance is being opened
	auths     map[string]sdk.Authorizer // guarded by mu
	vaults    map[string]sdk.Vault      // guarded by mu
	opening   sync.WaitGroup            // calls of Open that may still add an instance
	closing   context.Context           // done after Close was called
	closeAll  context.CancelFunc        // called with mu held
}

// NewServer returns the plugin's side of the connection. It calls attached,
// which may be nil, when the host attaches.
func NewServer(p *sdk.Plugin, log hclog.Logger, attached func()) *Server {
	if attached == nil {
		attached = func() {}
	}
	s := &Server{
		plugin: p, log: log, host: newHostClient(), attached: attached,
		instances: map[string]*instance{}, auths: map[string]sdk.Authorizer{}, vaults: map[string]sdk.Vault{},
	}
	s.closing, s.closeAll = context.WithCancel(context.Background())
	return s
}

// SecretVariable is an environment variable of plugins: a secret of the host and this
// process. Without it a plugin serves every program that finds its socket.
const SecretVariable = "JUNCTOR_ATTACH"

// RequireSecret makes the plugin serve only the host that knows the secret. Call it before
// the host attaches.
func (s *Server) RequireSecret(secret string) { s.secret = secret }

// Objects returns what the plugin dispenses to its host: a [*Control] with the name [Object].
func (s *Server) Objects() map[string]goplugin.Object {
	return map[string]goplugin.Object{Object: func(b *goplugin.Broker) any {
		c := &Control{server: s, broker: b}
		c.calls.log = s.log
		return c
	}}
}

// Close closes every connection, in order until ctx is done and then by force,
// and every authorizer and vault. It returns when all are closed. Later calls
// cannot open anything.
func (s *Server) Close(ctx context.Context) {
	s.mu.Lock()
	s.closeAll()
	instances := slices.Collect(maps.Values(s.instances))
	auths := slices.Collect(maps.Values(s.auths))
	vaults := slices.Collect(maps.Values(s.vaults))
	clear(s.auths)
	clear(s.vaults)
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, i := range instances {
		if i != nil {
			wg.Go(func() { i.close(ctx) })
		}
	}
	for _, a := range auths {
		wg.Go(func() { s.closeQuietly("authorizer", a) })
	}
	for _, v := range vaults {
		wg.Go(func() { s.closeQuietly("vault", v) })
	}
	wg.Wait()
	s.opening.Wait()
}

// closeQuietly closes an authorizer or a vault. It logs an error, because no
// caller waits for it.
func (s *Server) closeQuietly(what string, v any) {
	if err := withRecover(s.log, func() error { return closeIfCloser(v) }); err != nil {
		s.log.Debug("closing", "what", what, "error", err)
	}
}

// open opens a connection with the author's code.
func (s *Server) open(ctx context.Context, a OpenArgs) (opened *instance, err error) {
	t, ok := s.plugin.Transports[a.Component]
	if !ok {
		return nil, missing("transport", a.Component)
	}
	if err := s.reserve(a.Instance); err != nil {
		return nil, err
	}
	defer s.opening.Done()
	defer func() { // runs after a panic of the author's code too
		if opened == nil {
			s.forget(a.Instance)
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()

	log := s.log.With("server", a.Server)
	conn, err := t.Open(ctx, &sdk.Server{
		Name: a.Server, Instance: a.Instance, Tenant: a.Tenant, Dir: a.Dir, Env: a.Env, MaxMessage: a.MaxMessage,
		Cache: a.Cache, Private: a.Private, Protected: a.Protected, Changeable: a.Changeable, Log: log,
		Host: s.host.services(a.Instance, a.Capability),
	}, a.Settings)
	if err != nil {
		return nil, err
	}
	if conn == nil {
		return nil, sdk.Errorf(sdk.Internal, "Open of the transport returned no connection")
	}
	i := newInstance(conn, a.MaxMessage, log)
	s.mu.Lock()
	late := ctx.Err() != nil || s.closing.Err() != nil
	if !late {
		s.instances[a.Instance] = i
	}
	s.mu.Unlock()
	if late {
		i.close(expired())
		return nil, sdk.Errorf(sdk.Canceled, "the call was cancelled while the connection was opened")
	}
	return i, nil
}

// reserve registers the name of an instance before it is opened. It fails if
// the name is in use.
func (s *Server) reserve(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Err() != nil {
		return shuttingDown()
	}
	if _, taken := s.instances[name]; taken {
		return sdk.Errorf(sdk.Internal, "instance %q is open already", name)
	}
	s.instances[name] = nil
	s.opening.Add(1)
	return nil
}

func (s *Server) instance(name string) *instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instances[name]
}

func (s *Server) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.instances, name)
}

func shuttingDown() error { return sdk.Errorf(sdk.Unavailable, "the plugin is shutting down") }

func missing(kind, name string) error {
	return &sdk.Error{Code: sdk.Unimplemented, Reason: "no_component",
		Message: fmt.Sprintf("the plugin has no %s %q", kind, name)}
}

// expired returns a context that is done. Passed to Close, it closes by force.
func expired() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
