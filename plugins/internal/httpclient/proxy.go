package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"

	"github.com/junctor-mcp/junctor/sdk"
)

// proxies remembers the addresses of the proxies set in the environment, which
// the address check does not apply to.
type proxies struct{ known sync.Map }

// fromEnvironment is a variable for tests, because net/http reads the
// environment only once.
var fromEnvironment = http.ProxyFromEnvironment

// of returns the proxy for a request.
func (p *proxies) of(r *http.Request) (*url.URL, error) {
	u, err := fromEnvironment(r)
	if err != nil {
		// The error may contain a password.
		return nil, &sdk.Error{
			Code: sdk.Unavailable, Reason: "unreachable", Message: "the proxy set in the environment has no valid URL",
			Hint: "check HTTPS_PROXY and HTTP_PROXY",
		}
	}
	if u != nil {
		p.known.Store(net.JoinHostPort(u.Hostname(), portOf(u)), struct{}{})
	}
	return u, nil
}

func (p *proxies) has(addr string) bool { _, ok := p.known.Load(addr); return ok }

// A proxyError is an error of a proxy.
type proxyError struct {
	at  string // host:port
	err error
}

func (e *proxyError) Error() string { return fmt.Sprintf("the proxy at %s: %v", e.at, e.err) }

func (e *proxyError) Unwrap() error { return e.err }

// connected checks the response of a proxy to CONNECT.
func connected(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{at: proxy.Host, err: errors.New("the proxy answered with HTTP status " + status(res.StatusCode))}
}

// explainProxy converts an error of a proxy to one for the user. It returns nil
// for other errors.
func explainProxy(err error) *sdk.Error {
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return e
	}
	p, ok := errors.AsType[*proxyError](err)
	if !ok {
		return nil
	}
	return &sdk.Error{
		Code: sdk.Unavailable, Reason: "unreachable",
		Message: fmt.Sprintf("the proxy set in the environment cannot be used: %s: %v", p.at, p.err),
		Hint:    "check HTTPS_PROXY and HTTP_PROXY, or name the server in NO_PROXY",
	}
}
