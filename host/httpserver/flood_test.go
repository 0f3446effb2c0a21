package httpserver

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestPromisedBody: a body takes memory as it comes, not as it was promised.
func TestPromisedBody(t *testing.T) {
	h := openFixture(t, func(o *Options) { o.MaxBody = 16 << 20 })
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const clients = 30
	for range clients {
		conn, err := net.Dial("tcp", h.at)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", h.at, 16<<20)
	}
	for until := time.Now().Add(patience); h.reading.Load() < clients; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("they are not read")
		}
	}
	time.Sleep(100 * time.Millisecond)
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc-before.HeapAlloc) >> 20; grown > 100 {
		t.Errorf("%d clients that sent a byte each hold %d MiB", clients, grown)
	}
}

// TestOldInFlight: a call of a client of 2024-11-05 is in flight until it is
// answered, not until it was taken.
func TestOldInFlight(t *testing.T) {
	t.Parallel()
	a := newPerformer("a", "2025-11-25")
	h := openFixture(t, func(o *Options) { o.MaxInFlight, o.LegacySSE = 3, true }, a)
	says := h.oldVisitor(t)
	for i := range 3 {
		says.must(legacyCall(i, "a__wait", `{}`))
	}
	status, text, header, _ := says.post(legacyCall(3, "a__wait", `{}`))
	refusedFor(t, status, http.StatusServiceUnavailable, header, text, "overloaded")
	for range 3 {
		a.next(t).answer(`{"content":[]}`)
	}
	for until := time.Now().Add(patience); h.inFlight.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d are in flight", h.inFlight.Load())
		}
	}
	says.must(legacyCall(4, "a__echo", `{}`))
}

// TestOldUnread: a client of 2024-11-05 that asks and does not read is not
// answered without a bound.
func TestOldUnread(t *testing.T) {
	t.Parallel()
	h := openFixture(t, func(o *Options) { o.LegacySSE = true }, newPerformer("a", "2025-11-25"))
	stalled := stall(t, h.at)
	fmt.Fprintf(stalled, "GET /sse HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", h.at)
	says := newVisitor(t, "http://"+h.at+"/messages?sessionId="+h.oldID(t), &http.Transport{})
	says.must(greeting)
	taken := 0
	for i := range 100 {
		status, text, header, _ := says.post(legacyCall(i, "a__big", `{"n":1000000}`))
		if status == http.StatusAccepted {
			taken++
		} else {
			refusedFor(t, status, http.StatusServiceUnavailable, header, text, "overloaded")
		}
		for until := time.Now().Add(patience); h.inFlight.Load() > 0 && time.Now().Before(until); {
			time.Sleep(time.Millisecond) // until it has its answer, which is not read
		}
	}
	if taken < 1 || taken > 60 {
		t.Errorf("%d of 100 requests were taken from a client that does not read", taken)
	}
}

// oldVisitor opens the stream of a client of 2024-11-05 and greets; what it returns says
// things.
func (h *fixture) oldVisitor(t *testing.T) *visitor {
	t.Helper()
	v := newVisitor(t, "http://"+h.at+"/sse", &http.Transport{})
	f := v.follow("")
	e, err := f.next()
	if err != nil || e.kind != "endpoint" {
		t.Fatal(e, err)
	}
	says := newVisitor(t, "http://"+h.at+e.data, &http.Transport{})
	says.must(greeting)
	return says
}

// TestRenewedAuthority: a client of an authority that was replaced does not come
// in with what it remembers of an earlier connection.
func TestRenewedAuthority(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ours := newAuthority(t, dir, "ours")
	ours.sign("server", 100)
	other := newAuthority(t, dir, "other")
	other.sign("client", 2)
	path := func(name string) string { return filepath.Join(dir, name) }
	secure, err := NewTLS(Certificates{path("server.pem"), path("server.key"), path("other.pem")}, hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	h := openSecureFixture(t, secure)
	cache := tls.NewLRUClientSessionCache(8)
	come := func() (*http.Response, error) {
		tr := ours.client("client", func(c *tls.Config) { c.ClientSessionCache = cache })
		tr.ForceAttemptHTTP2 = false
		v := newVisitor(t, "https://"+h.at+"/mcp", tr)
		defer tr.CloseIdleConnections()
		resp, err := v.request(t.Context(), http.MethodPost, greeting)
		if err == nil {
			_ = resp.Body.Close()
		}
		return resp, err
	}
	for i := range 2 {
		if resp, err := come(); err != nil || resp.TLS.DidResume != (i > 0) {
			t.Fatalf("connection %d: %+v, %v", i, resp, err)
		}
	}
	// Another authority takes the place of the client's.
	newAuthority(t, dir, "other")
	time.Sleep(lookEvery + 100*time.Millisecond)
	if resp, err := come(); err == nil {
		t.Errorf("still let in, resumed: %t", resp.TLS.DidResume)
	}
}
