package httpclient

import (
	"net/http"
	"net/url"
	"sync/atomic"
)

const (
	cookieMost  = 50      // maximum number of cookies
	cookieBytes = 4 << 10 // maximum size in bytes of a cookie's name and value
)

// cookies holds a limited number of cookies of the server. Load balancers need
// cookies to find the same machine again. All requests of the Client share them; their methods may
// be called concurrently.
type cookies struct {
	jar http.CookieJar
	any atomic.Bool // the jar may hold a cookie; most servers set none
}

// of returns the Cookie header for a request to u, or "".
func (c *cookies) of(u *url.URL) string {
	if !c.any.Load() {
		return ""
	}
	r := http.Request{Header: http.Header{}}
	for _, one := range c.jar.Cookies(u) {
		r.AddCookie(one)
	}
	return r.Header.Get("Cookie")
}

// keep stores the cookies of a response. It sets the path of every cookie to /.
// There is only one URL, and cookies with other paths would fill the jar without
// being counted.
func (c *cookies) keep(u *url.URL, res *http.Response) {
	if len(res.Header["Set-Cookie"]) == 0 {
		return
	}
	held := map[string]bool{}
	for _, one := range c.jar.Cookies(u) {
		held[one.Name] = true
	}
	var kept []*http.Cookie
	for _, one := range res.Cookies() {
		if len(one.Name)+len(one.Value) > cookieBytes || one.Secure && u.Scheme != "https" ||
			!held[one.Name] && len(held) >= cookieMost {
			continue
		}
		held[one.Name] = true
		one.Path, one.Domain = "/", ""
		kept = append(kept, one)
	}
	if len(kept) > 0 {
		c.any.Store(true)
		c.jar.SetCookies(u, kept)
	}
}
