package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/host/loopback"
)

// A Remote is a server that is reached by URL.
type Remote struct {
	Server string
	URL    string
	CA     *x509.CertPool // nil: that of the system
	Skip   bool           // the configuration does not verify the certificate
	At     string
}

const (
	certificateSoon = 14 * 24 * time.Hour // before the end of a certificate
	skewWarning     = time.Minute
	skewError       = 5 * time.Minute
)

// Remotes returns a check for each host of remote servers: its name, its certificate, the
// way through proxies, and the clock. It sends one HEAD request without credentials.
func Remotes(all []Remote) []Check {
	var checks []Check
	seen := map[string]bool{}
	for _, r := range all {
		u, err := url.Parse(r.URL)
		if err != nil || u.Host == "" || seen[u.Scheme+u.Host] || len(checks) >= maxRemotes {
			continue
		}
		seen[u.Scheme+u.Host] = true
		checks = append(checks, Check{"network", func(ctx context.Context) []Finding { return remote(ctx, r, u) }})
	}
	return checks
}

// maxRemotes bounds the hosts that are asked.
const maxRemotes = 200

func remote(ctx context.Context, r Remote, u *url.URL) (found []Finding) {
	defer func() {
		for i := range found {
			found[i].Server, found[i].At = r.Server, r.At
		}
	}()
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if err != nil {
		return nil // Proxies reports it
	}
	if proxy == nil {
		if f := resolve(ctx, u.Hostname()); f != nil {
			return []Finding{*f}
		}
	}
	res, err := head(ctx, r, u)
	if err != nil {
		return []Finding{unreachable(u, proxy, err)}
	}
	found = append(found, portal(u, res)...)
	if !r.Skip && res.TLS != nil && len(res.TLS.PeerCertificates) > 0 {
		found = append(found, expiry(u, res.TLS.PeerCertificates[0], time.Now())...)
	}
	return append(found, skew(u, res.Header.Get("Date"), time.Now())...)
}

// resolve looks up a name, and reports a failure.
func resolve(ctx context.Context, host string) *Finding {
	if net.ParseIP(host) != nil || loopback.Is(host) {
		return nil
	}
	_, err := net.DefaultResolver.LookupHost(ctx, host)
	if err == nil {
		return nil
	}
	what := "cannot be looked up"
	if d, ok := errors.AsType[*net.DNSError](err); ok && d.IsNotFound {
		what = "does not exist"
	}
	return &Finding{Severity: Error, Message: fmt.Sprintf("the name %s %s", host, what),
		Remedy: "run `getent hosts " + quote(host) + "`; check url, the network and /etc/resolv.conf"}
}

func head(ctx context.Context, r Remote, u *url.URL) (*http.Response, error) {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment,
		TLSClientConfig: &tls.Config{RootCAs: r.CA, InsecureSkipVerify: r.Skip}, DisableKeepAlives: true,
		ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10}
	client := &http.Client{Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, u.Scheme+"://"+u.Host+"/", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "junctor-doctor")
	res, err := client.Do(req)
	if err == nil {
		_ = res.Body.Close()
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return res, err
}

// unreachable explains why a host did not answer.
func unreachable(u, proxy *url.URL, err error) Finding {
	f := Finding{Severity: Error, Message: fmt.Sprintf("%s cannot be reached: %s", u.Host, err),
		Remedy: "run `curl -sI " + quote(u.Scheme+"://"+u.Host) + "`"}
	through := ""
	if proxy != nil {
		through = fmt.Sprintf(" through the proxy %s", proxy.Host)
	}
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	_, isUnknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, isOther := errors.AsType[x509.HostnameError](err)
	_, notTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case isInvalid && invalid.Reason == x509.Expired:
		f.Message = fmt.Sprintf("the certificate of %s is not valid now: %s to %s",
			u.Host, day(invalid.Cert.NotBefore), day(invalid.Cert.NotAfter))
		f.Remedy = "run `date` and correct the clock if it is wrong; otherwise the server's operator must renew the certificate"
	case isUnknown, isOther:
		f.Message = fmt.Sprintf("the certificate of %s%s is not trusted: %s", u.Host, through, err)
		f.Remedy = "open http://example.com in a browser if this network has a login page; behind a proxy that inspects TLS, write tls { ca = \"FILE\" } with its authority into the server block"
	case notTLS:
		f.Message = fmt.Sprintf("%s%s does not speak TLS", u.Host, through)
		f.Remedy = "write http:// in url if the server has no TLS; otherwise check the proxy and the port"
	case proxy != nil:
		f.Message = fmt.Sprintf("%s cannot be reached%s: %s", u.Host, through, err)
		f.Remedy = fmt.Sprintf("check HTTPS_PROXY and HTTP_PROXY, or run `export NO_PROXY=\"$NO_PROXY,%s\"` if the host is reached directly",
			u.Hostname())
	case errors.Is(err, context.DeadlineExceeded):
		f.Message = fmt.Sprintf("%s did not answer within %s", u.Host, CheckTime)
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Message = fmt.Sprintf("nothing listens at %s", u.Host)
		f.Remedy = "start the server, or correct the host and the port in url"
	}
	return f
}

// portal reports a redirect to another host, with which networks lead to their login pages.
func portal(u *url.URL, res *http.Response) []Finding {
	to, err := res.Location()
	if err != nil || to.Hostname() == u.Hostname() || u.Scheme == "https" && to.Scheme == "https" {
		return nil
	}
	return []Finding{{
		Severity: Error,
		Message: fmt.Sprintf("requests to %s are redirected to %s, as by the login page of a network",
			u.Host, to.Host),
		Remedy: "open http://example.com in a browser and log in to the network",
	}}
}

// expiry reports a certificate that ends soon.
func expiry(u *url.URL, c *x509.Certificate, now time.Time) []Finding {
	left := c.NotAfter.Sub(now)
	if left > certificateSoon || left > c.NotAfter.Sub(c.NotBefore)/5 { // short certificates are renewed later
		return nil
	}
	return []Finding{{
		Severity: Warning, Message: fmt.Sprintf("the certificate of %s ends on %s", u.Host, day(c.NotAfter)),
		Remedy: "tell the server's operator; `openssl s_client -connect " + withPort(u) + "` shows the certificate",
	}}
}

func withPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), "443")
}

// skew compares the clock with that of a server.
func skew(u *url.URL, date string, now time.Time) []Finding {
	at, err := http.ParseTime(date)
	if err != nil {
		return nil
	}
	off := now.Sub(at)
	if off.Abs() < skewWarning {
		return nil
	}
	direction := "ahead of"
	if off < 0 {
		direction = "behind"
	}
	f := Finding{Check: "clock", Severity: Warning,
		Message: fmt.Sprintf("the clock of this machine is %s %s that of %s; logins and signatures fail",
			off.Abs().Round(time.Second), direction, u.Host),
		Remedy: "run `sudo timedatectl set-ntp true`, and `date` to see the time"}
	if off.Abs() >= skewError {
		f.Severity = Error
	}
	return []Finding{f}
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Proxies returns a check of the variables for proxies.
func Proxies(lookup func(string) (string, bool)) Check {
	return Check{"proxy", func(ctx context.Context) (found []Finding) {
		seen := map[string]bool{}
		for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
			text, _ := lookup(name)
			if text == "" || seen[text] {
				continue
			}
			seen[text] = true
			found = append(found, proxyAt(ctx, name, text)...)
		}
		if len(seen) > 0 {
			found = append(found, exceptions(lookup)...)
		}
		return found
	}}
}

// proxyAt checks one proxy. Its URL may contain a password.
func proxyAt(ctx context.Context, name, text string) []Finding {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		if u, err = url.Parse("http://" + text); err != nil || u.Host == "" {
			return []Finding{{Severity: Error, Message: name + " is not the URL of a proxy",
				Remedy: "run `export " + name + "=http://HOST:PORT`"}}
		}
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
		if port == "" {
			port = "80"
		}
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return []Finding{{Severity: Error,
			Message: fmt.Sprintf("the proxy %s of %s cannot be reached", net.JoinHostPort(u.Hostname(), port), name),
			Remedy:  "run `unset " + name + "`, or correct it"}}
	}
	_ = c.Close()
	return nil
}

// exceptions reports a NO_PROXY without this machine: servers on it are then asked for at the
// proxy by programs other than Junctor.
func exceptions(lookup func(string) (string, bool)) []Finding {
	text := ""
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if v, ok := lookup(name); ok {
			text += "," + v
		}
	}
	for _, one := range strings.Split(text, ",") {
		if one = strings.TrimSpace(one); one == "*" || loopback.Is(one) || strings.HasPrefix(one, "127.") {
			return nil
		}
	}
	return []Finding{{Severity: Warning,
		Message: "NO_PROXY does not name this machine, so servers send requests to it through the proxy",
		Remedy:  "run `export NO_PROXY=\"localhost,127.0.0.1,::1${NO_PROXY:+,$NO_PROXY}\"`"}}
}

// ReadCA returns the authorities of a file, or nil if the file cannot be read: the configuration reports that.
func ReadCA(path string) *x509.CertPool {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}
