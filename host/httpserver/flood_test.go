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

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestAnnouncedBodyTakesNoMemory checks that a body takes memory when it
// arrives, not when Content-Length announces it.
func TestAnnouncedBodyTakesNoMemory(t *testing.T) {
	h := openFixture(t, func(o *Options) { o.MaxBody = 16 << 20 })
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const clients = 30
	for range clients {
		conn, err := net.Dial("tcp", h.address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		fmt.Fprintf(conn,
			"POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{",
			h.address, 16<<20)
	}
	eventually.True(t, "the bodies are being read", func() bool { return h.reading.Load() >= clients })
	time.Sleep(100 * time.Millisecond) // in which memory for the announced bodies would be allocated
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc-before.HeapAlloc) >> 20; grown > 100 {
		t.Errorf("%d clients that sent a byte each hold %d MiB", clients, grown)
	}
}

// TestLegacySSECallCountsUntilItsAnswer checks that a call over HTTP+SSE
// (2024-11-05) is in flight until it is answered, not until it is accepted.
func TestLegacySSECallCountsUntilItsAnswer(t *testing.T) {
	t.Parallel()
	a := newScriptedServer("a", "2025-11-25")
	h := openFixture(t, func(o *Options) { o.MaxInFlight, o.LegacySSE = 3, true }, a)
	says := h.newLegacyClient(t)
	for i := range 3 {
		says.mustPost(legacyCall(i, "a__wait", `{}`))
	}
	status, text, header, _ := says.post(legacyCall(3, "a__wait", `{}`))
	expectRetryable(t, status, http.StatusServiceUnavailable, header, text, "overloaded")
	for range 3 {
		a.nextCall(t).answer(`{"content":[]}`)
	}
	eventually.NoError(t, func() error {
		if n := h.inFlight.Used(); n > 0 {
			return fmt.Errorf("%d requests are in flight", n)
		}
		return nil
	})
	says.mustPost(legacyCall(4, "a__echo", `{}`))
}

// TestLegacySSEClientMustReadItsAnswers checks that requests of a client over
// HTTP+SSE that does not read its answers are refused.
func TestLegacySSEClientMustReadItsAnswers(t *testing.T) {
	t.Parallel()
	h := openFixture(t, func(o *Options) { o.LegacySSE = true }, newScriptedServer("a", "2025-11-25"))
	stalled := dialWithSmallBuffer(t, h.address)
	fmt.Fprintf(stalled, "GET /sse HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", h.address)
	says := newTestClient(t, "http://"+h.address+"/messages?sessionId="+h.legacyID(t), &http.Transport{})
	says.mustPost(initializeRequest)
	taken := 0
	for i := range 100 {
		status, text, header, _ := says.post(legacyCall(i, "a__big", `{"n":1000000}`))
		if status == http.StatusAccepted {
			taken++
		} else {
			expectRetryable(t, status, http.StatusServiceUnavailable, header, text, "overloaded")
		}
		eventually.True(t, "the request is answered", func() bool { return h.inFlight.Used() == 0 })
	}
	if taken < 1 || taken > 60 {
		t.Errorf("%d of 100 requests of a client that does not read were accepted", taken)
	}
}

// newLegacyClient opens the stream of a client over HTTP+SSE and initializes
// it. It returns a client that posts messages.
func (h *fixture) newLegacyClient(t *testing.T) *testClient {
	t.Helper()
	return h.newLegacyClientAs(t, "")
}

// newLegacyClientAs is newLegacyClient with a token, unless it is empty.
func (h *fixture) newLegacyClientAs(t *testing.T, token string) *testClient {
	t.Helper()
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	v := newTestClient(t, "http://"+h.address+"/sse", &http.Transport{})
	v.header = header
	f := v.mustListen("")
	e, err := f.next()
	if err != nil || e.kind != "endpoint" {
		t.Fatal(e, err)
	}
	says := newTestClient(t, "http://"+h.address+e.data, &http.Transport{})
	says.header = header
	says.mustPost(initializeRequest)
	return says
}

// TestReplacedClientCARefusesResumption checks that a client of a replaced
// client CA cannot connect with a TLS session of an earlier connection.
func TestReplacedClientCARefusesResumption(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ours := newAuthority(t, dir, "ours")
	ours.sign("server", 100)
	other := newAuthority(t, dir, "other")
	other.sign("client", 2)
	path := func(name string) string { return filepath.Join(dir, name) }
	secure, err := NewTLS(Certificates{Cert: path("server.pem"), Key: path("server.key"), ClientCA: path("other.pem")},
		hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	h := openSecureFixture(t, secure)
	cache := tls.NewLRUClientSessionCache(8)
	come := func() (*http.Response, error) {
		tr := ours.client("client", func(c *tls.Config) { c.ClientSessionCache = cache })
		tr.ForceAttemptHTTP2 = false
		v := newTestClient(t, "https://"+h.address+"/mcp", tr)
		defer tr.CloseIdleConnections()
		resp, err := v.request(t.Context(), http.MethodPost, initializeRequest)
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
	// The client CA is replaced.
	newAuthority(t, dir, "other")
	eventually.NoError(t, func() error {
		if resp, err := come(); err == nil {
			return fmt.Errorf("the client is still accepted, resumed: %t", resp.TLS.DidResume)
		}
		return nil
	})
}
