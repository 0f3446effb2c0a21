package httpclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// A Request is an HTTP request to the server.
type Request struct {
	Method   string
	URL      *url.URL // nil: the configured URL
	Header   http.Header
	Prepared *Prepared // used instead of Header; may be nil
	Body     []byte
	Call     bool // use the limited connections for calls
	// NotCredential reports whether a rejection is about something other than the
	// credential. The body of the response must stay readable. It may be nil.
	NotCredential func(*http.Response) bool
}

// A sending is one attempt to send a request. Its only purpose is to learn
// whether the headers were written.
type sending struct {
	trace httptrace.ClientTrace
	// The transport writes in another goroutine, which may continue after the
	// request has failed.
	wrote atomic.Bool
}

// maxRedirects is the number of redirects that one request follows.
const maxRedirects = 3

// send sends a request with a credential. It follows a redirect only if the method and the
// body stay (status 307 and 308) and the target has the same scheme, host and port: elsewhere
// it would take credentials along.
func (c *Client) send(ctx context.Context, r Request, add *addition) (res *http.Response, sent bool, err error) {
	u := add.url(c.target(r))
	for n := 0; ; n++ {
		res, sent, err = c.sendTo(ctx, r, u, add)
		if err != nil || n == maxRedirects {
			return res, sent, err
		}
		next := sameOrigin(res)
		if next == nil {
			return res, sent, nil
		}
		_ = res.Body.Close()
		u = next
	}
}

// sameOrigin returns the target of a redirect that send follows, or nil.
func sameOrigin(res *http.Response) *url.URL {
	if res.StatusCode != http.StatusTemporaryRedirect && res.StatusCode != http.StatusPermanentRedirect {
		return nil
	}
	from := res.Request.URL
	to, err := res.Location()
	if err != nil || to.Scheme != from.Scheme || !strings.EqualFold(to.Host, from.Host) || to.User != nil {
		return nil
	}
	return to
}

// sendTo sends a request once to an address.
func (c *Client) sendTo(ctx context.Context, r Request, u *url.URL, add *addition) (
	res *http.Response, sent bool, err error,
) {
	var s sending
	s.trace.WroteHeaders = func() { s.wrote.Store(true) }
	req := (&http.Request{
		Method: r.Method, URL: u, Host: u.Host, Header: c.header(r, u, add), Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1,
	}).WithContext(httptrace.WithClientTrace(ctx, &s.trace))
	if r.Body != nil {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(r.Body)), nil }
	}
	transport := c.side
	if r.Call {
		transport = c.calls
	}
	res, err = transport.RoundTrip(req)
	if err == nil {
		c.cookies.keep(u, res)
		decompress(res)
		return res, true, nil
	}
	if ctx.Err() != nil {
		return nil, s.wrote.Load(), ctx.Err()
	}
	return nil, s.wrote.Load(), explain(err, u)
}

// explain converts an error of the transport to one for the user.
func explain(err error, u *url.URL) *sdk.Error {
	if e := refusedAddress(err, u); e != nil {
		return e
	}
	if e := explainProxy(err); e != nil {
		return e
	}
	e := &sdk.Error{Code: sdk.Unavailable, Reason: "unreachable"}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err // the message contains the URL already
	}
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	dns, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message, e.Hint = fmt.Sprintf("nothing listens at %s", u.Host), "check the address and that the server runs"
	case isDNS && dns.IsNotFound:
		e.Message, e.Hint = fmt.Sprintf("the name %s is not known", u.Hostname()), "check the spelling of url"
	case errors.As(err, &unknown):
		e.Message = fmt.Sprintf("the certificate of %s is signed by an authority that is not trusted", u.Host)
		e.Hint = "name the authority's certificate with tls { ca }"
	case errors.As(err, &name), errors.As(err, &invalid):
		e.Message = fmt.Sprintf("the certificate of %s cannot be used: %v", u.Host, err)
		e.Hint = "check the name in url, and the clock of this machine if the certificate is said to have expired"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		e.Message, e.Hint = fmt.Sprintf("%s does not speak TLS", u.Host), "use http:// if that is meant"
	case strings.Contains(err.Error(), "server response headers exceeded"): // net/http has no error value for it
		e.Reason, e.Message = "bad_message", fmt.Sprintf("the headers of the answer of %s are longer than %d bytes",
			u.Host, headerMost)
		e.Hint = "report this to the operator of the server"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		e.Message, e.Hint = fmt.Sprintf("%s ended the connection before it answered", u.Host),
			"check that url names an HTTP server, with https:// if it needs TLS"
	default:
		e.Message, e.Hint = fmt.Sprintf("%s: %v", u.Host, err), "check url and the network of this machine"
	}
	return e
}

// bodyShown is the maximum number of bytes of a body in an error.
const bodyShown = 512

// Excerpt returns the first lines of a body for the Output of an error, from which the host
// removes secrets. A long body ends between two words: the host does not find a part of a
// secret.
func Excerpt(body []byte) []string {
	text := string(body[:min(len(body), bodyShown)])
	if len(body) > bodyShown {
		text = text[:max(0, strings.LastIndexAny(text, " \t\r\n,;\"'<>&"))] + "…"
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// ErrorResponse reads a response with an error status and returns the error that it
// means. It closes the response's body and returns at most its first 64 KiB.
func ErrorResponse(res *http.Response) (e *sdk.Error, body []byte) {
	defer res.Body.Close()
	body, _ = io.ReadAll(io.LimitReader(res.Body, 64<<10))
	e = &sdk.Error{Code: sdk.Unavailable, Reason: "http_status",
		Message: fmt.Sprintf("the server answered with HTTP status %s", status(res.StatusCode))}
	switch code := res.StatusCode; {
	case code >= 300 && code < 400:
		e.Code, e.Reason, e.Path = sdk.Denied, "redirect_refused", "url"
		e.Message = "the server redirects to " + target(res)
		e.Hint = "only redirects with status 307 or 308 to the same scheme, host and port are followed, because others would take credentials along; write the address into url if it is trusted"
		return e, body
	case code == http.StatusUnauthorized:
		e.Code = sdk.AuthRequired
		e.Hint = `add auth "oauth" {} or auth "bearer" {} to the server's block, or give credentials with headers`
	case code == http.StatusForbidden:
		e.Hint = "the credentials, if any were given, do not allow this"
	case code == http.StatusBadGateway || code == http.StatusGatewayTimeout:
		e.Reason, e.Hint = "unreachable", "a gateway or proxy in front of the server cannot reach it"
	case code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable:
		e.Reason = "rate_limited"
		if d, ok := RetryAfter(res.Header, time.Now()); ok {
			e.Hint = fmt.Sprintf("the server asks to wait for %s", d.Round(time.Second))
		}
	case code == http.StatusNotFound:
		e.Hint = "check the path in url; many servers have their endpoint at /mcp"
	}
	if isText(res.Header) {
		e.Output = Excerpt(body)
	}
	return e, body
}

func status(code int) string {
	if text := http.StatusText(code); text != "" {
		return strconv.Itoa(code) + " " + text
	}
	return strconv.Itoa(code)
}

// ContentType returns the media type of a message, such as "application/json".
// It ignores the parameters, which are often invalid.
func ContentType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// isText excludes pages for browsers from error messages.
func isText(h http.Header) bool {
	t := ContentType(h)
	return t == "text/plain" || t == "application/json" || t == "application/problem+json"
}

// target describes where a redirect leads. The paths of URLs may be secret, so
// it only compares them.
func target(res *http.Response) string {
	u, err := res.Location()
	if err != nil {
		return "nowhere"
	}
	from, to := res.Request.URL.EscapedPath(), u.EscapedPath()
	where := u.Scheme + "://" + u.Host
	switch {
	case to == from:
		return where + ", at the same path"
	case to == from+"/":
		return where + ", at the same path with a slash at its end"
	case to+"/" == from:
		return where + ", at the same path without the slash at its end"
	}
	return where + ", at another path"
}

// RetryAfter parses the Retry-After header (RFC 9110 §10.2.3). It returns false
// if the header is missing or invalid.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(0, t.Sub(now)), true
	}
	return 0, false
}
