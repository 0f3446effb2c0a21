package host

import (
	"context"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/secret"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/sdk"
)

// The methods of this file use the generation in effect.

// Config returns the configuration. It must not be changed.
func (a *App) Config() *config.Config { return a.current.Load().Config }

// Secrets returns the stored secrets of the user.
func (a *App) Secrets() *Secrets { return a.current.Load().secrets }

// Upstreams returns the upstreams that all clients share, by server. The map must not
// be changed.
func (a *App) Upstreams() map[string]*upstream.Upstream { return a.current.Load().upstreams }

// Described returns the description of a plugin of the configuration.
func (a *App) Described(p config.Plugin) (Described, bool) {
	d, ok := a.current.Load().manifests[p.Use]
	return d, ok
}

// Manifest returns the manifest of the plugin of a server's transport.
func (a *App) Manifest(s *config.Server) sdk.Manifest { return a.current.Load().manifest(s) }

// Ask opens a connection of its own to a server, with other settings than the
// configuration's, sends one request until answer is content, and closes it.
func (a *App) Ask(ctx context.Context, s *config.Server, settings []byte, method string, params []byte, answer func(result []byte) (done bool, err error)) error {
	return a.current.Load().ask(ctx, s, settings, method, params, answer)
}

// ValidateSettings asks the plugins to check the settings of every enabled server and
// of the secret store, with the secrets of keyring() in them. It starts plugins, but
// no servers. Rejected settings become diagnostics. failed holds, by server, why a
// plugin could not be asked, and under "secret_store" that of the store.
func (a *App) ValidateSettings(ctx context.Context) (rejected config.Diagnostics, failed map[string]error) {
	return a.current.Load().validateSettings(ctx)
}

// Login logs a person in to a server, for a tenant, and returns the account. scopes
// are requested in addition to the configured ones.
func (a *App) Login(ctx context.Context, s *config.Server, tenant string, p sdk.Person, scopes []string) (account string, err error) {
	return a.current.Load().login(ctx, s, tenant, p, scopes)
}

// Logout forgets the credentials that a login obtained, here and, if possible, at the
// server.
func (a *App) Logout(ctx context.Context, s *config.Server, tenant string) error {
	return a.current.Load().logout(ctx, s, tenant)
}

// AuthState asks the auth provider which account is logged in. It contacts no server.
func (a *App) AuthState(ctx context.Context, s *config.Server, tenant string) (AuthState, error) {
	return a.current.Load().authState(ctx, s, tenant)
}

// CatalogDiagnostics reports the settings about tools that do not fit the lists of
// their servers, as far as these are known. It asks no server.
func (a *App) CatalogDiagnostics() config.Diagnostics { return a.current.Load().catalogDiagnostics() }

// Recipients lists the recipients that the configuration names for a secret.
func (a *App) Recipients(name string) []secret.Recipient { return a.current.Load().recipients(name) }
