package console

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// partial opens a connection and sends the beginning of a request on it.
func (s *site) partial(t *testing.T, head string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, strings.ReplaceAll(head, "HOST", s.http.Listener.Addr().String())); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSlowBodiesTakeNoPlaces sends many requests whose bodies do not arrive, of clients
// that have not signed in. Others sign in and use the console meanwhile.
func TestSlowBodiesTakeNoPlaces(t *testing.T) {
	const head = "POST %s HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ntoken="
	for _, path := range []string{"/login", "/", "/s/x/servers", "/open", "/no"} {
		t.Run(path, func(t *testing.T) {
			s := newSite(t, newFake(), nil)
			admin := s.browser(t)
			admin.signIn("token-of-alice")
			for range 2 * maxBusy {
				s.partial(t, fmt.Sprintf(head, path))
			}
			eventually.True(t, "the requests have arrived", func() bool {
				return path != "/login" || s.console.arriving.count() >= 2*maxBusy
			})
			if resp, _ := admin.do(http.MethodGet, admin.base+"servers", nil, nil); resp.StatusCode != http.StatusOK {
				t.Errorf("a page: %s", resp.Status)
			}
			if resp, _ := s.browser(t).do(http.MethodGet, "/", nil, nil); resp.StatusCode != http.StatusOK {
				t.Errorf("the front page: %s", resp.Status)
			}
			if resp, _ := s.browser(t).do(http.MethodPost, "/login", url.Values{"token": {"token-of-bob"}},
				nil); resp.StatusCode != http.StatusSeeOther {
				t.Errorf("a sign-in: %s", resp.Status)
			}
		})
	}
}

// TestOldestSignInIsNotWaitedFor checks that the number of bodies that arrive is bounded,
// and that the oldest of them makes way.
func TestOldestSignInIsNotWaitedFor(t *testing.T) {
	const head = "POST /login HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 18\r\n\r\n"
	s := newSite(t, newFake(), nil)
	var conns []net.Conn
	for n := range maxArriving + 1 {
		conns = append(conns, s.partial(t, head))
		eventually.True(t, fmt.Sprintf("request %d has arrived", n), func() bool {
			return s.console.arriving.count() >= min(n+1, maxArriving)
		})
	}
	_ = conns[0].SetReadDeadline(time.Now().Add(20 * time.Second))
	if text, err := io.ReadAll(conns[0]); err != nil || strings.Contains(string(text), "Set-Cookie") {
		t.Errorf("the oldest: %q, %v", text, err)
	}
	last := conns[maxArriving]
	_, _ = io.WriteString(last, "token=token-of-bob")
	_ = last.SetReadDeadline(time.Now().Add(20 * time.Second))
	line := make([]byte, len("HTTP/1.1 303"))
	if _, err := io.ReadFull(last, line); err != nil || string(line) != "HTTP/1.1 303" {
		t.Errorf("the newest: %q, %v", line, err)
	}
}

// count returns the number of bodies that are being read.
func (a *arriving) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.all)
}
