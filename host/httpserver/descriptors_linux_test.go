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

// startWithFewDescriptors starts a process that may have 64 open files.
func startWithFewDescriptors(t *testing.T, config string) *httpProcess {
	t.Helper()
	return startHTTPAs(t, t.TempDir(), config, "127.0.0.1:0", func(s *httpProcess) {
		s.cmd.Args = append([]string{"sh", "-c", `ulimit -n 64; exec "$0" "$@"`, s.cmd.Path}, s.cmd.Args[1:]...)
		s.cmd.Path = "/bin/sh"
	})
}

// TestFewDescriptorsCloseIdleConnections checks that connections leave
// descriptors for servers, that the log reports it once, and that idle
// connections are closed for new ones.
func TestFewDescriptorsCloseIdleConnections(t *testing.T) {
	s := startWithFewDescriptors(t,
		serverBlocks(t, "", "ok", "ok")+gatewayBlock("    timeouts {\n      header = \"2s\"\n    }"))
	v := s.newClient(t)
	succeeds(t, v, "a__echo", 10)

	refused, closed := 0, 0
	var idle []net.Conn
	for range 120 { // one request each, then idle
		conn, err := s.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(testTimeout))
		fmt.Fprintf(conn, "GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n", s.address)
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
	succeeds(t, v, "b__echo", 10) // starts server b
	for _, conn := range idle {
		_ = conn.Close()
	}

	var busy []net.Conn
	for range 120 { // an incomplete request each
		conn, err := s.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, "GET /livez HTTP/1.1\r\nX-A: ")
		busy = append(busy, conn)
	}
	text := ""
	for _, conn := range busy { // refused connections get a response, unless the close overtakes it
		_ = conn.SetReadDeadline(time.Now().Add(testTimeout))
		b, _ := io.ReadAll(conn)
		text += string(b)
	}
	if !strings.Contains(text, "503 Service Unavailable") || !strings.Contains(text, `"reason":"overloaded"`) {
		t.Errorf("refused connections got no 503: %.500q", text)
	}
	s.within("a call after the slow connections", succeeds(t, s.newClient(t), "b__echo", 10), 2*time.Second)
	if said := s.log.String(); strings.Count(said, "file descriptor") != 1 {
		t.Errorf("the log says:\n%s", said)
	}
}
