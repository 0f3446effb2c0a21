package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// flaky responds to a method with a status a number of times, and then
// correctly.
func flaky(t *testing.T, method string, status, times int, header ...string) (*server, *atomic.Int32) {
	var n atomic.Int32
	return answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if !strings.Contains(body, method) || int(n.Add(1)) > times {
			return false
		}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		return true
	}), &n
}

// TestRetry checks that safe requests are retried and others are not. TRN-19
func TestRetry(t *testing.T) {
	t.Parallel()
	for _, r := range []struct {
		method   string
		status   int
		attempts int32
		reason   string // empty: success
	}{
		{"tools/list", 503, 3, ""}, {"resources/read", 429, 3, ""}, {"prompts/get", 502, 3, ""},
		{"resources/list", 504, 3, ""}, {"tools/list", 500, 1, "http_status"}, {"tools/list", 400, 1, "http_status"},
		{"tools/call", 503, 1, "rate_limited"}, {"tools/call", 502, 1, "unreachable"},
		{"tools/call", 429, 1, "rate_limited"}, {"vendor/method", 503, 1, "rate_limited"},
	} {
		t.Run(r.method+http.StatusText(r.status), func(t *testing.T) {
			t.Parallel()
			s, n := flaky(t, r.method, r.status, 2)
			c := connect(t, s.url)
			c.shake()
			begun := time.Now()
			c.send(request(2, r.method))
			if r.reason != "" {
				c.fails("2", r.reason)
			} else {
				c.want(result(2))
				if d := time.Since(begun); d < 3*time.Second || d > patience/2 {
					t.Errorf("success after %s, want one second and two", d)
				}
			}
			if n.Load() != r.attempts && r.reason != "" {
				t.Errorf("%d attempts, want %d", n.Load(), r.attempts)
			}
		})
	}
}

// TestRetryAfter checks that Retry-After is respected up to a limit.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	s, _ := flaky(t, "tools/list", 429, 1, "Retry-After", "2")
	c := connect(t, s.url)
	c.shake()
	begun := time.Now()
	c.send(request(2, "tools/list"))
	c.want(result(2))
	if d := time.Since(begun); d < 2*time.Second || d > patience/2 {
		t.Errorf("success after %s", d)
	}
	s, n := flaky(t, "tools/list", 429, 1, "Retry-After", "3600")
	c = connect(t, s.url)
	c.shake()
	c.send(request(2, "tools/list"))
	if f := c.fails("2", "rate_limited"); !strings.Contains(f.Err.Hint, "1h") || n.Load() != 1 {
		t.Errorf("%d attempts, %v", n.Load(), f.Err)
	}
}

// TestBusyAtFirst checks that a handshake is not retried until the host's
// timeout, which would hide the reason.
func TestBusyAtFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		times  int
		after  string
		reason string // empty: success
	}{
		{1, "", ""}, {100, "", "rate_limited"}, {100, "30", "rate_limited"},
	} {
		s, _ := flaky(t, "initialize", 503, c.times, "Retry-After", c.after)
		cl := connect(t, s.url)
		begun := time.Now()
		if cl.send(initialize); c.reason != "" {
			cl.fails("1", c.reason)
		} else if g := cl.next(); g.err != nil {
			t.Error(g.err)
		}
		if d := time.Since(begun); d > patience/2 {
			t.Errorf("%+v: after %s", c, d)
		}
	}
}

// TestBroken checks that a request on a broken connection counts as delivered.
func TestBroken(t *testing.T) {
	t.Parallel()
	for method, attempts := range map[string]int32{"tools/list": 2, "tools/call": 1} {
		var n atomic.Int32
		s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
			if strings.Contains(body, method) && n.Add(1) == 1 {
				panic(http.ErrAbortHandler)
			}
			return false
		})
		c := connect(t, s.url)
		c.shake()
		c.send(request(2, method))
		if method == "tools/list" {
			c.want(result(2))
		} else if f := c.fails("2", "stream_ended"); !f.Delivered {
			t.Error("the failure is reported as not delivered")
		}
		if n.Load() != attempts {
			t.Errorf("%s: %d attempts", method, n.Load())
		}
	}
}
