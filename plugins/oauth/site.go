package main

import (
	"net/url"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/sdk"
)

// requestTime is the limit of one request to a server.
const requestTime = 15 * time.Second

// A site is the server that tokens are for, and the settings for it. The authorizer owns it, and
// busy guards what changes.
type site struct {
	settings
	name string
	dir  string
	host sdk.Host
	log  hclog.Logger

	server  *url.URL
	visitor *httpclient.DiscoveryClient
	hint    challenge // from the latest refusal
}

// setServer sets the URL of the server.
func (o *site) setServer(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return sdk.Errorf(sdk.Invalid, "the server has no URL with a host")
	}
	var conf *httpclient.TLS
	if o.TLS != nil {
		conf = &httpclient.TLS{CA: o.TLS.CA}
	}
	v, err := httpclient.NewDiscoveryClient(httpclient.DiscoveryOptions{
		Home:         u,
		AllowPrivate: o.AllowPrivate,
		TLS:          conf,
		Dir:          o.dir,
		Agent:        "junctor-plugin-oauth/" + version,
		Timeout:      requestTime,
	})
	if err != nil {
		return err
	}
	o.server, o.visitor = u, v
	return nil
}

// Close closes idle connections. Requests in flight complete.
func (o *site) Close() error {
	if o.visitor != nil {
		o.visitor.Close()
	}
	return nil
}

// sameServer fails if a request is for another server than the tokens. The first request
// sets the server.
func (o *site) sameServer(address string) error {
	if o.server == nil {
		return o.setServer(address)
	}
	if address == "" {
		return nil
	}
	if u, err := url.Parse(address); err != nil || !httpclient.SameOrigin(u, o.server) {
		return &sdk.Error{Code: sdk.Denied, Reason: "other_server", Message: "the token is only for " + o.server.Host}
	}
	return nil
}
