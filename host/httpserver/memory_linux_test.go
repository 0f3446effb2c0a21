package httpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// maxMiB is what junctor may use with the default of max_memory, in MiB.
const maxMiB = 512

// checkPeak expects that the process never exceeded its limit.
func (s *httpProcess) checkPeak(what string, mib int) {
	s.t.Helper()
	got := memoryOf(s.t, s.cmd.Process.Pid, "VmHWM:") >> 20
	fmt.Printf("%-46s %6d MiB  (bar %d MiB)\n", what, got, mib)
	if got > mib {
		s.t.Errorf("%s: %d MiB, want at most %d", what, got, mib)
	}
}

// connectWithoutReading sends requests whose answers are not read.
func connectWithoutReading(t *testing.T, s *httpProcess, clients int, request func(i int) string) []net.Conn {
	t.Helper()
	var all []net.Conn
	for i := range clients {
		conn, err := s.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(3 * time.Minute))
		if _, err := io.WriteString(conn, request(i)); err != nil {
			t.Fatal(err)
		}
		all = append(all, conn)
	}
	return all
}

// TestMemoryWithUnreadAnswers checks that clients that do not read large
// answers take a bounded amount of memory and do not delay other clients.
func TestMemoryWithUnreadAnswers(t *testing.T) {
	clients := 40
	if soak() {
		clients = 100
	}
	for name, header := range map[string][]string{"json": {"Accept", "application/json"},
		"stream": {"Accept", "text/event-stream"}} {
		t.Run(name, func(t *testing.T) {
			s := startHTTP(t, t.TempDir(), serverBlocks(t, "", "bigline 15", "ok", "biglast 15"), "127.0.0.1:0")
			v := s.newClient(t)
			succeeds(t, v, "a__bad", 15<<20)
			succeeds(t, v, "b__echo", 10)
			succeeds(t, v, "c__bad", 15<<20)
			connectWithoutReading(t, s, clients, func(i int) string {
				m, more := modernCall(i, [...]string{"a__bad", "c__bad"}[i%2], `{}`)
				return rawRequest(s.address, m, append(more, header...)...)
			})
			s.within(fmt.Sprintf("%s: small calls beside %d unread answers", name, clients),
				callFor(v, 5*time.Second), time.Second)
			s.within(name+": a large answer again", succeeds(t, v, "a__bad", 15<<20), 10*time.Second)
			s.checkPeak(fmt.Sprintf("%s: memory with %d unread answers", name, clients), maxMiB)
			if !strings.Contains(s.log.String(), "serving over HTTP") {
				t.Error(s.log.String())
			}
		})
	}
}

// TestAnswerAboveTheMemoryBecomesAnError checks that a request gets an error if
// its answer does not fit, also if the id is the last member. The server must
// keep running.
func TestAnswerAboveTheMemoryBecomesAnError(t *testing.T) {
	s := startHTTP(t, t.TempDir(),
		"gateway {\n  max_memory = \"128MiB\"\n}\n"+serverBlocks(t, "", "bigline 15", "biglast 15"), "127.0.0.1:0")
	v := s.newClient(t)
	succeeds(t, v, "a__bad", 15<<20)
	conns := connectWithoutReading(t, s, 12, func(i int) string {
		m, more := modernCall(i, [...]string{"a__bad", "b__bad"}[i%2], `{}`)
		return rawRequest(s.address, m, append(more, "Accept", "application/json")...)
	})
	whole, refused := 0, 0
	time.Sleep(2 * time.Second) // without reading
	for i, conn := range conns {
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		switch {
		case err == nil && len(text) > 15<<20:
			whole++
		case err == nil && strings.Contains(string(text), `"code":-31011`) &&
			strings.Contains(string(text), `"reason":"overloaded"`) &&
			strings.Contains(string(text), `"code":"gateway.overloaded"`) &&
			strings.Contains(string(text), fmt.Sprintf(`"id":%d`, i)):
			refused++
		default:
			t.Errorf("%v: %.300s", err, text)
		}
	}
	if whole < 2 || refused < 2 {
		t.Errorf("%d answers, %d refused", whole, refused)
	}
	succeeds(t, v, "b__bad", 15<<20)
	s.checkPeak("memory with 128 MiB", 128)
}

// TestMemoryWithBodiesAndLogs combines large incomplete bodies, unread answers
// in event logs, and notifications.
func TestMemoryWithBodiesAndLogs(t *testing.T) {
	clients := 40
	if soak() {
		clients = 100
	}
	s := startHTTP(t, t.TempDir(),
		serverBlocks(t, "", "bigline 15", "ok", "modern-bigline 15")+gatewayBlock(`    max_body = "16MiB"`),
		"127.0.0.1:0")
	v := s.newClient(t)
	succeeds(t, v, "a__bad", 15<<20)
	succeeds(t, v, "b__echo", 10)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for i := range clients {
		work.Go(func() { // an incomplete body
			conn, err := s.dial(ctx, "", "")
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()                                          // a stopped AfterFunc may not run at all
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // ends the write
			text := rawRequest(s.address, strings.Repeat(" ", 16<<20))
			_, _ = io.WriteString(conn, text[:len(text)-1]) // may be refused
			<-ctx.Done()
		})
		work.Go(func() { // an answer in an event log
			session := s.newClient(t).initialize().session
			conn, err := s.dial(ctx, "", "")
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()                                          // a stopped AfterFunc may not run at all
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // ends the write
			_, _ = io.WriteString(conn, rawRequest(s.address, legacyCall(i, [...]string{"a__bad", "c__bad"}[i%2], `{}`),
				"Mcp-Session-Id", session, "Accept", "text/event-stream"))
			<-ctx.Done()
		})
	}
	// Calls to the other servers wait behind many large answers.
	s.within(fmt.Sprintf("small calls beside %d bodies and logs", clients),
		callToolFor(v, "b__echo", 5*time.Second), time.Second)
	cancel()
	work.Wait()
	s.within("a large answer again", succeeds(t, v, "a__bad", 15<<20), 10*time.Second)
	s.checkPeak(fmt.Sprintf("memory with %d bodies and logs", clients), maxMiB)
}
