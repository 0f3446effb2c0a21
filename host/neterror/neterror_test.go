package neterror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestExplainSpeaksOfTheHost: each failure has one sentence about the host, without the path or
// the query of the URL, and the cause stays in the chain.
func TestExplainSpeaksOfTheHost(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1},
		Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	unknown := &net.OpError{Op: "dial", Net: "tcp",
		Err: &net.DNSError{Err: "no such host", Name: "a.example", IsNotFound: true}}
	for _, c := range []struct {
		err  error
		want string
	}{
		{unknown, "the name a.example is not known"},
		{&net.OpError{Op: "dial",
			Err: &net.DNSError{Err: "server misbehaving", Name: "a.example", Server: "9.9.9.9:53"}},
			"the name a.example cannot be looked up"},
		{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "i/o timeout", Name: "a.example", IsTimeout: true}},
			"the name a.example cannot be looked up"},
		{refused, "nothing listens at 127.0.0.1:1"},
		{&net.OpError{Op: "proxyconnect", Net: "tcp", Err: refused},
			"the proxy cannot be used: nothing listens at 127.0.0.1:1"},
		{&net.OpError{Op: "proxyconnect", Net: "tcp", Err: unknown},
			"the proxy cannot be used: the name a.example is not known"},
		{os.NewSyscallError("connect", syscall.ENETUNREACH), "there is no network route to b.example:8443"},
		{context.DeadlineExceeded, "b.example:8443 did not answer in time"},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, "b.example:8443 did not answer in time"},
		{io.EOF, "b.example:8443 ended the connection before it answered"},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, "b.example:8443 ended the connection before it answered"},
		{http.ErrSchemeMismatch, "b.example:8443 does not speak TLS"},
		{errors.New("something else"), "b.example:8443: something else"},
	} {
		whole := &url.Error{Op: "Get", URL: "https://b.example:8443/hunter2?key=hunter2", Err: c.err}
		got := Explain(fmt.Errorf("asking: %w", whole))
		if got.Error() != c.want {
			t.Errorf("%v:\n got %q\nwant %q", c.err, got, c.want)
		}
		if !errors.Is(got, c.err) || strings.Contains(got.Error(), "hunter2") {
			t.Errorf("%v: %q lost its cause, or says the path", c.err, got)
		}
	}
	if err := Explain(&url.Error{
		URL: "https://b.example/x", Err: context.Canceled,
	}); err.Error() != "context canceled" ||
		!errors.Is(err, context.Canceled) || Explain(nil) != nil {
		t.Errorf("a canceled request is %v", err)
	}
}

// TestExplainCertificates: certificates that a client does not accept, and answers without TLS.
func TestExplainCertificates(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	safe := httptest.NewTLSServer(http.NotFoundHandler())
	defer safe.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for address, want := range map[string]string{
		safe.URL: "is signed by an authority that is not trusted",
		strings.Replace(plain.URL, "http:", "https:", 1): "does not speak TLS",
	} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = http.DefaultClient.Do(r)
		if got := Explain(err); !strings.Contains(got.Error(), want) {
			t.Errorf("%s: %q does not say %q", address, got, want)
		}
	}
}
