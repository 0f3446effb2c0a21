package host

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/sdk"
)

// Options say what to load.
type Options struct {
	Config     config.Location
	Content    *config.Content // what was trusted of it; nil: load what is there
	Version    string          // of Junctor
	Log        hclog.Logger
	Dirs       Dirs
	Lookup     func(string) (string, bool) // environment; nil is os.LookupEnv
	Orphans    func()                      // see plugin.Options
	AllPlugins bool                        // describe every plugin that is required, used or not
	// OneShot is a command that ends when it has its answer: servers and plugins
	// get little time to end.
	OneShot bool
	// Unusable is called for each plugin that Load cannot use; nil: only the
	// diagnostics tell.
	Unusable func(p config.Plugin, err error)
	// StartNothing describes plugins from the cache alone.
	StartNothing bool

	// Password asks a person for the password of the encrypted file of secrets,
	// twice when confirm is set; nil where there is nobody to ask.
	Password func(ctx context.Context, confirm bool) ([]byte, error)
	// Local is the command line, when that is the only client; nil: clients connect.
	Local gateway.LocalClient
	// Roots are the directories that servers are told of, for clients that have none:
	// absolute paths.
	Roots []string
	// Warn tells a person something once; nil: the log has it.
	Warn func(msg, hint string)
}

// An App is a configured host. Nothing runs until something is used.
type App struct {
	Config     *config.Config
	Supervisor *plugin.Supervisor
	Catalog    *catalog.Catalog
	Gateway    *gateway.Gateway
	Upstreams  map[string]*upstream.Upstream // of the enabled servers, by name
	Secrets    *Secrets

	opts        Options
	described   map[string]Described
	starts      *upstream.StartQueue
	messages    *limit.Memory
	lines       *limit.Lines
	credentials credential.Pool
	pages       pages
	redactor    redactor
}

// Described is what is known of a plugin without running it.
type Described struct {
	Path     string
	Digest   string
	Manifest sdk.Manifest
}

// NewSupervisor makes a supervisor of plugins for these options.
func NewSupervisor(o Options) *plugin.Supervisor {
	return plugin.New(plugin.Options{
		Version: o.Version, Log: o.Log, RunDir: o.Dirs.Run, Cache: o.Dirs.Cache, LogDir: o.Dirs.Logs(),
		Lookup: o.Lookup, Orphans: o.Orphans, OneShot: o.OneShot,
		Warn: o.Warn,
	})
}

// Load reads the configuration and makes an App of it. The App is nil exactly
// when a diagnostic is an error.
func Load(ctx context.Context, o Options) (*App, config.Diagnostics) {
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	a := &App{
		opts: o, Supervisor: NewSupervisor(o), Upstreams: map[string]*upstream.Upstream{}, described: map[string]Described{},
		starts: upstream.NewStartQueue(runtime.GOMAXPROCS(0) + 2),
	}
	cfg, diags := config.Load(ctx, config.Options{
		Path: o.Config.Path, Content: o.Content, Lookup: o.Lookup, Describe: a.describeAndTell, All: o.AllPlugins,
	})
	if cfg == nil {
		a.Supervisor.Stop(0)
		return nil, diags
	}
	a.Config = cfg
	a.redactor.first = cfg.Conceal
	a.Supervisor.Conceal(a.redactor.hide)
	a.Secrets = a.keepSecrets()
	a.wire()
	return a, diags
}

// describe finds a plugin's program and learns what it offers.
func (a *App) describe(ctx context.Context, p config.Plugin) (sdk.Manifest, error) {
	path, err := plugin.Find(p.Source, p.Use, plugin.Dirs(a.opts.Lookup))
	if err != nil {
		return sdk.Manifest{}, err
	}
	var m sdk.Manifest
	var digest string
	if a.opts.StartNothing {
		m, digest, err = a.Supervisor.DescribeCached(path, p.SHA256)
	} else {
		m, digest, err = a.Supervisor.Describe(ctx, path, p.SHA256)
	}
	if err == nil {
		err = plugin.Check(m, p.Source, p.Use, path)
	}
	if err != nil {
		return sdk.Manifest{}, err
	}
	a.described[p.Use] = Described{Path: path, Digest: digest, Manifest: m}
	return m, nil
}

// describeAndTell is describe, and tells the caller of Load about a plugin that
// cannot be used.
func (a *App) describeAndTell(ctx context.Context, p config.Plugin) (sdk.Manifest, error) {
	m, err := a.describe(ctx, p)
	if err != nil && a.opts.Unusable != nil {
		a.opts.Unusable(p, err)
	}
	return m, err
}

// Described returns what is known of a plugin of the configuration.
func (a *App) Described(p config.Plugin) (Described, bool) {
	d, ok := a.described[p.Use]
	return d, ok
}

// wire makes the rooms for the servers.
func (a *App) wire() {
	a.messages, a.lines = a.budget(), limit.NewLines(a.opts.Log, "server")
	rules := map[string]policy.Server{}
	calls := map[string]gateway.Server{}
	for _, s := range a.Config.Servers {
		if s.Enabled {
			rules[s.Name] = policy.Server{Allow: rulesOf(s.Tools.Allow), Deny: rulesOf(s.Tools.Deny)}
			calls[s.Name] = gateway.Server{
				Repeat: repeats(s.Tools), Share: gateway.Share(s.Share), Unlisted: s.Resources.Unlisted,
				Open: func(peer upstream.Peer, p authn.Principal) *upstream.Upstream {
					return a.upstream(s, peer, Tenant(s, p))
				},
			}
		}
	}
	a.Gateway = gateway.New(gateway.Options{
		Version: a.opts.Version, Policy: policy.New(rules), Log: a.opts.Log, Servers: calls,
		Budget: a.messages, Lines: a.lines, Login: a.loginPage, Local: a.opts.Local, Roots: rootsOf(a.opts.Roots),
	})
	var servers []*catalog.Server
	for _, s := range a.Config.Servers {
		if s.Enabled {
			servers = append(servers, a.server(s))
		}
	}
	a.Catalog = catalog.New(servers, a.opts.Dirs.Cache, a.opts.Log, a.Gateway.ListsChanged)
	a.Gateway.Bind(a.Catalog)
	a.Gateway.OfferLocal()
}

// server makes the upstream of a server block that all clients share.
func (a *App) server(s *config.Server) *catalog.Server {
	u := a.upstream(s, a.Gateway.Peer(s.Name), Tenant(s, authn.Local()))
	a.Upstreams[s.Name] = u
	of := &catalog.Server{
		Name: s.Name, Prefix: s.Prefix, Views: viewsOf(s.Views), Patterns: patternsOf(s.Tools), Upstream: u, Key: a.key(s),
		Describe: catalog.Describe(s.Describe), HideBadSchema: s.BadSchema == "hide",
	}
	if s.Share == string(gateway.PerSession) {
		of.Offer = a.Gateway.Peer(s.Name).Capabilities()
	}
	return of
}

// key names what is remembered of a server.
func (a *App) key(s *config.Server) string {
	digest := a.described[a.plugin(s.Transport.Plugin).Use].Digest
	return s.Fingerprint[:32] + "-" + digest[:min(16, len(digest))]
}

// upstream makes a connection to a server on behalf of a tenant, which talks to
// peer.
func (a *App) upstream(s *config.Server, peer upstream.Peer, tenant string) *upstream.Upstream {
	revision := mcp.Revision(s.Protocol)
	if s.Protocol == "auto" {
		revision = ""
	}
	var changed func() string
	if s.Auth != nil {
		owner := a.owner(s, tenant)
		changed = func() string { return a.changed(s, owner) }
	}
	return upstream.New(a.starting(s, upstream.Options{
		Name: s.Name, Peer: peer, Changed: changed, Memory: remembered{a.opts.Dirs.Cache, filepath.Join("revisions", a.key(s))},
		Log: a.opts.Log, Version: a.opts.Version, Revision: revision,
		Call: s.Timeouts.Call, Shutdown: a.shutdown(s), Extends: s.Timeouts.Extends,
		MaxMessage: s.MaxMessage, Budget: a.messages, Lines: a.lines,
		Idle: upstream.Idle{Adaptive: s.Idle.Adaptive, After: s.Idle.After},
		Open: func(ctx context.Context) (upstream.Link, error) { return a.open(ctx, s, s.Transport.Settings, tenant) },
	}))
}

// open opens a link to a server, with settings that need not be the
// configuration's.
func (a *App) open(ctx context.Context, s *config.Server, settings []byte, tenant string) (upstream.Link, error) {
	settings, err := a.resolve(ctx, settings, a.transportRecipient(s))
	if err != nil {
		return nil, locate(s, err)
	}
	r := a.request(s)
	r.Settings, r.Tenant, r.Grant = settings, tenant, a.grant(s, tenant)
	r.Place = func(path string) string { return place(s, path) }
	c, err := a.Supervisor.Open(ctx, r)
	if err != nil {
		return nil, locate(s, err)
	}
	return c, nil
}

func (a *App) plugin(name string) config.Plugin {
	for _, p := range a.Config.Plugins {
		if p.Name == name {
			return p
		}
	}
	return config.Plugin{Name: name, Use: name}
}

// spec is the process of a plugin that is for a server.
func (a *App) spec(name, server string) plugin.Spec {
	p := a.plugin(name)
	spec := plugin.Spec{Name: p.Name, Path: a.described[p.Use].Path, SHA256: p.SHA256, Env: p.Env}
	if p.Isolation == "server" {
		spec.Alone = server
	}
	return spec
}

// request is what to ask a plugin for to reach a server.
func (a *App) request(s *config.Server) plugin.Request {
	r := plugin.Request{
		Spec: a.spec(s.Transport.Plugin, s.Name), Component: s.Transport.Component, Server: s.Name, Settings: s.Transport.Settings, Dir: s.Transport.Dir,
		MaxMessage: s.MaxMessage, Env: a.variables(s.Transport.EnvNames),
	}
	if a.opts.Dirs.Cache != "" {
		r.Cache = filepath.Join(string(a.opts.Dirs.Cache), "plugins", s.Transport.Plugin)
	}
	return r
}

// Stop ends everything: upstreams politely, then plugins. It returns when
// nothing is left.
func (a *App) Stop() {
	a.Gateway.Stop()
	a.Catalog.Stop()
	var wg sync.WaitGroup
	for _, u := range a.Upstreams {
		wg.Go(u.Close)
	}
	wg.Wait()
	a.credentials.Close()
	a.Secrets.Close()
	a.Supervisor.Stop(stopGrace)
}

// stopGrace is for plugins whose upstreams are closed already.
const stopGrace = time.Second

// oneShotShutdown is how long a server gets to end after a command has its
// answer. The user waits for the prompt meanwhile.
const oneShotShutdown = time.Second

// shutdown is how long a server gets to end.
func (a *App) shutdown(s *config.Server) time.Duration {
	if a.opts.OneShot {
		return min(s.Timeouts.Shutdown, oneShotShutdown)
	}
	return s.Timeouts.Shutdown
}

func rulesOf(patterns []config.Pattern) []policy.Rule {
	if patterns == nil {
		return nil
	}
	rules := []policy.Rule{}
	for _, p := range patterns {
		rules = append(rules, policy.Rule{Match: p.Match, At: p.At.String()})
	}
	return rules
}

// repeats reports whether the configuration marks a tool as one that may be
// called twice.
func repeats(t config.Tools) func(string) bool {
	return func(tool string) bool {
		for _, p := range t.Write {
			if p.Match(tool) {
				return false
			}
		}
		for _, list := range [][]config.Pattern{t.Read, t.Idempotent} {
			for _, p := range list {
				if p.Match(tool) {
					return true
				}
			}
		}
		return false
	}
}

// patternsOf lists all patterns about a server's tools.
func patternsOf(t config.Tools) []catalog.Pattern {
	var all []catalog.Pattern
	for _, list := range []struct {
		name     string
		patterns []config.Pattern
	}{{"allow", t.Allow}, {"deny", t.Deny}, {"read", t.Read}, {"write", t.Write}, {"idempotent", t.Idempotent}} {
		for _, p := range list.patterns {
			all = append(all, catalog.Pattern{List: list.name, Glob: p.Glob, Match: p.Match, At: p.At.String()})
		}
	}
	return all
}

func viewsOf(views []config.View) map[string]*catalog.View {
	m := map[string]*catalog.View{}
	for _, v := range views {
		places := map[string]string{}
		for name, at := range v.Places {
			places[name] = at.String()
		}
		m[v.Tool] = &catalog.View{
			Name: v.Name, Description: v.Description, HasDescription: v.HasDescription, Hidden: v.Hidden,
			Pin: v.Pin, Default: v.Default, At: v.At.String(), Places: places,
		}
	}
	return m
}
