package host

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/launcher"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A connector makes the connections of a generation, with the objects of the process. Its
// functions last as long as the connections; it holds nothing else. It is a value, and may be
// used concurrently.
type connector struct {
	p *Process
	g *generation
}

// build makes the upstreams, and describes the servers to the gateway and the catalog.
// before is the generation in effect; nil for the first one. disconnected are the servers
// that are left out, if the configuration has them. It sets servers, offered, upstreams and
// inputs of the generation, which is not in effect yet; only prepare, start and setDisconnected
// call it. It connects to nothing.
func (c connector) build(before *generation, disconnected map[string]*disconnection) {
	g := c.g
	g.upstreams, g.inputs = map[string]*upstream.Upstream{}, map[string]string{}
	g.offered = gateway.Generation{
		Name:           g.Config.Gateway.Name,
		RequestTimeout: g.Config.Gateway.RequestTimeout,
		Servers:        map[string]gateway.Server{},
		Disconnected:   map[string]gateway.Disconnected{},
	}
	g.disconnected, g.servers = map[string]*disconnection{}, []*catalog.Server{}
	offers := map[string]policy.Server{}
	for _, s := range g.Config.Servers {
		if !s.Enabled {
			continue
		}
		offers[s.Name] = policy.Server{Allow: offeredBy(s.Tools.Allow), Deny: offeredBy(s.Tools.Deny)}
		if d := disconnected[s.Name]; d != nil {
			g.disconnected[s.Name], g.offered.Disconnected[s.Name] = d, disconnectedFor(s, d)
			continue
		}
		input := g.connectionInput(s)
		var u *upstream.Upstream
		if before != nil && before.inputs[s.Name] == input {
			u = before.upstreams[s.Name]
		} else {
			u = c.newUpstream(s, c.p.Gateway.Peer(s.Name), Tenant(s, authn.Local()))
		}
		g.upstreams[s.Name], g.inputs[s.Name] = u, input
		g.servers = append(g.servers, c.catalogServerOnce(before, s, u))
		g.offered.Servers[s.Name] = c.gatewayServer(s, u)
	}
	rules := policy.New(offers, g.Config.Policy).Under(g.Config.Policies...)
	g.offered.Policy = rules.UnderManaged(g.Config.Managed.Policy)
}

// gatewayServer describes a server and its upstream to the gateway.
func (c connector) gatewayServer(s *config.Server, u *upstream.Upstream) gateway.Server {
	return gateway.Server{
		Upstream: u,
		Repeat:   repeatable(s.Tools),
		Share:    gateway.Share(s.Share),
		Unlisted: s.Resources.Unlisted,
		Timeout:  c.g.toolTimeout(s.Name),
		Context:  s.Context,
		Level:    c.g.logLevel(s),
		Untraced: s.Trace == "off",
		Pinned:   s.Lock != "",
		Open: func(peer upstream.Peer, p authn.Principal) *upstream.Upstream {
			return c.newUpstream(s, peer, Tenant(s, p))
		},
	}
}

// catalogServerOnce returns the catalog's description of a server. It is the same
// value as before if nothing in it has changed, so that the lists stay parsed.
func (c connector) catalogServerOnce(before *generation, s *config.Server, u *upstream.Upstream) *catalog.Server {
	if before == nil {
		return c.catalogServer(s, u)
	}
	i := slices.IndexFunc(before.servers, func(o *catalog.Server) bool { return o.Name == s.Name && o.Upstream == u })
	j := slices.IndexFunc(before.Config.Servers, func(o *config.Server) bool { return o.Name == s.Name })
	if i >= 0 && j >= 0 && sameView(before.Config.Servers[j], s) {
		return before.servers[i]
	}
	return c.catalogServer(s, u)
}

// catalogServer returns the catalog entry of a server block with its upstream.
func (c connector) catalogServer(s *config.Server, u *upstream.Upstream) *catalog.Server {
	of := &catalog.Server{
		Managed:       s.Managed,
		Public:        publicKey(c.g.Config, s),
		Name:          s.Name,
		Prefix:        s.Prefix,
		Views:         viewsOf(s.Views),
		Patterns:      patternsOf(s.Tools),
		Upstream:      u,
		Key:           c.g.cacheKey(s),
		Describe:      catalog.Describe(s.Describe),
		HideBadSchema: s.BadSchema == "hide",
		Pins:          c.p.pins.Of(s),
	}
	switch c.g.plugin(s.Transport.Plugin).Source {
	case "builtin/http", "builtin/sse":
		of.Remote = true
	}
	if c.g.plugin(s.Transport.Plugin).Source == "builtin/cli" {
		of.Access = s.Transport.At.String()
	}
	if s.Share == string(gateway.PerSession) {
		of.Offer = []byte(gateway.AllCapabilities)
	}
	return of
}

// newUpstream creates the upstream of a server for a tenant. Messages of the server go
// to peer.
func (c connector) newUpstream(s *config.Server, peer upstream.Peer, tenant string) *upstream.Upstream {
	revision := mcp.Revision(s.Protocol)
	if s.Protocol == "auto" {
		revision = ""
	}
	var changed func() string
	var delay func() *fault.Error
	if s.Auth != nil {
		owner := c.g.owner(s, tenant)
		changed = func() string { return c.g.credentialVersion(s, owner) }
		delay = func() *fault.Error {
			return c.g.authDelay(s, c.p.credentials.State(c.g.credentialKey(s, tenant)).Asked)
		}
	}
	return upstream.New(c.withStart(s, upstream.Options{
		Name: s.Name,
		Peer: peer,
		Place: func(path string) string {
			return settingPlace(s, path)
		},
		Observe:    c.p.record.announceServer(s.Name, tenant),
		Changed:    changed,
		Delay:      delay,
		Revisions:  cachedRevision{c.g.opts.Dirs.Cache, filepath.Join("revisions", c.g.cacheKey(s))},
		Log:        c.g.opts.Log,
		Version:    c.g.opts.Version,
		Revision:   revision,
		Call:       s.Timeouts.Call,
		Shutdown:   c.g.opts.shutdown(s),
		Extends:    s.Timeouts.Extends,
		MaxMessage: s.MaxMessage,
		Budget:     c.p.messages,
		Lines:      c.p.serverLog,
		Idle:       upstream.Idle{Adaptive: s.Idle.Adaptive, After: s.Idle.After},
		Open: func(ctx context.Context) (upstream.Link, error) {
			return c.openLink(ctx, s, s.Transport.Settings, tenant)
		},
	}))
}

// openLink opens a link to a server with the given settings. It blocks until the plugin has
// opened the server; the caller closes the link.
func (c connector) openLink(
	ctx context.Context,
	s *config.Server,
	settings []byte,
	tenant string,
) (upstream.Link, error) {
	settings, err := c.g.resolveSecrets(ctx, settings, c.g.transportRecipient(s))
	if err != nil {
		return nil, locate(s, err)
	}
	r := c.g.openRequest(s)
	r.Settings, r.Tenant, r.Grant = settings, tenant, c.hostFunctions(s, tenant)
	r.Place = func(path string) string { return settingPlace(s, path) }
	link, err := c.p.Supervisor.Open(ctx, r)
	if err != nil {
		return nil, locate(s, err)
	}
	return link, nil
}

// withStart adds the options for starting a server to the options of its upstream.
func (c connector) withStart(s *config.Server, o upstream.Options) upstream.Options {
	o.Start, o.Install = s.Timeouts.Start, s.Timeouts.Install
	o.Prepare = c.unlockFor(s)
	command := commandOf(s.Transport.Settings)
	if len(command) == 0 {
		return o // the server is remote
	}
	o.Starts, o.Program = c.p.starts, true
	if name := launcher.Of(command); name != "" {
		o.Launcher = name
		o.Diagnose = func(stderr []string) (meaning, hint string) { return launcher.Diagnose(name, stderr) }
	}
	return o
}

// connectRequired connects the required servers that are new or changed.
func (c connector) connectRequired(ctx context.Context, before *generation) error {
	for _, s := range c.g.Config.Servers {
		u := c.g.upstreams[s.Name]
		if !s.Enabled || !s.Required || u == nil || u == before.upstreams[s.Name] {
			continue
		}
		if err := u.Connect(ctx); err != nil {
			return err
		}
	}
	return nil
}
