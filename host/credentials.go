package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/secret"
	"github.com/junctor-mcp/junctor/sdk"
)

// Tenant is on whose behalf a principal reaches a server: nobody's in
// particular where all share it, a tenant's, or its own.
func Tenant(s *config.Server, p authn.Principal) string {
	switch gateway.Share(s.Share) {
	case gateway.PerTenant:
		return p.Tenant
	case gateway.PerSession:
		return p.Tenant + "/" + p.Subject
	}
	return ""
}

// grant is what a transport may ask for on behalf of a server and tenant: nothing
// when the server has no auth block.
func (a *App) grant(s *config.Server, tenant string) sdk.Host {
	if s.Auth == nil {
		return sdk.Host{}
	}
	key := credential.Key{Server: s.Name, Tenant: tenant}
	return sdk.Host{Credentials: ofAuth{a.credentials.Credentials(key, func() (*credential.Broker, func()) {
		owner := a.owner(s, tenant)
		auth := a.authorizer(s, tenant, sdk.Host{Secrets: a.Secrets.Scope(owner)})
		return credential.New(credential.Options{
			Server: s.Name, Tenant: tenant, Auth: auth, Lock: a.lock(owner),
			Changed: func() string { return a.changed(s, owner) }, Conceal: a.redactor.add, Log: a.opts.Log.With("server", s.Name),
		}), auth.Close
	})}}
}

// authPath begins the path in an error about a setting of the auth block, which
// passes through the transport on its way to the user.
const authPath = "auth: "

// ofAuth marks the paths in errors as those of the auth block.
type ofAuth struct{ sdk.Credentials }

// Authorize obtains a credential.
func (c ofAuth) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	cred, err := c.Credentials.Authorize(ctx, r)
	return cred, inAuth(err)
}

// Challenge reports a refusal.
func (c ofAuth) Challenge(ctx context.Context, ch sdk.Challenge) (sdk.ChallengeResult, error) {
	res, err := c.Credentials.Challenge(ctx, ch)
	return res, inAuth(err)
}

func inAuth(err error) error {
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok || e.Path == "" {
		return err
	}
	marked := *e
	marked.Path = authPath + e.Path
	return &marked
}

// place returns where in a server's block a setting is, by its path in an
// error.
func place(s *config.Server, path string) string {
	if path, ok := strings.CutPrefix(path, authPath); ok && s.Auth != nil {
		return s.Auth.Locate(path).String()
	}
	return s.Transport.Locate(path).String()
}

// authorizer makes an authorizer for a server, which may ask the host for what
// is granted.
func (a *App) authorizer(s *config.Server, tenant string, granted sdk.Host) *plugin.Authorizer {
	return a.Supervisor.Authorizer(plugin.AuthRequest{
		Spec: a.spec(s.Auth.Plugin, s.Name), Component: s.Auth.Component, Server: s.Name, URL: Address(s), Tenant: tenant, Dir: s.Auth.Dir,
		Settings: func(ctx context.Context) ([]byte, error) { return a.resolve(ctx, s.Auth.Settings, a.authRecipient(s)) },
		Grant:    granted, Env: a.variables(s.Auth.EnvNames),
	})
}

// owner is whose the secrets of a server's auth provider are. What belongs to
// another configuration, another plugin, or another address of the server, is not
// found.
func (a *App) owner(s *config.Server, tenant string) secret.Owner {
	return secret.Owner{
		Config: a.ConfigID(), Plugin: a.component(s.Auth), Server: s.Name, Resource: a.reach(s) + " " + Address(s), Tenant: tenant,
	}
}

// lock keeps other processes from using an owner's secrets at the same time.
func (a *App) lock(o secret.Owner) func(context.Context) (func(), error) {
	if a.opts.Dirs.Data == "" {
		return nil
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // four texts
	}
	sum := sha256.Sum256(text)
	return credential.LockFile(filepath.Join(a.opts.Dirs.Data, "locks", hex.EncodeToString(sum[:12])))
}

// Address is a server's own address, where its transport's settings have one.
func Address(s *config.Server) string {
	var settings struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(s.Transport.Settings, &settings) // a url of another type is none
	return settings.URL
}

// variables are those of the environment that settings ask for by name.
func (a *App) variables(names []string) []string {
	var env []string
	for _, name := range names {
		if v, ok := a.opts.Lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
