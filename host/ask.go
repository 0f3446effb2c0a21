package host

import (
	"context"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

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
