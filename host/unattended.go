package host

import (
	"context"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/secret"
)

// unattendedTime limits UnattendedSecrets.
const unattendedTime = 5 * time.Second

// UnattendedSecrets opens the secrets as a process does that a client or a service starts:
// without a person who types the password, and without the variables that lead to it. It
// returns nil if that works, or if no enabled server needs a secret.
func UnattendedSecrets(ctx context.Context, a *App) error {
	g := a.current.Load()
	if !slices.ContainsFunc(g.Config.Servers, g.needsSecrets) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, unattendedTime)
	defer cancel()
	o := *g.opts
	o.Password, o.Warn = nil, func(string, string) {}
	o.Lookup = func(name string) (string, bool) {
		if slices.Contains(secret.PasswordVariables, name) {
			return "", false
		}
		return g.opts.Lookup(name)
	}
	s := a.connector().openSecrets(o)
	defer s.Close()
	return s.Check(ctx)
}

// needsSecrets reports whether an enabled server uses stored secrets or a stored login.
func (g *generation) needsSecrets(s *config.Server) bool {
	return s.Enabled && (g.authNeedsSecrets(s) || len(g.Config.SecretsIn(string(s.Transport.Settings))) > 0)
}

// authNeedsSecrets reports whether the auth block of a server does.
func (g *generation) authNeedsSecrets(s *config.Server) bool {
	return s.Auth != nil && (s.Auth.Kind == "oauth" || len(g.Config.SecretsIn(string(s.Auth.Settings))) > 0)
}
