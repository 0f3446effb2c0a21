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

// A testClient is an HTTP client of a Server. It is legacy if it has a session.
type testClient struct {
	t       testing.TB
	url     string
	http    *http.Client
	header  http.Header
	session string
}

func newTestClient(t testing.TB, url string, transport *http.Transport) *testClient {
	v := &testClient{t: t, url: url, http: &http.Client{Transport: transport}, header: http.Header{}}
	t.Cleanup(transport.CloseIdleConnections)
	return v
}

// newClient returns a client with its own connections.
func (h *fixture) newClient(t testing.TB) *testClient {
	return newTestClient(t, "http://"+h.address+"/mcp", &http.Transport{MaxIdleConnsPerHost: 1000})
}

// request sends a request. The caller closes the body of the response.
func (v *testClient) request(ctx context.Context, method, body string, header ...string) (*http.Response, error) {
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

// post sends a message. It returns the status and the body, or the data of the
// last event of a stream.
func (v *testClient) post(message string, header ...string) (int, string, http.Header, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*testTimeout)
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

// mustPost is post for a message that must succeed.
func (v *testClient) mustPost(message string, header ...string) string {
	v.t.Helper()
	status, text, _, err := v.post(message, header...)
	if err != nil || status != http.StatusOK && status != http.StatusAccepted {
		v.t.Fatalf("%.100s: %d, %v: %.300s", message, status, err, text)
	}
	return text
}

const initializeRequest = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// initialize begins a session.
func (v *testClient) initialize() *testClient {
	v.t.Helper()
	status, text, header, err := v.post(initializeRequest)
	v.session = header.Get("Mcp-Session-Id")
	if err != nil || status != http.StatusOK || v.session == "" {
		v.t.Fatalf("%d, %v: %s", status, err, text)
	}
	v.mustPost(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return v
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// modernCall returns a modern tool call and its headers.
func modernCall(id any, tool, arguments string) (message string, header []string) {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, id,
			tool, arguments, meta),
		[]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}
}

func legacyCall(id any, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id,
		tool, arguments)
}

// An event is one event of a stream.
type event struct{ kind, id, data string }

// An eventReader reads an open stream.
type eventReader struct {
	status int
	body   io.ReadCloser
	lines  *bufio.Reader
}

// listen opens the stream of a GET, after an event if one is given.
func (v *testClient) listen(ctx context.Context, after string) (*eventReader, error) {
	var header []string
	if after != "" {
		header = []string{"Last-Event-Id", after}
	}
	resp, err := v.request(ctx, http.MethodGet, "", header...)
	if err != nil {
		return nil, err
	}
	return newEventReader(resp), nil
}

func newEventReader(resp *http.Response) *eventReader {
	return &eventReader{resp.StatusCode, resp.Body, bufio.NewReaderSize(resp.Body, 64<<10)}
}

// mustListen is listen for a stream that must open. The stream ends with the
// test.
func (v *testClient) mustListen(after string) *eventReader {
	v.t.Helper()
	f, err := v.listen(v.t.Context(), after)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = f.body.Close() })
	if f.status != http.StatusOK {
		v.t.Fatalf("opening the stream after %q: status %d", after, f.status)
	}
	return f
}

// next returns the next event and skips comments.
func (f *eventReader) next() (e event, err error) {
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

// sendRaw sends bytes on a new connection. It returns everything until the
// server closes the connection, and the time that took.
func (h *fixture) sendRaw(t testing.TB, text string) (answer string, took time.Duration) {
	t.Helper()
	conn, err := net.Dial("tcp", h.address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	begun := time.Now()
	_ = conn.SetDeadline(begun.Add(testTimeout))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(conn)
	if e, ok := err.(net.Error); ok && e.Timeout() {
		t.Errorf("the connection stays open after %.200q", text)
	}
	return string(b), time.Since(begun)
}

// rawRequest returns a request as bytes.
func rawRequest(at, body string, header ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n",
		at, len(body))
	for i := 0; i < len(header); i += 2 {
		text.WriteString(header[i] + ": " + header[i+1] + "\r\n")
	}
	return text.String() + "\r\n" + body
}

// succeeds repeats a call until it succeeds, and returns how long that took.
func succeeds(t *testing.T, v *testClient, tool string, size int) time.Duration {
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
		time.Sleep(100 * time.Millisecond) // so that a gateway without memory is not flooded
	}
}
