// Command junctor-plugin-http reaches MCP servers over streamable HTTP, of the
// revisions before 2026-07-28 and from then on, and where a server has only the
// transport before that, HTTP with server-sent events, over that.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/legacysse"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/serve"
)

// version is the plugin's own; CHANGELOG.md says what changed.
const version = "0.1.0"

type settings struct {
	URL            string            `hcl:"url" doc:"The server's endpoint, https:// or http://."`
	Mode           string            `hcl:"mode" doc:"How to speak to it: streamable HTTP, the older HTTP with server-sent events (sse), or auto, which takes the older one when the server refuses the newer with status 400, 404, 405 or 415." enum:"auto,streamable,sse" default:"auto"`
	Headers        map[string]string `hcl:"headers,optional" doc:"Headers for every request, such as Authorization." sensitive:"true" format:"headers"`
	AllowPrivate   bool              `hcl:"allow_private,optional" doc:"Allows the name in url to lead to private, link-local or loopback addresses. An address written into url itself, and localhost, need no permission."`
	AllowPlain     bool              `hcl:"allow_plain,optional" doc:"Allows headers and credentials to be sent over http:// to another machine."`
	TLS            *httpclient.TLS   `hcl:"tls,block" doc:"How to check the server's certificate, and what to show it."`
	ConnectTimeout time.Duration     `hcl:"connect_timeout" doc:"How long connecting may take, and the TLS handshake after it." default:"5s"`
	Keepalive      time.Duration     `hcl:"keepalive_timeout" doc:"How long a server that sends signs of life on its stream may be silent; only for mode sse." default:"60s"`
}

func (s *settings) options(dir string) httpclient.Options {
	return httpclient.Options{
		URL: s.URL, Headers: s.Headers, AllowPrivate: s.AllowPrivate, AllowPlain: s.AllowPlain, TLS: s.TLS, Dir: dir,
		Connect: s.ConnectTimeout, Agent: "junctor-plugin-http/" + version,
	}
}

func (s *settings) Validate() error {
	o := s.options("")
	return errors.Join(o.Check()...)
}

func open(ctx context.Context, server *sdk.Server, s *settings) (sdk.Conn, error) {
	o := s.options(server.Dir)
	o.Log, o.Credentials = server.Log, server.Host.Credentials
	client, err := httpclient.NewClient(o)
	if err != nil {
		return nil, err
	}
	old := legacysse.Options{Client: client, Limit: server.MaxMessage, Keepalive: s.Keepalive, Log: server.Log}
	if known := onlySSE.Load(client.URL.String()); s.Mode == "sse" || s.Mode == "auto" && known {
		c, err := legacysse.Dial(ctx, old)
		if err == nil {
			return c, nil
		}
		onlySSE.Forget(client.URL.String()) // it may no longer be the one that we know
		if s.Mode == "sse" || !answered(err) {
			client.Close()
			return nil, err // and not a Conn that is not nil
		}
	}
	return newConn(client, server, s.Mode == "auto", old), nil
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name:        "http",
		Version:     version,
		Description: "Reaches MCP servers over streamable HTTP.",
		Transports:  map[string]sdk.Transport{"http": sdk.NewTransport(open)},
	}
}

func main() { serve.Main(plugin()) }
