package httpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A visitor is a client of a front over HTTP, legacy if it has a session.
type visitor struct {
	t       testing.TB
	url     string
	http    *http.Client
	header  http.Header
	session string
}

func newVisitor(t testing.TB, url string, transport *http.Transport) *visitor {
	v := &visitor{t: t, url: url, http: &http.Client{Transport: transport}, header: http.Header{}}
	t.Cleanup(transport.CloseIdleConnections)
	return v
}

// visit is a client of the hall with connections of its own.
func (h *fixture) visit(t testing.TB) *visitor {
	return newVisitor(t, "http://"+h.at+"/mcp", &http.Transport{MaxIdleConnsPerHost: 1000})
}

// request sends one; the caller closes the body of the response.
func (v *visitor) request(ctx context.Context, method, body string, header ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, v.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range v.header {
		req.Header[name] = values
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	} else {
		req.Header.Set("Accept", "text/event-stream")
	}
	if v.session != "" {
		req.Header.Set("Mcp-Session-Id", v.session)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return v.http.Do(req)
}

// post sends a message and returns the status and the body of the answer; of a
// stream, the data of its last event.
func (v *visitor) post(message string, header ...string) (int, string, http.Header, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	resp, err := v.request(ctx, http.MethodPost, message, header...)
	if err != nil {
		return 0, "", nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		_, last, _ := strings.Cut(string(text[max(0, strings.LastIndex(string(text), "\ndata: ")):]), "data: ")
		text = []byte(strings.TrimRight(last, "\n"))
	}
	return resp.StatusCode, string(text), resp.Header, err
}

// must is post for what goes well.
func (v *visitor) must(message string, header ...string) string {
	v.t.Helper()
	status, text, _, err := v.post(message, header...)
	if err != nil || status != http.StatusOK && status != http.StatusAccepted {
		v.t.Fatalf("%.100s: %d, %v: %.300s", message, status, err, text)
	}
	return text
}

const greeting = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// greet begins a session.
func (v *visitor) greet() *visitor {
	v.t.Helper()
	status, text, header, err := v.post(greeting)
	v.session = header.Get("Mcp-Session-Id")
	if err != nil || status != http.StatusOK || v.session == "" {
		v.t.Fatalf("%d, %v: %s", status, err, text)
	}
	v.must(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return v
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// modernCall is a modern request that calls a tool, and its headers.
func modernCall(id any, tool, arguments string) (message string, header []string) {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, id, tool, arguments, meta),
		[]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}
}

func legacyCall(id any, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// An event is what a stream has between two empty lines.
type event struct{ kind, id, data string }

// A feed is an open stream.
type feed struct {
	status int
	body   io.ReadCloser
	lines  *bufio.Reader
}

// listen opens the stream of a GET, from an event on if there is one.
func (v *visitor) listen(ctx context.Context, after string) (*feed, error) {
	var header []string
	if after != "" {
		header = []string{"Last-Event-Id", after}
	}
	resp, err := v.request(ctx, http.MethodGet, "", header...)
	if err != nil {
		return nil, err
	}
	return newFeed(resp), nil
}

func newFeed(resp *http.Response) *feed {
	return &feed{resp.StatusCode, resp.Body, bufio.NewReaderSize(resp.Body, 64<<10)}
}

// follow is listen for a stream that there is. It ends with the test.
func (v *visitor) follow(after string) *feed {
	v.t.Helper()
	f, err := v.listen(v.t.Context(), after)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = f.body.Close() })
	if f.status != http.StatusOK {
		v.t.Fatalf("the stream after %q has status %d", after, f.status)
	}
	return f
}

// next is the next event; comments are none.
func (f *feed) next() (e event, err error) {
	for {
		line, err := f.lines.ReadString('\n')
		if err != nil {
			return e, err
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" && e != event{}:
			return e, nil
		case name == "event":
			e.kind = value
		case name == "id":
			e.id = value
		case name == "data":
			e.data = value
		}
	}
}

// raw sends bytes on a connection of its own and returns everything that comes
// back until the front closes it, and how long that took.
func (h *fixture) raw(t testing.TB, text string) (answer string, took time.Duration) {
	t.Helper()
	conn, err := net.Dial("tcp", h.at)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	begun := time.Now()
	_ = conn.SetDeadline(begun.Add(patience))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(conn)
	if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Errorf("the connection stays open behind %.200q", text)
	}
	return string(b), time.Since(begun)
}

// rawRequest is a request as bytes.
func rawRequest(at, body string, header ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", at, len(body))
	for i := 0; i < len(header); i += 2 {
		text.WriteString(header[i] + ": " + header[i+1] + "\r\n")
	}
	return text.String() + "\r\n" + body
}

// succeeds makes a call until it goes well and returns how long that took.
func succeeds(t *testing.T, v *visitor, tool string, size int) time.Duration {
	t.Helper()
	begun := time.Now()
	for i := 0; ; i++ {
		m, header := modernCall(i, tool, `{}`)
		status, text, _, err := v.post(m, header...)
		if err == nil && status == http.StatusOK && len(text) > size {
			return time.Since(begun)
		}
		if time.Since(begun) > 3*time.Minute {
			t.Fatalf("%s: %d, %v: %.300s", tool, status, err, text)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
