package main

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// oneAtATime starts a server that answers a request with status 500 while another one is
// open. A request stays open until as many have come as n, or for a moment.
func oneAtATime(t *testing.T, n int32, body func(id string) string) (*server, *atomic.Int32) {
	var busy sync.Mutex
	var come, rejected atomic.Int32
	all := make(chan struct{})
	return answering(t, func(w http.ResponseWriter, r *http.Request, msg string) bool {
		if !strings.Contains(msg, "/list") && !strings.Contains(msg, "/call") {
			return false
		}
		if come.Add(1) == n {
			close(all)
		}
		if !busy.TryLock() {
			rejected.Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, body(idOf(msg)))
			return true
		}
		defer busy.Unlock()
		select {
		case <-all:
		case <-time.After(patience):
		}
		time.Sleep(20 * time.Millisecond) // stay open beside a request that should have waited
		return false
	}), &rejected
}

// TestListsBesideOthers checks that a list that a server rejects because of another request
// is sent again alone.
//
// deviation: status 500 for a request that comes while another one is open | sends a list again when no other request is open | modelcontextprotocol#117
func TestListsBesideOthers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]func(id string) string{
		"no body": func(string) string { return "" },
		"text":    func(string) string { return "busy" },
		"an error": func(string) string {
			return `{"jsonrpc":"2.0","error":{"code":-32603,"message":"busy"},"id":null}`
		},
		"an id, too": func(id string) string {
			return `{"jsonrpc":"2.0","error":{"code":-32603,"message":"busy"},"id":` + id + `}`
		},
		"other words": func(string) string { return `{"error":"busy"}` },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, rejected := oneAtATime(t, 4, body)
			c := connect(t, s.url)
			c.shake()
			for i, kind := range []string{"tools", "resources", "resources/templates", "prompts"} {
				c.send(request(10+i, kind+"/list"))
			}
			var all []string
			for range 4 {
				g := c.next()
				if g.err != nil {
					t.Fatal(g.err)
				}
				all = append(all, g.msg)
			}
			slices.Sort(all)
			if want := []string{result(10), result(11), result(12), result(13)}; !slices.Equal(all, want) {
				t.Errorf("got %q", all)
			}
			if rejected.Load() != 3 {
				t.Errorf("%d requests were rejected, want three", rejected.Load())
			}
		})
	}
}

// TestCallBesideList checks that a call that was rejected is not sent again.
func TestCallBesideList(t *testing.T) {
	t.Parallel()
	s, rejected := oneAtATime(t, 2, func(string) string { return "busy" })
	c := connect(t, s.url)
	c.shake()
	c.send(request(10, "tools/list"))
	s.await("list", func(r seen) bool { return strings.Contains(r.body, "tools/list") })
	c.send(request(11, "tools/call"))
	if f := c.fails("11", "http_status"); !f.Delivered {
		t.Error("the failure is reported as not delivered")
	}
	c.want(result(10))
	if rejected.Load() != 1 {
		t.Errorf("%d requests were rejected", rejected.Load())
	}
}

// TestListAlone checks that a list whose failure has another reason fails at once, that one
// is sent again once, and that others wait for it for a limited time.
func TestListAlone(t *testing.T) {
	t.Parallel()
	var lists atomic.Int32
	release := make(chan struct{})
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case strings.Contains(body, "tools/list"):
			lists.Add(1)
			w.WriteHeader(http.StatusInternalServerError)
			return true
		case strings.Contains(body, "tools/call"):
			<-release
		}
		return false
	})
	c := connect(t, s.url)
	c.shake()
	c.send(request(10, "tools/list"))
	c.fails("10", "http_status")
	if lists.Load() != 1 {
		t.Fatalf("%d lists without another request, want one", lists.Load())
	}
	c.send(request(11, "tools/call"))
	s.await("call", func(r seen) bool { return strings.Contains(r.body, "tools/call") })
	begun := time.Now()
	c.send(request(12, "tools/list"))
	c.fails("12", "http_status")
	if took := time.Since(begun); lists.Load() != 3 || took < aloneTime || took > patience/2 {
		t.Errorf("%d lists, after %s", lists.Load(), took)
	}
	close(release)
	c.want(result(11))
}

// TestWaitingForListAlone checks that requests wait for a list that is sent alone.
func TestWaitingForListAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var o overlaps
		first, list, next := &call{ctx: t.Context()}, &call{ctx: t.Context(), alone: true}, &call{ctx: t.Context()}
		o.begin(first)
		began := make(chan string, 2)
		go func() { o.begin(list); began <- "list" }()
		synctest.Wait()
		if len(began) > 0 {
			t.Fatal("the list did not wait")
		}
		o.end(first)
		if got := <-began; got != "list" {
			t.Fatal(got)
		}
		go func() { o.begin(next); began <- "call" }()
		synctest.Wait()
		if len(began) > 0 {
			t.Fatal("the call did not wait")
		}
		o.end(list)
		if got := <-began; got != "call" || next.beside {
			t.Error(got, next.beside)
		}
		o.end(next)
	})
}
