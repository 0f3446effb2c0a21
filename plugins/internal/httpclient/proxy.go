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

// proxies remembers which addresses are those of proxies that the environment
// names: these alone may be anywhere.
type proxies struct{ known sync.Map }

// fromEnvironment is replaced in tests: the environment is read once by the
// whole process.
var fromEnvironment = http.ProxyFromEnvironment

// of returns the proxy for a request.
func (p *proxies) of(r *http.Request) (*url.URL, error) {
	u, err := fromEnvironment(r)
	if err != nil {
		// The error would print what may be a password.
		return nil, &sdk.Error{
			Code: sdk.Unavailable, Reason: "unreachable", Message: "the proxy that the environment names has no valid URL",
			Hint: "check HTTPS_PROXY and HTTP_PROXY",
		}
	}
	if u != nil {
		p.known.Store(net.JoinHostPort(u.Hostname(), portOf(u)), struct{}{})
	}
	return u, nil
}

func (p *proxies) has(addr string) bool { _, ok := p.known.Load(addr); return ok }

// A proxyError is why a proxy was of no use.
type proxyError struct {
	at  string // host:port
	err error
}

func (e *proxyError) Error() string { return fmt.Sprintf("the proxy at %s: %v", e.at, e.err) }

func (e *proxyError) Unwrap() error { return e.err }

// connected looks at how a proxy answers when it is asked to connect.
func connected(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{at: proxy.Host, err: errors.New("it answered with HTTP status " + status(res.StatusCode))}
}

// explainProxy explains an error that is about a proxy; nil when it is not.
func explainProxy(err error) *sdk.Error {
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return e
	}
	p, ok := errors.AsType[*proxyError](err)
	if !ok {
		return nil
	}
	return &sdk.Error{
		Code: sdk.Unavailable, Reason: "unreachable", Message: fmt.Sprintf("the proxy that the environment names cannot be used: %s: %v", p.at, p.err),
		Hint: "check HTTPS_PROXY and HTTP_PROXY, or name the server in NO_PROXY",
	}
}
