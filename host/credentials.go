package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/credential"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/secret"
	"github.com/junctor-mcp/junctor/sdk"
)

// Tenant returns the tenant whose credentials a principal uses at a server. It is
// empty if all clients share the server. With share = "session" each principal is a
// tenant of its own. The tenant is part of the keys of credentials and connections at rest: it
// must stay the same for the same principal.
func Tenant(s *config.Server, p authn.Principal) string {
	switch gateway.Share(s.Share) {
	case gateway.PerTenant:
		return p.Tenant
	case gateway.PerSession:
		return p.Tenant + "/" + p.Subject + proof(p)
	}
	return ""
}

// proof distinguishes the same subject of another method or issuer. It is empty for
// methods whose subjects the configuration and the machine name.
func proof(p authn.Principal) string {
	switch p.Method {
	case "static_token", authn.Local().Method, authn.Anonymous().Method:
		return ""
	}
	sum := sha256.Sum256([]byte(p.Method + "\x00" + p.Issuer))
	return "/" + hex.EncodeToString(sum[:8])
}

// hostFunctions returns the host functions that a transport may call for a server and
// tenant: none if the server has no auth block.
func (c connector) hostFunctions(s *config.Server, tenant string) sdk.Host {
	if s.Auth == nil {
		return sdk.Host{}
	}
	key := c.g.credentialKey(s, tenant)
	return sdk.Host{
		Credentials: authErrors{
			watchedCredentials{
				notices: c.p.notices,
				server:  s.Name,
				tenant:  tenant,
				Credentials: c.p.credentials.Credentials(key, func() (*credential.Broker, func()) {
					owner := c.g.owner(s, tenant)
					auth := c.authorizer(s, tenant, sdk.Host{Secrets: c.g.secrets.Scope(owner)})
					return credential.New(credential.Options{
						Server: s.Name, Tenant: tenant, Auth: auth, Lock: c.g.opts.Dirs.secretsLock(owner),
						Changed: func() string {
							return c.g.credentialVersion(s, owner)
						}, Conceal: c.p.redactor.add, Log: c.g.opts.Log.With("server", s.Name),
					}), auth.Close
				}),
			},
		},
	}
}

// authDelay returns the error for a start of a server that waits for its auth provider
// since a time, or nil for the zero time. It names the program that the provider runs.
func (g *generation) authDelay(s *config.Server, since time.Time) *fault.Error {
	if since.IsZero() {
		return nil
	}
	took := time.Since(since).Round(100 * time.Millisecond)
	command := commandOf(s.Auth.Settings)
	if len(command) == 0 {
		return &fault.Error{
			Message: fmt.Sprintf("auth %q has not returned a credential for %s", s.Auth.Kind, took),
			At:      s.Auth.At.String(),
			Hint: fmt.Sprintf(
				"run `junctor login %s` if a login is missing, or raise timeouts { start } in the server block", s.Name,
			),
		}
	}
	limit := "its timeout"
	if text := g.authTimeout(s); text != "" {
		limit += " of " + text
	}
	return &fault.Error{
		Message: fmt.Sprintf(
			"the program %q of auth %q has run for %s without printing a credential",
			filepath.Base(command[0]),
			s.Auth.Kind,
			took,
		),
		At: s.Auth.PositionOf("command").String(),
		Hint: fmt.Sprintf(
			"run the program by hand; lower %s in the auth block, "+
				"or raise timeouts { start } above it if it needs that long",
			limit,
		),
	}
}

// authTimeout returns the setting "timeout" of a server's auth block or its default, or
// "" for a provider without that setting.
func (g *generation) authTimeout(s *config.Server) (text string) {
	var settings struct{ Timeout string }
	if json.Unmarshal(s.Auth.Settings, &settings) == nil && settings.Timeout != "" {
		return settings.Timeout
	}
	for _, known := range g.manifests[g.plugin(s.Auth.Plugin).Use].Manifest.Auths[s.Auth.Component].Attributes {
		if known.Name == "timeout" {
			_ = json.Unmarshal(known.Default, &text) // a default of another type is none
		}
	}
	return text
}

// authPath is the prefix of the path in an error about a setting of the auth block.
// Such an error passes through the transport, which has settings of its own.
const authPath = "auth: "

// An authErrors adds authPath to the paths in the errors of an auth provider. It keeps no
// state.
type authErrors struct{ sdk.Credentials }

// Authorize obtains a credential.
func (c authErrors) Authorize(ctx context.Context, r sdk.AuthRequest) (sdk.Credential, error) {
	cred, err := c.Credentials.Authorize(ctx, r)
	return cred, withAuthPath(err)
}

// Challenge reports that a server refused a credential.
func (c authErrors) Challenge(ctx context.Context, ch sdk.Challenge) (sdk.ChallengeResult, error) {
	res, err := c.Credentials.Challenge(ctx, ch)
	return res, withAuthPath(err)
}

func withAuthPath(err error) error {
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok || e.Path == "" {
		return err
	}
	marked := *e
	marked.Path = authPath + e.Path
	return &marked
}

// settingPlace returns the place of a setting in a server's block. path is the path
// of the setting in an error.
func settingPlace(s *config.Server, path string) string {
	if path, ok := strings.CutPrefix(path, authPath); ok && s.Auth != nil {
		return s.Auth.PositionOf(path).String()
	}
	return s.Transport.PositionOf(path).String()
}

// authorizer returns an authorizer for a server. The plugin may call the granted
// host functions.
func (c connector) authorizer(s *config.Server, tenant string, granted sdk.Host) *plugin.Authorizer {
	return c.p.Supervisor.Authorizer(plugin.AuthRequest{
		Spec:      c.g.pluginSpec(s.Auth.Plugin, s.Name),
		Component: s.Auth.Component,
		Server:    s.Name,
		URL:       Address(s),
		Tenant:    tenant,
		Dir:       s.Auth.Dir,
		Settings: func(ctx context.Context) ([]byte, error) {
			return c.g.resolveSecrets(ctx, s.Auth.Settings, c.g.authRecipient(s))
		},
		Grant: granted,
		Env:   c.g.opts.variables(s.Auth.EnvNames),
	})
}

// owner returns the owner of the secrets of a server's auth provider. Secrets of
// another configuration, plugin or server address have another owner.
func (g *generation) owner(s *config.Server, tenant string) secret.Owner {
	return secret.Owner{
		Config:   g.opts.layerID(s.Layer),
		Plugin:   g.component(s.Auth),
		Server:   s.Name,
		Resource: g.serverDestination(s) + " " + Address(s),
		Tenant:   tenant,
	}
}

// secretsLock returns a function that locks an owner's secrets against other processes. It
// returns nil without a data directory. The function blocks until another process has released
// the lock, or ctx ends.
func (d Dirs) secretsLock(o secret.Owner) func(context.Context) (func(), error) {
	if d.Data == "" {
		return nil
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // impossible: strings can be encoded
	}
	sum := sha256.Sum256(text)
	return credential.LockFile(filepath.Join(d.Data, "locks", hex.EncodeToString(sum[:12])))
}

// Address returns the URL in the settings of a server's transport, or "".
func Address(s *config.Server) string {
	var settings struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(s.Transport.Settings, &settings) // a url of another type is ignored
	return settings.URL
}

// variables returns the environment variables that settings name, as NAME=value.
func (o *Options) variables(names []string) []string {
	var env []string
	for _, name := range names {
		if v, ok := o.Lookup(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// credentialVersion returns a text that changes with the input of a server's auth
// provider: its secrets, the user's secrets, and the files that its settings name.
// It is called for every request, so it compares the times and sizes of files.
func (g *generation) credentialVersion(s *config.Server, o secret.Owner) string {
	var b strings.Builder
	b.WriteString(g.secrets.Changed(o))
	for _, path := range s.Auth.Files() {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(&b, "/%d+%d", info.ModTime().UnixNano(), info.Size())
		} else {
			b.WriteString("/none")
		}
	}
	return b.String()
}
