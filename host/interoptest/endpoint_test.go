package interoptest

import (
	"regexp"
	"syscall"
	"time"
)

// An endpoint is a running junctor serve --http.
type endpoint struct {
	*process
	site *site
	url  string // of /mcp
}

// serving is how it says where it listens.
var serving = regexp.MustCompile(`serving over HTTP: address=(\S+)`)

// serveHTTP starts junctor serve --http at a port that the system chooses. The
// test's end ends it, in order, after which nothing may be left.
func (s *site) serveHTTP() *endpoint {
	s.t.Helper()
	e := &endpoint{process: launch(s.t, s.command("serve", "--http=127.0.0.1:0", "--log", "info")), site: s}
	s.t.Cleanup(e.finish)
	for until := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if found := serving.FindStringSubmatch(e.stderr.String()); found != nil {
			e.url = "http://" + found[1] + "/mcp"
			return e
		}
		select {
		case <-e.exited:
			s.t.Fatalf("junctor serve --http ended: %s", e.stderr)
		default:
		}
		if time.Now().After(until) {
			s.t.Fatalf("junctor serve --http does not listen: %s", e.stderr)
		}
	}
}

// finish ends the endpoint as a service is ended.
func (e *endpoint) finish() {
	e.t.Helper()
	_ = e.cmd.Process.Signal(syscall.SIGTERM)
	if status := e.wait(); status != 0 {
		e.t.Errorf("junctor serve --http: exit status %d after SIGTERM, want 0", status)
	}
	noneLeft(e.t, func() []string { return append(marked(e.cmd.Process.Pid), e.site.running()...) })
}
