package host

import (
	"context"
	"slices"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/pins"
	"github.com/junctor-mcp/junctor/host/plan"
	"github.com/junctor-mcp/junctor/host/plan/capture"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/secret"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/sdk"
)

// The methods of this file use the generation in effect.

// connector returns what makes the connections of the generation in effect. This file has the
// methods of App that ask the generation in effect; they may be called concurrently, also
// during a reload.
func (a *App) connector() connector { return connector{a.process, a.current.Load()} }

// Location returns the location of the configuration, which stays the same.
func (a *App) Location() config.Location { return a.process.opts.Config }

// Config returns the configuration. It must not be changed.
func (a *App) Config() *config.Config { return a.current.Load().Config }

// Secrets returns the stored secrets of the user.
func (a *App) Secrets() *Secrets { return a.current.Load().secrets }

// Upstreams returns the upstreams that all clients share, by server. The map must not
// be changed.
func (a *App) Upstreams() map[string]*upstream.Upstream { return a.current.Load().upstreams }

// ConnectRequired connects the servers with required = true.
func (a *App) ConnectRequired(ctx context.Context) error {
	return a.connector().connectRequired(ctx, &generation{})
}

// Described returns the description of a plugin of the configuration.
func (a *App) Described(p config.Plugin) (Described, bool) {
	d, ok := a.current.Load().manifests[p.Use]
	return d, ok
}

// Manifest returns the manifest of the plugin of a server's transport.
func (a *App) Manifest(s *config.Server) sdk.Manifest { return a.current.Load().manifest(s) }

// Ask opens a separate connection to a server with the given settings in place of the
// configured ones. It repeats one request until answer returns done or an error, and
// closes the connection.
func (a *App) Ask(
	ctx context.Context,
	s *config.Server,
	settings []byte,
	method string,
	params []byte,
	answer func(result []byte) (done bool, err error),
) error {
	return a.connector().ask(ctx, s, settings, method, params, answer)
}

// ValidateSettings asks the plugins to check the settings of every enabled server and
// of the secret store, with the secrets of keyring() in them. It starts plugins, but
// no servers. Rejected settings become diagnostics. failed holds, by server, why a
// plugin could not be asked, and under "secret_store" that of the store.
func (a *App) ValidateSettings(ctx context.Context) (rejected source.Diagnostics, failed map[string]error) {
	return a.connector().validateSettings(ctx)
}

// Login guides a person through a login to a server for a tenant. It requests the given
// scopes in addition to the configured ones. It returns the account that the person
// logged in to.
func (a *App) Login(
	ctx context.Context,
	s *config.Server,
	tenant string,
	p sdk.Person,
	scopes []string,
) (account string, err error) {
	return a.connector().login(ctx, s, tenant, p, scopes)
}

// Logout discards the credentials of a login. The provider also revokes them at the
// authorization server if it can.
func (a *App) Logout(ctx context.Context, s *config.Server, tenant string) error {
	return a.connector().logout(ctx, s, tenant)
}

// AuthState returns the login state that the auth provider reports. It connects to no
// server.
func (a *App) AuthState(ctx context.Context, s *config.Server, tenant string) (AuthState, error) {
	return a.connector().authState(ctx, s, tenant)
}

// View returns what clients see of the configuration in effect. It contacts no server: the
// lists are those of the catalog. It returns nil if ctx ends first.
func (a *App) View(ctx context.Context) *plan.View {
	g := a.current.Load()
	return capture.View(ctx, &capture.Source{
		Config:  g.Config,
		Catalog: a.Catalog,
		Policy:  g.offered.Policy,
		Serves:  func(server string) bool { return g.upstreams[server] != nil },
		Hide:    a.process.redactor.hide,
	})
}

// Locks returns the lock files of the configuration.
func (a *App) Locks() *pins.Lockfiles { return a.locks }

// Hide masks the secrets of the configuration, and those obtained later, in a text.
func (a *App) Hide(text string) string { return a.process.redactor.hide(text) }

// Recipients lists the recipients that the configuration names for a secret.
func (a *App) Recipients(name string) []secret.Recipient { return a.current.Load().recipients(name) }

// Explain returns how the policy decides about the item of a query. tool is the item if it is
// a tool; args are the arguments as a client sends them, nil for those of a list.
func (a *App) Explain(q policy.Query, tool *catalog.Tool, args []byte) policy.Explanation {
	return a.Gateway.Explain(q, tool, args)
}

// Unlisted returns a tool of which only the name and the configuration are known. ok is
// false if the server is not configured, or disabled.
func (a *App) Unlisted(server, name string) (_ *catalog.Tool, ok bool) {
	servers := a.current.Load().servers
	i := slices.IndexFunc(servers, func(s *catalog.Server) bool { return s.Name == server })
	if i < 0 {
		return nil, false
	}
	return servers[i].Unlisted(name), true
}
