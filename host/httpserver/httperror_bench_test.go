package httpserver

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkRefused is what it costs to refuse a request of an address that asks too
// often, beside a handler that does nothing else.
func BenchmarkRefused(b *testing.B) {
	h := openFixture(b, func(o *Options) { o.PerAddress, o.Loopback = Rate{PerSecond: 0.001, Burst: 1}, true }, newPerformer("a", "2026-07-28"))
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	defer bare.Close()
	for name, at := range map[string]string{"junctor": h.at, "bare": bare.Listener.Addr().String()} {
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
