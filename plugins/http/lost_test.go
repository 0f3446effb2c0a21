package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestNoStreamNotFound checks that 404 for the GET stream does not end the
// session: frameworks respond so if they have no GET at this path.
func TestNoStreamNotFound(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Method == "GET" {
			http.Error(w, "Cannot GET /mcp", http.StatusNotFound)
			return true
		}
		return false
	})
	c := connect(t, s.url)
	c.shake()
	s.await("GET", func(r seen) bool { return r.verb == "GET" })
	c.send(request(2, "tools/call"))
	c.want(result(2))
	time.Sleep(2 * loseTime) // the real time that passes before a lost session ends
	c.send(request(3, "tools/call"))
	c.want(result(3))
}

// TestStreamOfLostSession checks that 404 for a GET stream that existed before
// ends the session.
func TestStreamOfLostSession(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	s := answering(t, func(w http.ResponseWriter, r *http.Request, _ string) bool {
		switch {
		case r.Method != "GET":
			return false
		case n.Add(1) == 1:
			events(w, ": hello\n\n")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
		return true
	})
	c := connect(t, s.url)
	c.shake()
	if g := c.next(); g.err == nil || !strings.Contains(g.err.Error(), "no longer knows the session") {
		t.Errorf("got %q, %v", g.msg, g.err)
	}
}

// TestForgottenByAll checks that concurrent calls to a server that has lost the
// session all fail as not delivered.
func TestForgottenByAll(t *testing.T) {
	t.Parallel()
	const calls = 10
	var arrived sync.WaitGroup
	arrived.Add(calls)
	var n atomic.Int32
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, "tools/call") {
			return false
		}
		arrived.Done()
		arrived.Wait()
		time.Sleep(time.Duration(n.Add(1)) * time.Millisecond) // the responses arrive one after the other
		w.WriteHeader(http.StatusNotFound)
		return true
	})
	c := connect(t, s.url)
	c.shake()
	for i := range calls {
		c.send(request(10+i, "tools/call"))
	}
	seen := map[string]bool{}
	for range calls {
		g := c.next()
		f := failedOf(g.err)
		if f == nil || f.Delivered || !f.Ends || seen[string(f.ID)] {
			t.Fatalf("after %d calls: %q, %v", len(seen), g.msg, g.err)
		}
		seen[string(f.ID)] = true
	}
	if g := c.next(); g.err == nil {
		t.Errorf("the connection continues: %q", g.msg)
	}
}

// TestForgottenButOneHangs checks that a call without a response does not keep
// the others from a new session.
func TestForgottenButOneHangs(t *testing.T) {
	t.Parallel()
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case strings.Contains(body, "prompts/get"):
			<-r.Context().Done()
		case strings.Contains(body, "tools/call"):
			w.WriteHeader(http.StatusNotFound)
		default:
			return false
		}
		return true
	})
	c := connect(t, s.url)
	c.shake()
	c.send(request(2, "prompts/get"))
	s.await("hanging call", func(r seen) bool { return strings.Contains(r.body, "prompts/get") })
	begun := time.Now()
	c.send(request(3, "tools/call"))
	c.fails("3", "session_lost")
	if g := c.next(); g.err == nil || time.Since(begun) > patience/2 {
		t.Errorf("after %s: %q, %v", time.Since(begun), g.msg, g.err)
	}
}

// TestLateModern checks that a modern request does not wait for
// notifications/initialized. A server may answer the probes of both eras late.
func TestLateModern(t *testing.T) {
	t.Parallel()
	s := answering(t, nil)
	c := connect(t, s.url)
	c.send(initialize)
	c.next()
	c.send(modern(2, "tools/list", ""))
	c.want(result(2))
}

// TestSendWhileClosing checks that messages during Close are sent or rejected,
// and that no goroutine is left.
func TestSendWhileClosing(t *testing.T) {
	t.Parallel()
	for range 20 {
		s := answering(t, nil)
		c := connect(t, s.url)
		c.shake()
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for i := 10; ; i++ {
				for _, msg := range []string{
					request(i, "tools/call"), `{"jsonrpc":"2.0","id":"q","result":{}}`,
					fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i),
				} {
					if c.conn.Send([]byte(msg)) != nil {
						return
					}
				}
			}
		}()
		s.await("call", func(r seen) bool { return strings.Contains(r.body, "tools/call") })
		c.close()
		<-sent
	}
}

// TestUnansweredDiscover checks that an unanswered server/discover is cancelled
// when the server turns out to be an older one.
func TestUnansweredDiscover(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	s := answering(t, func(_ http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, "server/discover") {
			return false
		}
		<-r.Context().Done()
		close(ended)
		return true
	})
	c := connect(t, s.url)
	c.send(modern(7, "server/discover", ""))
	s.await("question", func(r seen) bool { return strings.Contains(r.body, "server/discover") })
	c.shake()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the request is still open")
	}
	c.send(request(2, "tools/list"))
	c.want(result(2))
}

// TestCloseWhileConnecting checks that Close waits neither for a handshake nor
// for the fallback, and leaves no goroutine.
func TestCloseWhileConnecting(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request, body string) bool{
		"handshake": func(_ http.ResponseWriter, r *http.Request, _ string) bool { <-r.Context().Done(); return true },
		"fallback": func(w http.ResponseWriter, r *http.Request, _ string) bool {
			if r.Method == "POST" {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return true
			}
			events(w, ": not yet\n")
			<-r.Context().Done()
			return true
		},
		"first post": func(w http.ResponseWriter, r *http.Request, _ string) bool {
			switch {
			case r.Method == "GET":
				events(w, "event: endpoint\ndata: /m\n\n")
				<-r.Context().Done()
			case r.URL.Path == "/m":
				<-r.Context().Done()
			default:
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
			return true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for wait := range 5 {
				s := answering(t, answer)
				c := connect(t, s.url)
				c.send(initialize)
				time.Sleep(time.Duration(wait*wait) * 5 * time.Millisecond) // close at different moments
				begun := time.Now()
				c.close()
				if d := time.Since(begun); d > patience/2 {
					t.Errorf("closing took %s", d)
				}
				if g := c.next(); g.err != io.EOF {
					t.Errorf("got %q, %v", g.msg, g.err)
				}
			}
		})
	}
}
