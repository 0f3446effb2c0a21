package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A front is a running proxy with a client.
type front struct {
	url    string
	client *http.Client
}

// fronts are the proxies that are tested if they are installed.
var fronts = map[string]func(t *testing.T, backend string) front{"nginx": nginxFront, "caddy": caddyFront}

// TestDeployProxies: the proxies of the recipes stream both directions and pass headers
// on.
func TestDeployProxies(t *testing.T) {
	for name, start := range fronts {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				if name == os.Getenv("JUNCTOR_REQUIRE_PROXY") {
					t.Fatal(err)
				}
				t.Skipf("%s is not installed; its recipe was not run", name)
			}
			b := &backend{events: make(chan string), arrived: make(chan struct{}, 1), gone: make(chan struct{}, 1)}
			server := httptest.NewServer(b)
			f := start(t, strings.TrimPrefix(server.URL, "http://"))
			t.Cleanup(func() {
				server.CloseClientConnections()
				server.Close()
			})
			t.Run("stream", func(t *testing.T) { f.stream(t, b) })
			t.Run("post", func(t *testing.T) { f.post(t) })
			t.Run("sizes", func(t *testing.T) { f.sizes(t) })
			t.Run("upload", func(t *testing.T) { f.upload(t, b) })
			t.Run("once", func(t *testing.T) { f.once(t, b) })
			t.Run("elsewhere", func(t *testing.T) { f.elsewhere(t) })
		})
	}
}

// patience is how long a test waits for an immediate result.
const patience = 20 * time.Second

// A backend is a server in the place of Junctor.
type backend struct {
	events  chan string   // sent when the test asks for it
	arrived chan struct{} // the first bytes of a body arrived
	gone    chan struct{} // a client disconnected
	dropped atomic.Int32
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := http.NewResponseController(w)
	switch {
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		_ = out.Flush()
		for {
			select {
			case e := <-b.events:
				fmt.Fprintf(w, "data: %s\n\n", e)
				_ = out.Flush()
			case <-r.Context().Done():
				b.gone <- struct{}{}
				return
			}
		}
	case r.Header.Get("X-Drop") != "":
		b.dropped.Add(1)
		conn, _, err := out.Hijack()
		if err == nil {
			_ = conn.Close()
		}
	case r.Header.Get("X-Piecewise") != "":
		if _, err := io.ReadFull(r.Body, make([]byte, 5)); err == nil {
			b.arrived <- struct{}{}
		}
		_, _ = io.Copy(io.Discard, r.Body)
	default:
		sum := sha256.New()
		n, _ := io.Copy(sum, r.Body)
		for _, name := range []string{"Origin", "Authorization", "Mcp-Session-Id", "Mcp-Protocol-Version",
			"Last-Event-Id", "X-Forwarded-For"} {
			w.Header().Set("Saw-"+name, r.Header.Get(name))
		}
		w.Header().Set("Saw-Host", r.Host)
		w.Header().Set("Saw-Proto", r.Proto)
		w.Header().Set("Mcp-Session-Id", "s-1")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, `{"bytes":%d,"sum":"%x"}`, n, sum.Sum(nil))
	}
}

func (f front) do(t *testing.T, ctx context.Context, method, path string, body io.Reader,
	header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, f.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "mcp.example.com"
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := f.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// stream: each event, small or larger than any buffer, arrives before the next is sent. The
// server learns that the client disconnected, although no data is sent.
func (f front) stream(t *testing.T, b *backend) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	resp := f.do(t, ctx, http.MethodGet, "/mcp", nil)
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %q", resp.Status, got)
	}
	lines := bufio.NewReader(resp.Body)
	for i := range 50 {
		want := fmt.Sprint(i)
		if i == 25 {
			want = strings.Repeat("x", 1<<20)
		}
		select {
		case b.events <- want:
		case <-ctx.Done():
			t.Fatal("the server does not take the next event")
		}
		line, err := lines.ReadString('\n')
		if err != nil || line != "data: "+want+"\n" {
			t.Fatalf("event %d: %.40q, %v", i, line, err)
		}
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	select {
	case <-b.gone:
	case <-time.After(patience):
		t.Fatal("the server does not learn that the client disconnected")
	}
}

// post: the response and the headers of the request pass unchanged.
func (f front) post(t *testing.T) {
	want := map[string]string{"Origin": "https://app.example.com", "Authorization": "Bearer t", "Mcp-Session-Id": "s-0",
		"Mcp-Protocol-Version": "2025-11-25", "Last-Event-Id": "7"}
	header := []string{"X-Forwarded-For", "10.1.2.3"} // an address of the client's choice
	for name, value := range want {
		header = append(header, name, value)
	}
	resp := f.do(t, t.Context(), http.MethodPost, "/mcp", strings.NewReader("hello"), header...)
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusAccepted || !strings.HasPrefix(string(body), `{"bytes":5,`) ||
		resp.Header.Get("Mcp-Session-Id") != "s-1" {
		t.Errorf("%s, %v, %v: %s", resp.Status, resp.Header, err, body)
	}
	if from := resp.Header.Get("Saw-X-Forwarded-For"); from == "" || strings.Contains(from, header[1]) {
		t.Errorf("the client may choose its address: %q", from)
	}
	want["Host"], want["Proto"] = "mcp.example.com", "HTTP/1.1"
	for name, value := range want {
		if got := resp.Header.Get("Saw-" + name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
}

// sizes: bodies of the default and of the maximum size are accepted.
func (f front) sizes(t *testing.T) {
	for _, size := range []int{0, 1 << 20, 16 << 20} {
		body := make([]byte, size)
		_, _ = rand.Read(body)
		resp := f.do(t, t.Context(), http.MethodPost, "/mcp", bytes.NewReader(body))
		answer, err := io.ReadAll(resp.Body)
		sum := sha256.Sum256(body)
		if want := fmt.Sprintf(`{"bytes":%d,"sum":"%x"}`, size, sum); err != nil || string(answer) != want {
			t.Errorf("%d bytes: %s, %v: %s", size, resp.Status, err, answer)
		}
	}
}

// upload: the beginning of a body arrives before its end is sent.
func (f front) upload(t *testing.T, b *backend) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	read, write := io.Pipe()
	go func() {
		_, _ = write.Write([]byte("begin"))
		select {
		case <-b.arrived:
			_, _ = write.Write([]byte("end"))
			_ = write.Close()
		case <-ctx.Done():
			_ = write.CloseWithError(ctx.Err())
		}
	}()
	if resp := f.do(t, ctx, http.MethodPost, "/mcp", read, "X-Piecewise", "yes"); resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
}

// once: a request whose connection failed is not repeated.
func (f front) once(t *testing.T, b *backend) {
	if resp := f.do(t, t.Context(), http.MethodPost, "/mcp", strings.NewReader("{}"), "X-Drop",
		"yes"); resp.StatusCode != http.StatusBadGateway {
		t.Error(resp.Status)
	}
	if n := b.dropped.Load(); n != 1 {
		t.Errorf("the server saw it %d times", n)
	}
}

// elsewhere: only the endpoint is accessible.
func (f front) elsewhere(t *testing.T) {
	for _, path := range []string{"/", "/mcp/", "/healthz", "/readyz", "/mcp/../readyz",
		"/.well-known/oauth-protected-resource/../../readyz", "/metrics"} {
		if resp := f.do(t, t.Context(), http.MethodPost, path, nil); resp.StatusCode != http.StatusNotFound ||
			resp.Header.Get("Saw-Proto") != "" {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource",
		"/.well-known/oauth-protected-resource/mcp"} {
		if resp := f.do(t, t.Context(), http.MethodPost, path, nil); resp.Header.Get("Saw-Host") != "mcp.example.com" {
			t.Errorf("%s: %s, the host was %q", path, resp.Status, resp.Header.Get("Saw-Host"))
		}
	}
}
