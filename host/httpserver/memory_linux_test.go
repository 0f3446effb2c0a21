package httpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// peak is the most that a process ever had in memory, in MiB.
func peak(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

// ceiling is what junctor may take with the default of max_memory, in MiB.
const ceiling = 512

// below expects that a site never took more than its limit.
func (s *site) below(what string, mib int) {
	s.t.Helper()
	got := peak(s.t, s.cmd.Process.Pid)
	fmt.Printf("%-46s %6d MiB  (bar %d MiB)\n", what, got, mib)
	if got > mib {
		s.t.Errorf("%s: %d MiB, the limit is %d", what, got, mib)
	}
}

// neverRead sends requests whose answers nobody reads.
func neverRead(t *testing.T, s *site, clients int, request func(i int) string) []net.Conn {
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

// TestMemoryWithAnswersNobodyReads: clients that ask for large answers and do not
// read them take no more memory than there is, and no other client's turn.
func TestMemoryWithAnswersNobodyReads(t *testing.T) {
	clients := 40
	if soak() {
		clients = 100
	}
	for name, header := range map[string][]string{"json": {"Accept", "application/json"}, "stream": {"Accept", "text/event-stream"}} {
		t.Run(name, func(t *testing.T) {
			s := openSite(t, t.TempDir(), blocks(t, "", "bigline 15", "ok", "biglast 15"), "127.0.0.1:0")
			v := s.visit(t)
			succeeds(t, v, "a__bad", 15<<20)
			succeeds(t, v, "b__echo", 10)
			succeeds(t, v, "c__bad", 15<<20)
			neverRead(t, s, clients, func(i int) string {
				m, more := modernCall(i, [...]string{"a__bad", "c__bad"}[i%2], `{}`)
				return rawRequest(s.at, m, append(more, header...)...)
			})
			s.within(fmt.Sprintf("%s: small calls beside %d unread answers", name, clients), calling(v, 5*time.Second), time.Second)
			s.within(name+": a large answer again", succeeds(t, v, "a__bad", 15<<20), 10*time.Second)
			s.below(fmt.Sprintf("%s: memory with %d unread answers", name, clients), ceiling)
			if !strings.Contains(s.said.String(), "serving over HTTP") {
				t.Error(s.said.String())
			}
		})
	}
}

// TestRefusedAnswer: the request whose answer does not fit gets an error that says
// so, also where the id comes last, and the server goes on.
func TestRefusedAnswer(t *testing.T) {
	s := openSite(t, t.TempDir(), "gateway {\n  max_memory = \"128MiB\"\n}\n"+blocks(t, "", "bigline 15", "biglast 15"), "127.0.0.1:0")
	v := s.visit(t)
	succeeds(t, v, "a__bad", 15<<20)
	conns := neverRead(t, s, 12, func(i int) string {
		m, more := modernCall(i, [...]string{"a__bad", "b__bad"}[i%2], `{}`)
		return rawRequest(s.at, m, append(more, "Accept", "application/json")...)
	})
	whole, refused := 0, 0
	time.Sleep(2 * time.Second) // nobody reads for a while
	for i, conn := range conns {
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		switch {
		case err == nil && len(text) > 15<<20:
			whole++
		case err == nil && strings.Contains(string(text), `"code":-31011`) && strings.Contains(string(text), `"reason":"overloaded"`) &&
			strings.Contains(string(text), `"code":"gateway.overloaded"`) && strings.Contains(string(text), fmt.Sprintf(`"id":%d`, i)):
			refused++
		default:
			t.Errorf("%v: %.300s", err, text)
		}
	}
	if whole < 2 || refused < 2 {
		t.Errorf("%d answers, %d refused", whole, refused)
	}
	succeeds(t, v, "b__bad", 15<<20)
	s.below("memory with 128 MiB", 128)
}

// TestMemoryWithBodiesAndLogs: large bodies that never end, answers that sessions
// keep and nobody reads, and notifications, all at once.
func TestMemoryWithBodiesAndLogs(t *testing.T) {
	clients := 40
	if soak() {
		clients = 100
	}
	s := openSite(t, t.TempDir(), blocks(t, "", "bigline 15", "ok", "modern-bigline 15")+gatewayBlock(`    max_body = "16MiB"`), "127.0.0.1:0")
	v := s.visit(t)
	succeeds(t, v, "a__bad", 15<<20)
	succeeds(t, v, "b__echo", 10)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for i := range clients {
		work.Go(func() { // a body that lacks its end
			conn, err := s.dial(ctx, "", "")
			if err != nil {
				t.Error(err)
				return
			}
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			text := rawRequest(s.at, strings.Repeat(" ", 16<<20))
			_, _ = io.WriteString(conn, text[:len(text)-1]) // it may be refused
			<-ctx.Done()
		})
		work.Go(func() { // an answer that a session keeps
			session := s.visit(t).greet().session
			conn, err := s.dial(ctx, "", "")
			if err != nil {
				t.Error(err)
				return
			}
			defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
			_, _ = io.WriteString(conn, rawRequest(s.at, legacyCall(i, [...]string{"a__bad", "c__bad"}[i%2], `{}`), "Mcp-Session-Id", session, "Accept", "text/event-stream"))
			<-ctx.Done()
		})
	}
	s.within(fmt.Sprintf("small calls beside %d bodies and logs", clients), calling(v, 5*time.Second), time.Second)
	cancel()
	work.Wait()
	s.within("a large answer again", succeeds(t, v, "a__bad", 15<<20), 10*time.Second)
	s.below(fmt.Sprintf("memory with %d bodies and logs", clients), ceiling)
}
