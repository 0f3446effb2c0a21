package login

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// patience is how long a test waits for an immediate result.
const patience = 10 * time.Second

// nowhere is an environment without a display.
func nowhere(string) (string, bool) { return "", false }

// desktop is an environment with a browser.
func desktop(name string) (string, bool) {
	if name == "BROWSER" {
		return "/bin/true", true
	}
	return "", false
}

// listening opens a callback on any port.
func listening(t *testing.T, o Options, path string) sdk.Callback {
	t.Helper()
	o.Ports = "0"
	if o.Lookup == nil {
		o.Lookup = desktop
	}
	term, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := term.Callback(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// waiting returns the redirect, or fails after patience.
func waiting(t *testing.T, c sdk.Callback) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	query, err := c.Wait(ctx)
	if err != nil {
		t.Fatalf("waiting: %v", err)
	}
	return query
}

// quiet checks that there is no redirect.
func quiet(t *testing.T, c sdk.Callback) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if query, err := c.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("unexpected redirect: %q, %v", query, err)
	}
}

// get sends a request like a browser.
func get(t *testing.T, method, address string, change func(*http.Request)) (status int, body string, h http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

// TestPageIsComplete: the page is complete although the caller of Wait closes the
// listener at once.
func TestPageIsComplete(t *testing.T) {
	for range 100 {
		c := listening(t, Options{}, "callback")
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			_, _ = c.Wait(t.Context())
			_ = c.Close()
		}()
		if _, body, _ := get(t, "GET", c.URL()+"?code=1", nil); body != pageDone {
			t.Fatalf("the page was %q", body)
		}
		<-closed
	}
}

// TestCallback: each redirect is one answer, and the pages repeat no parameters.
func TestCallback(t *testing.T) {
	c := listening(t, Options{}, "callback")
	if !strings.HasPrefix(c.URL(), "http://127.0.0.1:") || !strings.HasSuffix(c.URL(), "/callback") {
		t.Errorf("URL is %q", c.URL())
	}
	for query, says := range map[string]string{
		"code=s3cret&state=wrong":                      "Back to the terminal",
		"code=s3cret&state=a%2Bb":                      "Back to the terminal",
		"error=access_denied&error_description=s3cret": "The login was not completed",
		"state=x&error=<script>s3cret</script>":        "The login was not completed",
	} {
		status, body, h := get(t, "GET", c.URL()+"?"+query, nil)
		if status != 200 || !strings.Contains(body, says) || strings.Contains(body, "s3cret") ||
			strings.Contains(body, "<script") {
			t.Errorf("%s: %d, %s", query, status, body)
		}
		if h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" ||
			!strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: %v", query, h)
		}
		if got := waiting(t, c); got != query {
			t.Errorf("got %q, want %q", got, query)
		}
	}
	// The answer to a page with another state is refused, and still reaches the plugin, which counts it.
	state := "mine"
	c.(*callback).term.state.Store(&state)
	for query, want := range map[string]int{"code=1&state=mine": 200, "code=1&state=other": 400,
		"code=1": 400, "error=x&state=other": 400} {
		if status, _, _ := get(t, "GET", c.URL()+"?"+query, nil); status != want || waiting(t, c) != query {
			t.Errorf("%s: %d, want %d", query, status, want)
		}
	}
	c.(*callback).term.state.Store(nil)
	local := strings.Replace(c.URL(), "127.0.0.1", "localhost", 1)
	get(t, "GET", c.URL()+"?code=1", func(r *http.Request) {
		r.Host = strings.Split(local, "/")[2]
		r.Header.Set("Sec-Fetch-Dest", "document")
	})
	if got := waiting(t, c); got != "code=1" {
		t.Errorf("by the name of the loopback: %q", got)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, err := c.Wait(t.Context()); sdk.CodeOf(err) != sdk.Canceled {
		t.Errorf("after the end: %v", err)
	}
	if _, err := net.Dial("tcp", strings.Split(c.URL(), "/")[2]); err == nil {
		t.Error("the listener is open after Close")
	}
}

// TestCallbackIgnoresOtherRequests: other requests get 404, and Wait goes on.
func TestCallbackIgnoresOtherRequests(t *testing.T) {
	c := listening(t, Options{}, "/mcp/callback")
	root, _, _ := strings.Cut(c.URL(), "/mcp")
	for _, stray := range []struct {
		method, address string
		change          func(*http.Request)
	}{
		{"GET", root + "/favicon.ico", nil},
		{"GET", root + "/", nil},
		{"GET", root + "/?code=1&state=2", nil},
		{"GET", c.URL(), nil},
		{"GET", c.URL() + "/?code=1", nil},
		{"GET", c.URL() + "x?code=1", nil},
		{"GET", root + "/MCP/callback?code=1", nil},
		{"GET", root + "//mcp/callback?code=1", nil},
		{"GET", root + "/x/../mcp/callback?code=1", nil},
		{"POST", c.URL() + "?code=1", nil},
		{"HEAD", c.URL() + "?code=1", nil},
		{"PUT", c.URL() + "?code=1", nil},
		{"OPTIONS", c.URL() + "?code=1", nil},
		{"GET", c.URL() + "?code=1", func(r *http.Request) { r.Host = "evil.example" }},
		{"GET", c.URL() + "?code=1", func(r *http.Request) { r.Host = "127.0.0.1" }},
		{"GET", c.URL() + "?code=1", func(r *http.Request) { r.Host = "127.0.0.1.evil.example:8085" }},
		{"GET", c.URL() + "?code=1", func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "image") }},
		{"GET", c.URL() + "?code=1", func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "iframe") }},
	} {
		if status, _, _ := get(t, stray.method, stray.address, stray.change); status != http.StatusNotFound {
			t.Errorf("%s %s: %d", stray.method, stray.address, status)
		}
	}
	quiet(t, c)
	get(t, "GET", c.URL()+"?code=2", nil)
	if got := waiting(t, c); got != "code=2" {
		t.Errorf("got %q", got)
	}
}

// TestCallbackAcceptsDefaultPort: browsers and users leave out port 80.
func TestCallbackAcceptsDefaultPort(t *testing.T) {
	c := &callback{term: &Terminal{}, path: "/callback", hosts: [2]string{"127.0.0.1:80", "localhost:80"},
		slots: make(chan struct{}, 3), queries: make(chan string, 3)}
	for host, status := range map[string]int{
		"127.0.0.1": 200, "localhost": 200, "127.0.0.1:80": 200, "evil.example": 404, "127.0.0.1:8080": 404, "": 404,
	} {
		r, w := httptest.NewRequest("GET", "/callback?code=1&state=2", nil), httptest.NewRecorder()
		r.Host = host
		c.ServeHTTP(w, r)
		_, problem := c.read("http://" + host + "/callback?code=1&state=2")
		if w.Code != status || (problem == "") != (status == 200) {
			t.Errorf("%q: %d, %q", host, w.Code, problem)
		}
	}
}

// TestCallbackIgnoresMalformedRequests: these requests come from no browser.
func TestCallbackIgnoresMalformedRequests(t *testing.T) {
	c := listening(t, Options{}, "/callback")
	host := strings.Split(c.URL(), "/")[2]
	for name, request := range map[string]string{
		"a long address": "GET /callback?code=" +
			strings.Repeat("x", 70<<10) + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n",
		"a long header": "GET /callback?code=1 HTTP/1.1\r\nHost: " + host + "\r\nX: " + strings.Repeat("x",
			70<<10) + "\r\n\r\n",
		"no host":                "GET /callback?code=1 HTTP/1.0\r\n\r\n",
		"an absolute address":    "GET http://evil.example/callback?code=1 HTTP/1.1\r\nHost: " + host + "\r\n\r\n",
		"a connection elsewhere": "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
		"no HTTP":                "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(conn, request) // the server may close before it has read all
		line, _ := bufio.NewReader(conn).ReadString('\n')
		if line != "" && !strings.Contains(line, " 4") {
			t.Errorf("%s: %q", name, line)
		}
		_ = conn.Close()
	}
	quiet(t, c)
}

// TestSlowConnectionsDoNotBlock: connections that send nothing, or too slowly, do not
// block other requests.
func TestSlowConnectionsDoNotBlock(t *testing.T) {
	c := listening(t, Options{}, "/callback")
	host := strings.Split(c.URL(), "/")[2]
	for i := range 64 {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET /callback?code=1 HTTP/1.1\r\nHost: x"[:i%30])
	}
	get(t, "GET", c.URL()+"?code=quick", nil)
	if got := waiting(t, c); got != "code=quick" {
		t.Errorf("got %q", got)
	}
	begun := time.Now()
	if err := c.Close(); err != nil || time.Since(begun) > patience/2 {
		t.Errorf("closing took %s, %v", time.Since(begun), err)
	}
}

// TestCallbackLimits: the numbers of connections and of waiting redirects are bounded.
func TestCallbackLimits(t *testing.T) {
	c := listening(t, Options{}, "/callback")
	for i := range maxRedirects + 2 {
		status, _, _ := get(t, "GET", fmt.Sprintf("%s?code=%d", c.URL(), i), nil)
		if want := map[bool]int{true: 200, false: 503}[i < maxRedirects]; status != want {
			t.Errorf("redirect %d: %d", i, status)
		}
	}
	var got []string
	for range maxRedirects {
		got = append(got, waiting(t, c))
	}
	slices.Sort(got) // the answers may be in another order than the requests
	for i, query := range got {
		if query != fmt.Sprintf("code=%d", i) {
			t.Errorf("got %q", got)
		}
	}
	host := strings.Split(c.URL(), "/")[2]
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	for range maxConns + 1 {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn)
	}
	last := conns[maxConns]
	_ = last.SetDeadline(time.Now().Add(patience / 4))
	if _, err := last.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		t.Errorf("one connection too many: %v", err)
	}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// TestBusyPortsAreSkipped: a busy port is skipped. The error names the range if all are
// busy.
func TestBusyPortsAreSkipped(t *testing.T) {
	first, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	port := first.Addr().(*net.TCPAddr).Port
	busy := fmt.Sprint(port)
	term, err := New(Options{Ports: busy})
	if err != nil {
		t.Fatal(err)
	}
	_, err = term.Callback(t.Context(), "/callback")
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok || e.Code != sdk.Unavailable || e.Reason != "callback_ports" ||
		!strings.Contains(e.Message, "port "+busy+" of 127.0.0.1") || e.Hint == "" {
		t.Errorf("got %v", err)
	}
	// Other ports of the range may be busy as well.
	l, err := portRange{port, min(port+20, 65535)}.listen()
	if err != nil {
		t.Skipf("nothing is free behind port %d: %v", port, err)
	}
	if got := l.Addr().(*net.TCPAddr).Port; got <= port || got > port+20 {
		t.Errorf("port %d was taken", got)
	}
	_ = l.Close()
}

// TestCallbackPaths: paths with special characters are rejected.
func TestCallbackPaths(t *testing.T) {
	term, err := New(Options{Ports: "0"})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/a?b", "/a#b", "/a b", "/a%2e", "/\n", "//evil.example/a",
		"/" + strings.Repeat("a", 300)} {
		if c, err := term.Callback(t.Context(), path); sdk.CodeOf(err) != sdk.Invalid {
			t.Errorf("%q: %v", path, err)
			_ = c.Close()
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := term.Callback(ctx, "/a"); !errors.Is(err, context.Canceled) {
		t.Errorf("given up before: %v", err)
	}
}

// TestWaitEnds: Wait ends with its context and with the listener.
func TestWaitEnds(t *testing.T) {
	c := listening(t, Options{}, "/callback")
	quiet(t, c)
	ended := make(chan error, 1)
	go func() {
		_, err := c.Wait(t.Context())
		ended <- err
	}()
	_ = c.Close()
	select {
	case err := <-ended:
		if sdk.CodeOf(err) != sdk.Canceled {
			t.Errorf("got %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Wait does not return")
	}
}

// redirected returns an escaped query with a code and a state.
func redirected(code, state string) string {
	return url.Values{"code": {code}, "state": {state}}.Encode()
}
