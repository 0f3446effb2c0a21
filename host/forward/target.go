package forward

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
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/junctor-mcp/junctor/host/loopback"
)

// Stderr is the target of standard error.
const Stderr = "stderr"

// Check returns why a text is not a target. The forms of targets are part of the configuration
// language.
func Check(text string) error {
	if text == Stderr {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Fragment != "" {
		return errors.New("it is not a URL without a user and a fragment")
	}
	switch u.Scheme {
	case "unix":
		if u.Host != "" || !filepath.IsAbs(u.Path) {
			return errors.New("write unix:///PATH")
		}
	case "udp", "tcp", "tls":
		if u.Hostname() == "" || u.Port() == "" || u.Path != "" || u.RawQuery != "" {
			return fmt.Errorf("write %s://HOST:PORT", u.Scheme)
		}
	case "https", "http":
		if u.Hostname() == "" {
			return errors.New("it has no host")
		}
		if u.Scheme == "http" && !loopback.Is(u.Hostname()) {
			return errors.New("http:// is for a receiver on this machine only; use https://")
		}
	default:
		return errors.New("it begins with none of unix://, udp://, tcp://, tls:// and https://")
	}
	return nil
}

// Name returns a target without what may be a secret.
func Name(text string) string {
	u, err := url.Parse(text)
	switch {
	case text == Stderr:
		return text
	case err != nil:
		return "a target that is no URL"
	case u.Scheme == "unix":
		return "unix://" + u.Path
	}
	return u.Scheme + "://" + u.Host
}

func newSender(text string, o *Options) (sender, error) {
	if err := Check(text); err != nil {
		return nil, err
	}
	if text == Stderr {
		return stream{o.Stderr}, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "https" || u.Scheme == "http" {
		return newEndpoint(text, o), nil
	}
	name, err := os.Hostname()
	if err != nil || name == "" {
		name = "-"
	}
	return &syslog{scheme: u.Scheme, host: u.Host, path: u.Path,
		from: name + " junctor " + strconv.Itoa(os.Getpid()) + " audit - ", roots: o.Roots}, nil
}

// A stream is a writer of this process.
type stream struct{ to io.Writer }

func (s stream) send(_ context.Context, lines [][]byte) (int, error) {
	for i, line := range lines {
		if _, err := s.to.Write(line); err != nil {
			return i, err
		}
	}
	return len(lines), nil
}

func (stream) close() {}

// A syslog sends messages as in RFC 5424: one a datagram, or with their lengths before them
// (RFC 5425 and 6587) in a stream. One goroutine uses it. conn is opened by send, and closed by
// close or after an error.
type syslog struct {
	scheme, host, path string
	roots              *x509.CertPool
	from               string // the header after the time
	conn               net.Conn
	counted            bool
}

// priority is that of the facility "log audit" (13) and the severity "informational" (6).
const priority = 13*8 + 6

func (s *syslog) send(ctx context.Context, lines [][]byte) (sent int, err error) {
	if s.conn == nil {
		if err := s.dial(ctx); err != nil {
			return 0, err
		}
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = s.conn.SetDeadline(deadline) // a closed connection fails below
	}
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	for i, line := range lines {
		if _, err := s.conn.Write(s.message(line, time.Now())); err != nil {
			if errors.Is(err, syscall.EMSGSIZE) {
				return i, errTooLarge
			}
			s.close()
			return i, err
		}
	}
	return len(lines), nil
}

func (s *syslog) message(line []byte, now time.Time) []byte {
	m := fmt.Appendf(nil, "<%d>1 %s %s%s", priority, now.UTC().Format("2006-01-02T15:04:05.000000Z"), s.from,
		bytes.TrimSuffix(line, []byte("\n")))
	if s.counted {
		m = append([]byte(strconv.Itoa(len(m))+" "), m...)
	}
	return m
}

func (s *syslog) dial(ctx context.Context) (err error) {
	s.counted = false
	var d net.Dialer
	switch s.scheme {
	case "unix":
		if s.conn, err = d.DialContext(ctx, "unixgram", s.path); err != nil {
			s.conn, err = d.DialContext(ctx, "unix", s.path)
			s.counted = err == nil
		}
	case "udp":
		s.conn, err = d.DialContext(ctx, "udp", s.host)
	case "tls":
		s.counted = true
		t := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: s.roots}}
		s.conn, err = t.DialContext(ctx, "tcp", s.host)
	default:
		s.counted = true
		s.conn, err = d.DialContext(ctx, "tcp", s.host)
	}
	if err != nil {
		s.conn = nil
	}
	return err
}

func (s *syslog) close() {
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
}

// An endpoint takes lines of JSON over HTTP. It is immutable.
type endpoint struct {
	url, agent string
	headers    map[string]string
	client     *http.Client
}

// maxAnswer bounds what is read of a response, so that the connection can be used again.
const maxAnswer = 64 << 10

func newEndpoint(text string, o *Options) *endpoint {
	d := &net.Dialer{Timeout: attemptTime, Control: refuseLocal}
	return &endpoint{text, "junctor/" + o.Version, o.Headers, &http.Client{
		// A redirect could lead to another host, which the user has not named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: d.DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 1,
			IdleConnTimeout:     30 * time.Second,
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots},
			TLSHandshakeTimeout: attemptTime, DisableCompression: true, MaxResponseHeaderBytes: maxAnswer,
		},
	}}
}

// refuseLocal refuses addresses that no receiver has: those of a link, where clouds serve
// credentials, and those of groups. Receivers on private networks are usual.
func refuseLocal(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if ip := at.Addr().Unmap(); ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return fmt.Errorf("%w: %s is not an address of a receiver", errPermanent, ip)
	}
	return nil
}

func (e *endpoint) send(ctx context.Context, lines [][]byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(bytes.Join(lines, nil)))
	if err != nil {
		return 0, errors.New("the URL is not valid") // err may have a secret of the path
	}
	req.Header.Set("Content-Type", "application/x-ndjson")
	req.Header.Set("User-Agent", e.agent)
	for name, value := range e.headers {
		req.Header.Set(name, value)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err // without the URL
		}
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, maxAnswer)
	switch code := resp.StatusCode; {
	case code/100 == 2:
		return len(lines), nil
	case code/100 == 5, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return 0, fmt.Errorf("the receiver responded with %s", resp.Status)
	default:
		return 0, fmt.Errorf("%w: it responded with %s", errPermanent, resp.Status)
	}
}

func (e *endpoint) close() { e.client.CloseIdleConnections() }
