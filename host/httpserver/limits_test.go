package httpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// expectRetryable expects an error with Retry-After.
func expectRetryable(t *testing.T, status, want int, header http.Header, text, reason string) {
	t.Helper()
	seconds, err := strconv.Atoi(header.Get("Retry-After"))
	if status != want || err != nil || seconds < 1 || !strings.Contains(text, `"reason":"`+reason+`"`) {
		t.Errorf("%d, Retry-After %q: %s", status, header.Get("Retry-After"), text)
	}
}

// TestMaxInFlight checks that the 501st call is refused, until another call
// ends.
func TestMaxInFlight(t *testing.T) {
	t.Parallel()
	a := newScriptedServer("a", "2026-07-28")
	h := openFixture(t, nil, a)
	v := h.newClient(t)
	var work sync.WaitGroup
	defer work.Wait()
	for i := range 500 {
		work.Go(func() {
			m, header := modernCall(i, "a__wait", `{}`)
			if status, text, _, err := v.post(m, header...); status != http.StatusOK || err != nil ||
				!strings.Contains(text, fmt.Sprintf(`"id":%d,`, i)) {
				t.Errorf("%d, %v: %s", status, err, text)
			}
		})
	}
	var waiting []pendingCall
	for range 500 {
		waiting = append(waiting, a.nextCall(t))
	}
	m, header := modernCall(500, "a__echo", `{}`)
	status, text, got, _ := v.post(m, header...)
	expectRetryable(t, status, http.StatusServiceUnavailable, got, text, "overloaded")
	if !strings.Contains(text, "-31011") {
		t.Error(text)
	}
	if status, text, got, _ = v.post(initializeRequest); !strings.Contains(text, "-32000") {
		t.Error(text)
	}
	expectRetryable(t, status, http.StatusServiceUnavailable, got, text, "overloaded")
	waiting[0].answer(`{"content":[]}`)
	eventually.NoError(t, func() error {
		if status, text, _, err := v.post(m, header...); status != http.StatusOK {
			return fmt.Errorf("%d, %w: %s", status, err, text)
		}
		return nil
	})
	for _, w := range waiting[1:] {
		w.answer(`{"content":[]}`)
	}
}

// TestListenersHaveTheirOwnLimit checks that listeners do not count as in
// flight, and are limited to the number of sessions.
func TestListenersHaveTheirOwnLimit(t *testing.T) {
	t.Parallel()
	h := openFixture(t, func(o *Options) { o.MaxInFlight, o.Sessions.Max = 2, 4 }, newScriptedServer("a", "2026-07-28"))
	v := h.newClient(t)
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` +
		meta + `}}`
	header := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 4 {
		resp, err := v.request(ctx, http.MethodPost, listen, header...)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		defer func() { _ = resp.Body.Close() }()
	}
	m, callHeader := modernCall(1, "a__echo", `{}`)
	v.mustPost(m, callHeader...)
	status, text, got, _ := v.post(listen, header...)
	expectRetryable(t, status, http.StatusServiceUnavailable, got, text, "overloaded")
	cancel()
	eventually.NoError(t, func() error {
		if h.listening.Used()+h.inFlight.Used() > 0 {
			return fmt.Errorf("%d listeners are counted", h.listening.Used())
		}
		return nil
	})
}

// TestMaxSessions checks that the 1001st session is refused, until another one
// ends.
func TestMaxSessions(t *testing.T) {
	t.Parallel()
	h := openFixture(t, nil)
	v := h.newClient(t)
	var ids []string
	for i := range 1000 {
		status, text, header, err := v.post(initializeRequest, "Mcp-Session-Id", "mine")
		if err != nil || status != http.StatusOK {
			t.Fatalf("session %d: %d, %v: %s", i, status, err, text)
		}
		ids = append(ids, header.Get("Mcp-Session-Id"))
	}
	seen := map[string]bool{"mine": true, "": true}
	for _, id := range ids {
		if seen[id] {
			t.Fatalf("the session id %q was issued twice", id)
		}
		seen[id] = true
	}
	status, text, header, _ := v.post(initializeRequest)
	expectRetryable(t, status, http.StatusServiceUnavailable, header, text, "overloaded")
	v.session = ids[7]
	v.mustPost(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if resp, err := v.request(t.Context(), http.MethodDelete, ""); err != nil ||
		resp.StatusCode != http.StatusNoContent {
		t.Fatal(resp, err)
	}
	v.session = ""
	v.mustPost(initializeRequest)
}

// TestRateLimitPerAddress checks that an address above its rate must wait, and
// that others need not.
func TestRateLimitPerAddress(t *testing.T) {
	t.Parallel()
	h := openFixture(t, func(o *Options) { o.PerAddress, o.Loopback = Rate{PerSecond: 2, Burst: 5}, true })
	v := h.newClient(t)
	refused := 0
	for range 20 {
		status, text, header, err := v.post(initializeRequest)
		switch {
		case err != nil:
			t.Fatal(err)
		case status == http.StatusTooManyRequests:
			refused++
			expectRetryable(t, status, http.StatusTooManyRequests, header, text, "rate_limited")
		}
	}
	if refused < 5 {
		t.Errorf("only %d requests were refused", refused)
	}
	resp, err := v.http.Get("http://" + h.address + "/healthz")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Error("health checks are limited too", err)
	}
	_ = resp.Body.Close()
	eventually.NoError(t, func() error {
		if status, _, _, err := v.post(initializeRequest); err != nil || status != http.StatusOK {
			return fmt.Errorf("the address still has to wait: %d, %w", status, err)
		}
		return nil
	})
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	a, limit := newAddressLimiter(), Rate{PerSecond: 0.001, Burst: 1}
	for _, c := range []struct {
		from string
		want bool
	}{
		{"192.0.2.1:1", true}, {"192.0.2.1:2", false}, {"[::ffff:192.0.2.1]:3", false}, {"192.0.2.2:1", true},
		{"[2001:db8::1]:1", true}, {"[2001:db8::2]:1", false}, {"[2001:db8:0:1::1]:1", true},
		{"[fe80::1%eth0]:1", true}, {"[fe80::1%eth1]:1", false},
		{"127.0.0.1:1", true}, {"127.0.0.1:1", true}, {"[::1]:1", true}, {"[::1]:1", true}, {"@", true}, {"@", true},
	} {
		if wait, ok := a.allow(c.from, limit, false); ok != c.want || !ok && wait < time.Minute {
			t.Errorf("%s: %s, %t", c.from, wait, ok)
		}
	}
	for i := range maxAddresses + 10 {
		a.allow(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255), limit, false)
	}
	if n := a.seen.Len(); n != maxAddresses {
		t.Errorf("%d addresses are remembered", n)
	}
}

// TestRefusedCallsHaveRetryAfter checks that a call above a limit of calls has the header
// Retry-After beside retry_after_ms, unless its answer is a stream already.
func TestRefusedCallsHaveRetryAfter(t *testing.T) {
	t.Parallel()
	every := func(string, string) bool { return true }
	for name, c := range map[string]struct {
		rule   limit.ToolRule
		accept string
		want   string
	}{
		"rate":              {limit.ToolRule{Rate: 0.4, Burst: 1}, "application/json, text/event-stream", "3"},
		"rate, JSON only":   {limit.ToolRule{Rate: 0.4, Burst: 1}, "application/json", "3"},
		"rate, stream only": {limit.ToolRule{Rate: 0.4, Burst: 1}, "text/event-stream", "3"},
		"concurrency":       {limit.ToolRule{Concurrent: 1}, "application/json, text/event-stream", "1"},
		"concurrency, after 1.5s": {limit.ToolRule{Concurrent: 1, Wait: 1500 * time.Millisecond},
			"application/json, text/event-stream", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newScriptedServer("a", "2026-07-28")
			h := openFixture(t, nil, a)
			c.rule.Match = every
			h.tools.SetRules([]limit.ToolRule{c.rule})
			modern, legacy := h.newClient(t), h.newClient(t).initialize()
			var work sync.WaitGroup
			first, header := modernCall(1, "a__wait", `{}`)
			work.Go(func() { _, _, _, _ = modern.post(first, header...) })
			held := a.nextCall(t)
			second, header := modernCall(2, "a__wait", `{}`)
			for era, call := range map[string]func() (int, string, http.Header, error){
				"modern": func() (int, string, http.Header, error) {
					return modern.post(second, append(header, "Accept", c.accept)...)
				},
				"legacy": func() (int, string, http.Header, error) {
					return legacy.post(legacyCall(2, "a__wait", `{}`), "Accept", c.accept)
				},
			} {
				status, text, got, err := call()
				if err != nil || status != http.StatusOK || got.Get("Retry-After") != c.want ||
					!strings.Contains(text, `"retry_after_ms":`) {
					t.Errorf("%s: %d, Retry-After %q, %v: %s", era, status, got.Get("Retry-After"), err, text)
				}
			}
			held.answer(`{"content":[]}`)
			work.Wait()
		})
	}
}

// TestManyAddressesTakeLittleMemory limits a million addresses, and calls of tools by
// 60 000 tenants, and measures what they keep: 64 MiB at most.
func TestManyAddressesTakeLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	a, tools := newAddressLimiter(), limit.NewTools(hclog.NewNullLogger())
	tools.SetRules([]limit.ToolRule{{Match: func(string, string) bool { return true }, Rate: 1, Burst: 2,
		Concurrent: 2}})
	before := heapInUse()
	for i := range 1_000_000 {
		a.allow(fmt.Sprintf("[2001:db8:%x:%x::1]:1", i>>16, i&0xffff), Rate{60, 120}, false)
	}
	for i := range 60_000 {
		leave, err := tools.Acquire(t.Context(),
			limit.Call{Tenant: fmt.Sprintf("tenant-%d", i), Server: "server", Tool: "tool"})
		if err != nil {
			t.Fatal(err)
		}
		leave()
	}
	kept := heapInUse() - before
	t.Logf("%.1f MiB are kept", float64(kept)/(1<<20))
	if kept > 64<<20 {
		t.Errorf("%d bytes are kept", kept)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(tools)
}

// heapInUse returns the bytes of live objects.
func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestIncompleteRequestsTimeOut sends requests that stop at every stage.
func TestIncompleteRequestsTimeOut(t *testing.T) {
	t.Parallel()
	const short = 300 * time.Millisecond
	h := openFixture(t, func(o *Options) { o.Header, o.Body, o.MaxBody, o.Auth = short, short, 1<<10, newTestTokens() })
	head := "POST /mcp HTTP/1.1\r\nHost: " + h.address + "\r\nAuthorization: Bearer " + aliceToken + "\r\n"
	json := head + "Content-Type: application/json\r\n"
	for name, c := range map[string]struct{ text, want string }{
		"nothing":         {"", ""},
		"a line":          {"POST /mcp HT", ""},
		"a header":        {"POST /mcp HTTP/1.1\r\nHost: x\r\nX-A: ", ""},
		"no body":         {json + "Content-Length: 10\r\n\r\n", " 408 "},
		"half a body":     {json + "Content-Length: 100\r\n\r\n{\"jsonrpc\":", " 408 "},
		"no chunk":        {json + "Transfer-Encoding: chunked\r\n\r\n", " 408 "},
		"half a chunk":    {json + "Transfer-Encoding: chunked\r\n\r\n20\r\n{", " 408 "},
		"a chunk of many": {json + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", " 408 "},
		"too large":       {json + "Content-Length: 2000\r\n\r\n{", " 413 "},
		"much too large":  {json + "Content-Length: 2000000000\r\n\r\n{", " 413 "},
		"too large a chunk": {json + "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + strings.Repeat(" ", 1500),
			" 413 "},
		"of another type":       {head + "Content-Type: text/plain\r\nContent-Length: 100\r\n\r\n{", " 415 "},
		"with an unknown token": {strings.Replace(json, aliceToken, "x", 1) + "Content-Length: 100\r\n\r\n{", " 401 "},
		"from an evil page":     {json + "Origin: null\r\nContent-Length: 100\r\n\r\n{", " 403 "},
		"to an unknown path":    {strings.Replace(json, "/mcp", "/x", 1) + "Content-Length: 100\r\n\r\n{", " 404 "},
		"with another method":   {strings.Replace(json, "POST", "PUT", 1) + "Content-Length: 100\r\n\r\n{", " 405 "},
		"for health": {strings.Replace(json, "POST /mcp", "GET /healthz", 1) + "Content-Length: 100\r\n\r\n{",
			" 200 "},
		"to end a session": {strings.Replace(json, "POST", "DELETE", 1) + "Content-Length: 100\r\n\r\n{", " 400 "},
		"too many header lines": {head + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 30) + "\r\n",
			" 431 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, took := h.sendRaw(t, c.text)
			status, _, _ := strings.Cut(answer, "\r\n")
			if !strings.Contains(status, c.want) || c.want == "" && answer != "" {
				t.Errorf("status %q, want %q", status, c.want)
			}
			if took > short+testTimeout/2 {
				t.Errorf("closing the connection took %s", took)
			}
		})
	}
}

// BenchmarkRefused measures the refusal of a request above the rate of its
// address, beside a handler that does nothing.
func BenchmarkRefused(b *testing.B) {
	h := openFixture(b, func(o *Options) { o.PerAddress, o.Loopback = Rate{PerSecond: 0.001, Burst: 1}, true },
		newScriptedServer("a", "2026-07-28"))
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer bare.Close()
	for name, at := range map[string]string{"junctor": h.address, "bare": bare.Listener.Addr().String()} {
		b.Run(name, func(b *testing.B) {
			conn, err := net.Dial("tcp", at)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			m, header := modernCall(1, "a__echo", `{}`)
			request, in := rawRequest(at, m, header...), bufio.NewReader(conn)
			for b.Loop() {
				if _, err := io.WriteString(conn, request); err != nil {
					b.Fatal(err)
				}
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
			}
		})
	}
}
