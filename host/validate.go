package host

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/secret"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/sdk"
)

// manifest is App.Manifest for one generation.
func (g *generation) manifest(s *config.Server) sdk.Manifest {
	return g.manifests[g.plugin(s.Transport.Plugin).Use].Manifest
}

// validateSettings is App.ValidateSettings for one generation. It blocks while plugins answer.
// This file asks plugins and servers without a change of what is in effect, for the verbs check
// and wrap.
func (c connector) validateSettings(ctx context.Context) (refused source.Diagnostics, failed map[string]error) {
	failed = map[string]error{}
	check := func(name, kind string, b *config.Block, s *config.Server) {
		to := c.g.opts.recipient(0, name)
		switch kind {
		case "transport":
			to = c.g.transportRecipient(s)
		case "auth":
			to = c.g.authRecipient(s)
		}
		err := c.validateBlock(ctx, kind, b, s.Name, to)
		if complaints := plugin.SettingErrors(err); len(complaints) > 0 {
			refused = append(refused, b.SettingsDiagnostics(complaints)...)
		} else if err != nil {
			failed[name] = locateIn(s, b, err)
		}
	}
	for _, s := range c.g.Config.Servers {
		if !s.Enabled {
			continue
		}
		check(s.Name, "transport", &s.Transport, s)
		if s.Auth != nil && failed[s.Name] == nil {
			check(s.Name, "auth", s.Auth, s)
		}
	}
	if store := c.g.Config.SecretStore; store != nil && store.File == nil {
		check("secret_store", "secret_store", &store.Block, &config.Server{At: store.At})
	}
	maps.Copy(failed, c.g.checkGatewayFiles())
	return refused, failed
}

// validateTime limits the validation by one plugin, including its start. The start
// of a key ring may block.
const validateTime = 10 * time.Second

// validateBlock lets a plugin validate the settings of a block.
func (c connector) validateBlock(
	ctx context.Context,
	kind string,
	b *config.Block,
	server string,
	to secret.Recipient,
) error {
	settings, err := c.g.resolveSecrets(ctx, b.Settings, to)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, validateTime)
	defer cancel()
	err = c.p.Supervisor.Validate(within, c.g.pluginSpec(b.Plugin, server), kind, b.Component, settings)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && fault.As(err).Code == fault.Internal {
		return unanswered(b.Plugin, validateTime)
	}
	return err
}

// locate adds the place in the configuration to an error of a plugin.
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
		f.At = b.PositionOf(strings.TrimPrefix(f.Path, authPath)).String()
	} else if f.At == "" {
		f.At = s.At.String()
	}
	return &f
}

// ask is App.Ask for one generation.
func (c connector) ask(
	ctx context.Context,
	s *config.Server,
	settings []byte,
	method string,
	params []byte,
	answer func(result []byte) (done bool, err error),
) error {
	u := upstream.New(c.withStart(s, upstream.Options{
		Name:       s.Name,
		Peer:       c.p.Gateway.Peer(s.Name),
		Revisions:  cachedRevision{},
		Log:        c.g.opts.Log,
		Version:    c.g.opts.Version,
		Call:       s.Timeouts.Call,
		Shutdown:   s.Timeouts.Shutdown,
		MaxMessage: s.MaxMessage,
		Open: func(ctx context.Context) (upstream.Link, error) {
			return c.openLink(ctx, s, settings, Tenant(s, authn.Local()))
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
