package httpserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// callFor calls a tool repeatedly for a while and returns the 99th percentile
// of the latency. Every call must succeed.
func callFor(v *testClient, d time.Duration) (p99 time.Duration) {
	v.t.Helper()
	return callToolFor(v, "a__echo", d)
}

// callToolFor is callFor for a tool.
func callToolFor(v *testClient, tool string, d time.Duration) (p99 time.Duration) {
	v.t.Helper()
	var took []time.Duration
	for begun := time.Now(); time.Since(begun) < d || len(took) < 20; {
		m, header := modernCall(len(took), tool, `{}`)
		before := time.Now()
		if text := v.mustPost(m, header...); !strings.Contains(text, fmt.Sprintf(`"id":%d,"result"`, len(took))) {
			v.t.Fatal(text)
		}
		took = append(took, time.Since(before))
		time.Sleep(time.Millisecond) // paces the requests
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// callUnderAttack calls a tool during an attack and compares the latency with
// that without one.
func callUnderAttack(t *testing.T, s *httpProcess, v *testClient, what string, bar time.Duration, mostMiB int,
	d time.Duration, attack func(context.Context)) {
	t.Helper()
	quiet := callFor(v, min(d, 2*time.Second))
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { attack(ctx) })
	p99 := callFor(v, d)
	mib := memoryOf(t, s.cmd.Process.Pid, "VmRSS:") >> 20
	cancel()
	work.Wait()
	t.Logf("p99 %s, quiet %s; %d MiB", p99, quiet, mib)
	s.within(what+": p99", p99, bar)
	if mib > mostMiB {
		t.Errorf("%s: %d MiB", what, mib)
	}
	after := callFor(v, min(d, time.Second))
	s.within(what+": p99 afterwards", after, 20*time.Millisecond)
}

// TestSlowSocketsDoNotDelayOthers has two thousand clients send a byte of a
// header or a body now and then. Those with a body are half as many as
// max_in_flight.
func TestSlowSocketsDoNotDelayOthers(t *testing.T) {
	sockets, d, pause := 200, time.Second, 50*time.Millisecond
	if soak() {
		sockets, d, pause = 2000, time.Minute, time.Second
	}
	s := startHTTP(t, t.TempDir(), serverBlocks(t, "", "ok"), "127.0.0.1:0")
	var sent, closed atomic.Int64
	callUnderAttack(t, s, s.newClient(t), fmt.Sprintf("%d slow sockets", sockets), 50*time.Millisecond, 250, d,
		func(ctx context.Context) {
			var work sync.WaitGroup
			defer work.Wait()
			for i := range sockets {
				work.Go(func() {
					for ctx.Err() == nil {
						sendSlowly(ctx, s, i%8 > 0, pause, &sent)
						closed.Add(1)
					}
				})
			}
		})
	t.Logf("%d bytes were sent one by one, on %d connections", sent.Load(), closed.Load())
	if sent.Load() < int64(sockets) {
		t.Errorf("%d bytes from %d sockets", sent.Load(), sockets)
	}
}

// sendSlowly sends a request byte by byte until the gateway closes the
// connection.
func sendSlowly(ctx context.Context, s *httpProcess, header bool, pause time.Duration, sent *atomic.Int64) {
	conn, err := s.dial(ctx, "", "")
	if err != nil {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		return
	}
	defer func() { _ = conn.Close() }()
	text := "POST /mcp HTTP/1.1\r\nHost: " + s.address + "\r\n"
	if !header {
		text += "Content-Type: application/json\r\nContent-Length: 10000\r\n\r\n{"
		pause *= 2
	}
	for next := []byte(text); ; next = []byte("X") {
		if _, err := conn.Write(next); err != nil {
			return
		}
		sent.Add(1)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// TestRapidResetDoesNotStarveOthers sends HTTP/2 requests and resets them at
// once (CVE-2023-44487), as fast as possible. The attackers use the same
// processors.
func TestRapidResetDoesNotStarveOthers(t *testing.T) {
	clients, d := 2, time.Second
	if soak() {
		d = 20 * time.Second
	}
	dir := t.TempDir()
	ours := newAuthority(t, dir, "ours")
	ours.sign("server", 2)
	s := startHTTP(t, t.TempDir(),
		serverBlocks(t, "", "ok")+gatewayBlock(fmt.Sprintf("    tls {\n      cert = %q\n      key  = %q\n    }",
			filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key"))), "127.0.0.1:0")
	var resets, connections atomic.Int64
	v := newTestClient(t, "https://"+s.address+"/mcp", ours.client("", nil))
	callUnderAttack(t, s, v, fmt.Sprintf("rapid reset by %d clients", clients), 500*time.Millisecond, 200, d,
		func(ctx context.Context) {
			secure := ours.client("", nil).TLSClientConfig
			secure.NextProtos = []string{"h2"}
			var work sync.WaitGroup
			defer work.Wait()
			for range clients {
				work.Go(func() {
					for ctx.Err() == nil {
						resets.Add(resetStreams(ctx, s.address, secure))
						connections.Add(1)
					}
				})
			}
		})
	t.Logf("%d requests were reset, on %d connections", resets.Load(), connections.Load())
	if resets.Load() < 1000 {
		t.Errorf("%d requests were reset", resets.Load())
	}
	m, header := modernCall(1, "a__echo", `{}`)
	resp, err := v.request(t.Context(), http.MethodPost, m, header...)
	if err != nil || resp.ProtoMajor != 2 {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
}

// resetStreams sends and resets requests until the gateway closes the
// connection, and returns their number.
func resetStreams(ctx context.Context, at string, secure *tls.Config) (n int64) {
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: testTimeout}, Config: secure}
	conn, err := dialer.DialContext(ctx, "tcp", at)
	if err != nil {
		return 0
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	body := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, f := range [][2]string{
		{":method", "POST"}, {":scheme", "https"}, {":authority", at}, {":path", "/mcp"},
		{"content-type", "application/json"}, {"content-length", fmt.Sprint(len(body))},
	} {
		// Not indexed, so that it can be sent again unchanged.
		_ = encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: true})
	}
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		_ = conn.Close()
		return 0
	}
	framer := http2.NewFramer(conn, conn)
	_ = framer.WriteSettings()
	var reading sync.WaitGroup
	defer reading.Wait()
	defer func() { _ = conn.Close() }()
	reading.Go(func() { // the frames are discarded, but must not fill the connection
		for {
			if _, err := framer.ReadFrame(); err != nil {
				_ = conn.Close()
				return
			}
		}
	})
	for id := uint32(1); id < 1<<30; id += 2 {
		if framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head.Bytes(),
			EndHeaders: true}) != nil ||
			id%4 == 1 && framer.WriteData(id, true, []byte(body)) != nil ||
			framer.WriteRSTStream(id, http2.ErrCodeCancel) != nil {
			return n
		}
		n++
	}
	return n
}
