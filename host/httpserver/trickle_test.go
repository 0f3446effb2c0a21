package httpserver

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// TestSlowBodyTimesOutEarly checks that a body that arrives a byte at a time
// ends before timeouts.body, and that one at a fair rate does not.
func TestSlowBodyTimesOutEarly(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes ten seconds")
	}
	bar := 2 * bodyGrace
	if soak() {
		bar = 12 * time.Second
	}
	dir := t.TempDir()
	ours := newAuthority(t, dir, "ours")
	ours.sign("server", 2)
	secure, err := NewTLS(Certificates{Cert: filepath.Join(dir, "server.pem"), Key: filepath.Join(dir, "server.key")},
		hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		secure *TLS
		piece  int // every 100 ms
		want   string
	}{"plain": {nil, 1, "408"}, "TLS": {secure, 1, "408"}, "at a fair rate": {nil, 400, "200"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := openFixture(t, nil, newScriptedServer("a", "2026-07-28"))
			var conn net.Conn
			if c.secure != nil {
				h = openSecureFixture(t, c.secure)
			}
			conn, err := net.Dial("tcp", h.address)
			if err != nil {
				t.Fatal(err)
			}
			if c.secure != nil {
				config := ours.client("", nil).TLSClientConfig
				config.NextProtos, config.ServerName = []string{"http/1.1"}, "127.0.0.1"
				conn = tls.Client(conn, config)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(3 * testTimeout))
			size := c.piece * 150 // fifteen seconds
			call, header := modernCall(1, "a__echo", fmt.Sprintf(`{"x":%q}`, strings.Repeat("x", size)))
			text := rawRequest(h.address, call, header...)
			var over atomic.Bool
			begun, sent := time.Now(), make(chan struct{})
			go func() {
				defer close(sent)
				for n := len(text) - len(call); len(text) > 0 && !over.Load(); n = min(c.piece, len(text)) {
					if _, err := io.WriteString(conn, text[:n]); err != nil {
						return
					}
					text = text[n:]
					time.Sleep(100 * time.Millisecond) // the client is slow
				}
			}()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || fmt.Sprint(resp.StatusCode) != c.want {
				t.Fatal(resp, err)
			}
			took := time.Since(begun)
			_, _ = io.Copy(io.Discard, resp.Body)
			over.Store(true)
			<-sent
			fmt.Printf("%-46s %10s  (bar %s)\n", "a body that trickles, "+name, took.Round(time.Millisecond), bar)
			if c.want == "408" && took > bar {
				t.Errorf("the request ended after %s", took)
			}
		})
	}
}
