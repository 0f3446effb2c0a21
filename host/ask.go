package host

import (
	"context"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/sdk"
)

// Ask opens a connection of its own to a server, with other settings than the
// configuration's, asks one thing until answer is content, and closes it.
func (a *App) Ask(ctx context.Context, s *config.Server, settings []byte, method string, params []byte, answer func(result []byte) (done bool, err error)) error {
	p := a.plugin(s.Transport.Plugin)
	u := upstream.New(upstream.Options{
		Name: s.Name, Peer: a.Gateway.Peer(s.Name), Memory: remembered{}, Log: a.opts.Log, Version: a.opts.Version,
		Start: s.Timeouts.Start, Call: s.Timeouts.Call, Shutdown: s.Timeouts.Shutdown, MaxMessage: s.MaxMessage,
		Open: func(ctx context.Context) (upstream.Link, error) {
			r := a.request(s, p, a.described[p.Use])
			r.Settings = settings
			c, err := a.Supervisor.Open(ctx, r)
			if err != nil {
				return nil, locate(s, err)
			}
			return c, nil
		},
	})
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

// Manifest is what the plugin of a server's transport says about itself.
func (a *App) Manifest(s *config.Server) sdk.Manifest {
	return a.described[a.plugin(s.Transport.Plugin).Use].Manifest
}

// ValidateSettings asks the plugins what they think of every enabled server's
// settings. It starts plugins, never upstreams. What the plugins refuse becomes
// diagnostics; failed holds, by server, why a plugin could not be asked.
func (a *App) ValidateSettings(ctx context.Context) (refused config.Diagnostics, failed map[string]error) {
	failed = map[string]error{}
	for _, s := range a.Config.Servers {
		if !s.Enabled {
			continue
		}
		p := a.plugin(s.Transport.Plugin)
		r := a.request(s, p, a.described[p.Use])
		err := a.Supervisor.Validate(ctx, r.Spec, "transport", r.Component, r.Settings)
		if complaints := plugin.Refusals(err); len(complaints) > 0 {
			refused = append(refused, s.Refused(complaints)...)
		} else if err != nil {
			failed[s.Name] = locate(s, err)
		}
	}
	return refused, failed
}

// locate says where in the configuration an error of a plugin belongs.
func locate(s *config.Server, err error) error {
	f := *fault.As(err)
	f.Server = s.Name
	if f.Path != "" {
		f.At = s.Transport.Locate(f.Path).String()
	} else if f.At == "" {
		f.At = s.At.String()
	}
	return &f
}
