package httpclient

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
)

// drainMost is the maximum number of bytes read of a rejection, so that its
// connection can be reused.
const drainMost = 64 << 10

// Do sends a request with the credential of the server's auth provider. If the
// server rejects the credential, Do reports that to the provider. It sends the
// request once more if the provider has a better one.
//
// sent reports whether the server may have processed the request. The caller
// closes the body of res. The error is an *sdk.Error, or that of ctx.
func (c *Client) Do(ctx context.Context, r Request) (res *http.Response, sent bool, err error) {
	challenged := false
	for {
		add, err := c.authorize(ctx, r)
		if err != nil {
			return nil, false, err
		}
		overridden := c.overrides(add)
		res, sent, err := c.send(ctx, r, add)
		if err != nil || add == nil || !refuses(res) || overridden && res.StatusCode != http.StatusUnauthorized {
			return res, sent, err
		}
		if r.NotCredential != nil && r.NotCredential(res) {
			return res, sent, nil
		}
		if res.StatusCode == http.StatusUnauthorized {
			c.overruled.Store(true)
		}
		if !overridden { // otherwise the credential was not sent yet
			again, err := c.challenge(ctx, r, add.name, res, challenged)
			if err != nil {
				discard(res)
				return nil, false, err
			}
			if !again {
				return res, sent, nil
			}
			challenged = true
		}
		discard(res)
	}
}

func discard(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, drainMost)
	_ = res.Body.Close()
}

// refuses reports whether a response demands other credentials.
func refuses(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusUnauthorized:
		return true
	case http.StatusForbidden:
		return slices.ContainsFunc(res.Header.Values("WWW-Authenticate"), func(said string) bool {
			return strings.Contains(strings.ToLower(said), "insufficient_scope")
		})
	}
	return false
}

// An addition holds the parts of a credential that are added to a request.
type addition struct {
	header http.Header
	query  map[string]string
	name   string
}

func (a *addition) empty() bool { return a == nil || len(a.header)+len(a.query) == 0 }

// url returns u with the query parameters of the credential. Parameters that u
// has already are kept.
func (a *addition) url(u *url.URL) *url.URL {
	if a == nil || len(a.query) == 0 {
		return u
	}
	full, have := *u, u.Query()
	more := url.Values{}
	for name, value := range a.query {
		if !have.Has(name) {
			more.Set(name, value)
		}
	}
	full.RawQuery = strings.Trim(full.RawQuery+"&"+more.Encode(), "&")
	return &full
}

// target returns the URL of a request.
func (c *Client) target(r Request) *url.URL {
	return cmp.Or(r.URL, c.URL)
}

func (c *Client) about(r Request) sdk.AuthRequest {
	return sdk.AuthRequest{Method: r.Method, URL: c.target(r).String(), Resource: c.URL.String()}
}

// authorize returns the credential for a request, or nil if there is no auth
// provider.
func (c *Client) authorize(ctx context.Context, r Request) (*addition, error) {
	if c.credentials == nil || c.alone.Load() {
		return nil, nil
	}
	cred, err := c.credentials.Authorize(ctx, c.about(r))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && sdk.CodeOf(err) == sdk.Unimplemented:
		c.alone.Store(true)
		return nil, nil
	case err != nil:
		return nil, err
	}
	h, wrong := Headers("headers", cred.Headers)
	if len(wrong) > 0 {
		return nil, sdk.Errorf(sdk.Internal, "the credential of the auth provider cannot be sent: %v", wrong[0])
	}
	add := &addition{header: h, query: cred.Query, name: cred.Name}
	return add, c.mayCarry(r, add)
}

// mayCarry returns an error if the credential must not be sent with a request,
// because others could read it.
func (c *Client) mayCarry(r Request, add *addition) error {
	u := c.target(r)
	switch {
	case add.empty():
	case !SameOrigin(u, c.URL):
		return sdk.Errorf(sdk.Denied, "the credentials are not for %s://%s", u.Scheme, u.Host)
	case u.Scheme == "http" && !c.plain && !IsLocalhost(u.Hostname()):
		return &sdk.Error{Code: sdk.Denied, Path: "url",
			Message: "would send the credentials unencrypted over the network",
			Hint:    "use https, or set allow_plain = true where the network is trusted"}
	}
	return nil
}

// A Prepared holds the headers of several requests. It saves building them for
// each request.
type Prepared struct {
	own http.Header
	all http.Header // own with the configured headers
}

// Prepare returns h for several requests. h must not be changed afterwards.
func (c *Client) Prepare(h http.Header) *Prepared { return &Prepared{own: h, all: c.merge(h, nil)} }

// header returns all headers of a request to u. They are not changed later.
func (c *Client) header(r Request, u *url.URL, add *addition) http.Header {
	var h http.Header
	cookie := c.cookies.of(u)
	switch {
	case r.Prepared == nil:
		h = c.merge(r.Header, add)
	case add == nil && cookie == "":
		return r.Prepared.all
	default:
		h = c.merge(r.Prepared.own, add)
	}
	if cookie != "" {
		if set := h.Get("Cookie"); set != "" {
			cookie = set + "; " + cookie
		}
		h["Cookie"] = []string{cookie}
	}
	return h
}

// merge returns the headers in own with those of the credential and of the
// configuration. Those of the configuration take precedence until the server
// rejects them.
func (c *Client) merge(own http.Header, add *addition) http.Header {
	h := make(http.Header, len(own)+len(c.headers)+2)
	maps.Copy(h, own)
	h["User-Agent"] = c.agent // a configured header replaces it
	h["Accept-Encoding"] = acceptGzip
	if add != nil {
		maps.Copy(h, add.header)
	}
	for name, values := range c.headers {
		if !c.yields(name, add) {
			h[name] = values
		}
	}
	return h
}

// yields reports whether a configured header is left out in favour of the
// credential.
func (c *Client) yields(name string, add *addition) bool {
	switch {
	case add == nil:
		return false
	case name == "Authorization" && isBare(c.headers[name][0]):
		return true
	}
	return c.overruled.Load() && (name == "Authorization" || add.header[name] != nil)
}

// isBare reports whether an Authorization header has a scheme without a token,
// for example because a variable is empty.
func isBare(value string) bool {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	return strings.TrimSpace(rest) == "" &&
		slices.Contains([]string{"", "bearer", "basic", "token"}, strings.ToLower(scheme))
}

// overrides reports whether a configured header replaces one of the credential.
func (c *Client) overrides(add *addition) bool {
	if add == nil {
		return false
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(add.header)), func(name string) bool {
		return c.headers[name] != nil && !c.yields(name, add)
	})
}

// challenge reports a rejected credential to the provider. again is true if the
// request should be sent once more. The second rejection is reported too, but
// never retried.
func (c *Client) challenge(ctx context.Context, r Request, presented string, res *http.Response,
	challenged bool) (again bool, err error) {
	about := sdk.Challenge{
		AuthRequest: c.about(r), Status: res.StatusCode, WWWAuthenticate: res.Header.Values("WWW-Authenticate"),
		Attempt: 1, Presented: presented,
	}
	if challenged {
		about.Attempt = 2
	}
	said, err := c.credentials.Challenge(ctx, about)
	switch {
	case err != nil && ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil && sdk.CodeOf(err) == sdk.Unimplemented:
		c.alone.Store(true)
		return false, nil
	case err != nil:
		return false, err
	case said.NeedsLogin:
		return false,
			&sdk.Error{Code: sdk.NeedsLogin, Reason: "needs_login", Message: cmp.Or(said.Reason, "a login is required")}
	case said.Retry && !challenged:
		return true, nil
	case res.StatusCode != http.StatusUnauthorized:
		return false, nil
	}
	e, _ := ErrorResponse(res)
	e.Reason, e.Hint = "refused", said.Reason
	if e.Hint == "" {
		e.Hint = "check the auth block of the server"
	}
	return false, e
}
