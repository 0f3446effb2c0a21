package httpserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestConnectionsWithin(t *testing.T) {
	for descriptors, want := range map[int]int{0: 0, 20: 10, 64: 32, 128: 96, 256: 192, 1024: 768, 65536: 61440, 1 << 20: 1<<20 - 4096} {
		if got := connectionsWithin(descriptors); got != want {
			t.Errorf("%d descriptors: %d connections", descriptors, got)
		}
	}
}

// few is a site whose process may have 64 files open.
func few(t *testing.T, config string) *site {
	t.Helper()
	return openSiteAs(t, t.TempDir(), config, "127.0.0.1:0", func(s *site) {
		s.cmd.Args = append([]string{"sh", "-c", `ulimit -n 64; exec "$0" "$@"`, s.cmd.Path}, s.cmd.Args[1:]...)
		s.cmd.Path = "/bin/sh"
	})
}

// TestFewDescriptors: connections leave descriptors for servers, the log says so
// once, and those that nobody uses make room for others.
func TestFewDescriptors(t *testing.T) {
	s := few(t, blocks(t, "", "ok", "ok")+gatewayBlock("    timeouts {\n      header = \"2s\"\n    }"))
	v := s.visit(t)
	succeeds(t, v, "a__echo", 10)

	refused, closed := 0, 0
	var idle []net.Conn
	for range 120 { // they have asked once, and say nothing more
		conn, err := s.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(patience))
		fmt.Fprintf(conn, "GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n", s.at)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		switch {
		case err == nil && resp.StatusCode == http.StatusServiceUnavailable:
			refused++
		case err != nil || resp.StatusCode != http.StatusOK:
			closed++
		}
		idle = append(idle, conn)
	}
	if refused+closed > 20 {
		t.Errorf("%d of 120 idle connections were refused, %d closed", refused, closed)
	}
	succeeds(t, v, "b__echo", 10) // which is started only now
	for _, conn := range idle {
		_ = conn.Close()
	}

	var busy []net.Conn
	for range 120 { // they begin a request
		conn, err := s.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "GET /livez HTTP/1.1\r\nX-A: ")
		busy = append(busy, conn)
	}
	text := ""
	for _, conn := range busy { // those that are refused are told, when the close does not overtake it
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		b, _ := io.ReadAll(conn)
		text += string(b)
	}
	if !strings.Contains(text, "503 Service Unavailable") || !strings.Contains(text, `"reason":"overloaded"`) {
		t.Errorf("nobody is told: %.500q", text)
	}
	s.within("a call after the slow connections", succeeds(t, s.visit(t), "b__echo", 10), 2*time.Second)
	if said := s.said.String(); strings.Count(said, "file descriptor") != 1 {
		t.Errorf("the log says:\n%s", said)
	}
}
