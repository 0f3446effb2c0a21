// Command junctor-plugin-http connects to MCP servers over streamable HTTP, in
// the revisions before 2026-07-28 and from then on. If a server has only the
// older transport, HTTP with server-sent events, the plugin uses that.
//
// Files, from the top: main.go, send.go, run.go, learn.go, answer.go, session.go, stream.go,
// lostsession.go, fallback.go, request.go, body.go, conn.go, overlap.go, params.go, failure.go.
//
// send.go takes messages of the host and starts their requests; run.go sends one with retries,
// through request.go and overlap.go, and answer.go and body.go read the response. session.go and
// stream.go are the session of older servers and its GET stream; lostsession.go recognizes its end.
// learn.go and params.go are the headers for arguments of tools. fallback.go hands all over to
// package legacysse. conn.go has the state, and failure.go the errors.
//
// Package sdk/serve runs the plugin. The host calls open once for each connection, then Send and
// Recv from one goroutine each, and Close. Each request has a goroutine of conn.serve, which calls
// the methods of its call; conn.sendNotes sends notifications in order; conn.listen reads the GET
// stream. No lock is held during a request over HTTP.
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
	URL            string            `hcl:"url" doc:"The server's endpoint, https:// or http://."`
	Mode           string            `hcl:"mode" doc:"Transport to use: streamable HTTP, the older HTTP with server-sent events (sse), or auto. auto tries the older one if the server rejects the newer with status 400, 404, 405 or 415." enum:"auto,streamable,sse" default:"auto"`
	Headers        map[string]string `hcl:"headers,optional" doc:"Headers for every request, such as Authorization." sensitive:"true" format:"headers"`
	AllowPrivate   bool              `hcl:"allow_private,optional" doc:"Allows the name in url to lead to private, link-local or loopback addresses. An address written into url itself, and localhost, need no permission."`
	AllowPlain     bool              `hcl:"allow_plain,optional" doc:"Allows headers and credentials to be sent over http:// to another machine."`
	TLS            *httpclient.TLS   `hcl:"tls,block" doc:"Verification of the server's certificate, and the client certificate."`
	ConnectTimeout time.Duration     `hcl:"connect_timeout" doc:"Timeout of connecting, and of the TLS handshake after it." default:"5s"`
	Keepalive      time.Duration     `hcl:"keepalive_timeout" doc:"Maximum silence of a server that has sent a comment on its stream; only for mode sse." default:"60s"`
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
		onlySSE.Forget(client.URL.String()) // the server may have changed
		if s.Mode == "sse" || !answered(err) {
			client.Close()
			return nil, err // c is a typed nil and must not be returned as a Conn
		}
	}
	return newConn(client, server, s.Mode == "auto", old), nil
}

func plugin() *sdk.Plugin {
	return &sdk.Plugin{
		Name:        "http",
		Version:     version,
		Description: "Connects to MCP servers over streamable HTTP.",
		Transports:  map[string]sdk.Transport{"http": sdk.NewTransport(open)},
	}
}

func main() { serve.Main(plugin()) }
