// Command junctor-plugin-sse connects to MCP servers over HTTP with server-sent
// events, the transport of revision 2024-11-05.
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

// version is the version of the plugin; see CHANGELOG.md.
const version = "0.1.0"

type settings struct {
	URL            string            `hcl:"url" doc:"The address of the server's event stream, https:// or http://, often ending in /sse."`
	Headers        map[string]string `hcl:"headers,optional" doc:"Headers for every request, such as Authorization." sensitive:"true" format:"headers"`
	AllowPrivate   bool              `hcl:"allow_private,optional" doc:"Allows the name in url to lead to private, link-local or loopback addresses. An address written into url itself, and localhost, need no permission."`
	AllowPlain     bool              `hcl:"allow_plain,optional" doc:"Allows headers and credentials to be sent over http:// to another machine."`
	TLS            *httpclient.TLS   `hcl:"tls,block" doc:"Verification of the server's certificate, and the client certificate."`
	ConnectTimeout time.Duration     `hcl:"connect_timeout" doc:"Timeout of connecting, and of the TLS handshake after it." default:"5s"`
	Keepalive      time.Duration     `hcl:"keepalive_timeout" doc:"Maximum silence of a server that has sent a comment on its stream. Without comments there is no limit. 0s turns the check off." default:"60s"`
}

func (s *settings) options(dir string) httpclient.Options {
	return httpclient.Options{
		URL: s.URL, Headers: s.Headers, AllowPrivate: s.AllowPrivate, AllowPlain: s.AllowPlain, TLS: s.TLS, Dir: dir,
		Connect: s.ConnectTimeout, Agent: "junctor-plugin-sse/" + version,
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
	conn, err := legacysse.Dial(ctx,
		legacysse.Options{Client: client, Limit: server.MaxMessage, Keepalive: s.Keepalive, Log: server.Log})
	if err != nil {
		client.Close()
		return nil, err // conn is a typed nil and must not be returned as a Conn
	}
	return conn, nil
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name:        "sse",
		Version:     version,
		Description: "Connects to MCP servers over HTTP with server-sent events, as of revision 2024-11-05.",
		Transports:  map[string]sdk.Transport{"sse": sdk.NewTransport(open)},
	}
}

func main() { serve.Main(plugin()) }
