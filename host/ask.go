package host

import (
	"context"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/secret"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/sdk"
)

// ask opens a connection of its own to a server, with other settings than the
// configuration's, asks one thing until answer is content, and closes it.
func (a *generation) ask(ctx context.Context, s *config.Server, settings []byte, method string, params []byte, answer func(result []byte) (done bool, err error)) error {
	u := upstream.New(a.withStart(s, upstream.Options{
		Name: s.Name, Peer: a.Gateway.Peer(s.Name), Memory: cachedRevision{}, Log: a.opts.Log, Version: a.opts.Version,
		Call: s.Timeouts.Call, Shutdown: s.Timeouts.Shutdown, MaxMessage: s.MaxMessage,
		Open: func(ctx context.Context) (upstream.Link, error) {
			return a.open(ctx, s, settings, Tenant(s, authn.Local()))
		},
	}))
	defer u.Close()
	for {
		r, err := u.Ask(ctx, method, params)
		if err != nil {
			return err
		}
		if r.Error != nil {
			message, _ := mcp.TextMember(r.Error, "message")
			return fault.In(s.Name, fault.New(fault.UpstreamError, "%s", message))
		}
		if done, err := answer(r.Result); done || err != nil {
			return err
		}
	}
}

// manifest is what the plugin of a server's transport says about itself.
func (a *generation) manifest(s *config.Server) sdk.Manifest {
	return a.manifests[a.plugin(s.Transport.Plugin).Use].Manifest
}

// validateSettings asks the plugins what they think of every enabled server's
// settings, and of the secret store's, with the secrets of keyring() in them. It
// starts plugins, never upstreams. What the plugins refuse becomes diagnostics;
// failed holds, by server, why a plugin could not be asked, and under
// "secret_store" what is about that.
func (a *generation) validateSettings(ctx context.Context) (refused config.Diagnostics, failed map[string]error) {
	failed = map[string]error{}
	check := func(name, kind string, b *config.Block, s *config.Server) {
		to := a.recipient(name)
		switch kind {
		case "transport":
			to = a.transportRecipient(s)
		case "auth":
			to = a.authRecipient(s)
		}
		err := a.validateBlock(ctx, kind, b, s.Name, to)
		if complaints := plugin.SettingErrors(err); len(complaints) > 0 {
			refused = append(refused, b.SettingsDiagnostics(complaints)...)
		} else if err != nil {
			failed[name] = locateIn(s, b, err)
		}
	}
	for _, s := range a.Config.Servers {
		if !s.Enabled {
			continue
		}
		check(s.Name, "transport", &s.Transport, s)
		if s.Auth != nil && failed[s.Name] == nil {
			check(s.Name, "auth", s.Auth, s)
		}
	}
	if store := a.Config.SecretStore; store != nil && store.File == nil {
		check("secret_store", "secret_store", &store.Block, &config.Server{At: store.At})
	}
	return refused, failed
}

// validateTime bounds what one plugin takes to look at settings, with its start:
// that of a key ring may hang.
const validateTime = 10 * time.Second

// validateBlock asks a plugin what it thinks of a block's settings.
func (a *generation) validateBlock(ctx context.Context, kind string, b *config.Block, server string, to secret.Recipient) error {
	settings, err := a.resolveSecrets(ctx, b.Settings, to)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, validateTime)
	defer cancel()
	return a.Supervisor.Validate(ctx, a.spec(b.Plugin, server), kind, b.Component, settings)
}

// locate says where in the configuration an error of a plugin belongs.
func locate(s *config.Server, err error) error {
	b := &s.Transport
	if f := fault.As(err); s.Auth != nil && strings.HasPrefix(f.Path, authPath) {
		b = s.Auth
	}
	return locateIn(s, b, err)
}

// locateIn is locate for an error about one of the server's blocks.
func locateIn(s *config.Server, b *config.Block, err error) error {
	f := *fault.As(err)
	f.Server = s.Name
	if f.Path != "" {
		f.At = b.Locate(strings.TrimPrefix(f.Path, authPath)).String()
	} else if f.At == "" {
		f.At = s.At.String()
	}
	return &f
}
