package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestBrokenProtocol checks that a plugin that violates the lower protocols is killed at
// once, that other plugins are not affected, and that the host's memory does not grow.
// #9 P11 P12, L11 L14
func TestBrokenProtocol(t *testing.T) {
	for _, c := range []struct {
		mode  string
		code  fault.Code
		words []string
	}{
		{"rawjunk", fault.PluginBroken, []string{"invalid yamux data"}},
		{"rawpings", fault.PluginBroken, []string{"too many frames"}},
		{"rawwindows", fault.PluginBroken, []string{"too many frames"}},
		{"rawdata", fault.PluginBroken, []string{"too many frames"}},
		{"rawgoaway", fault.PluginBroken, nil},
		{"rawopen", fault.PluginBroken, []string{"opened a stream"}},
		{"rawgob", fault.PluginBroken, []string{"control message of 2147483648 bytes"}},
		{"rawtypes", fault.PluginBroken, []string{"more than 256 types"}},
		{"dialtwice", fault.PluginBroken, []string{"opened a stream"}},
		{"dialmany", fault.PluginBroken, []string{"opened a stream"}},
		{"hangup", fault.PluginBroken, []string{"closed the connection but kept running"}},
	} {
		t.Run(c.mode, func(t *testing.T) {
			h := newHost(t)
			if c.mode == "hangup" {
				h.limits.exit = time.Second
			}
			neighbour := h.mustOpen(h.request("", "", ""))
			before, stop := resident(t), make(chan struct{})
			most := watchMemory(t, stop)
			takes(t, "failing", 5*time.Second, func() {
				h.mustNotOpen(h.request(c.mode, "", ""), c.code, c.words...)
			})
			neighbour.echoes(t)
			close(stop)
			if grown := <-most - before; grown > 64<<20 {
				t.Errorf("memory grew by %d MiB", grown>>20)
			}
			eventually.NoError(t, func() error {
				for _, s := range h.Status() {
					if s.Name == c.mode && s.State != Backoff {
						return fmt.Errorf("it is not ended: %+v", s)
					}
				}
				return nil
			})
		})
	}
}

// TestHugeReply checks that a reply of 512 MiB uses only the plugin's memory. P11, L11
func TestHugeReply(t *testing.T) {
	if testing.Short() {
		t.Skip("the plugin needs 2 GiB")
	}
	h := newHost(t)
	before, stop := resident(t), make(chan struct{})
	most := watchMemory(t, stop)
	err := h.Validate(h.soon(), h.spec("hugereply", ""), "transport", "evil", nil)
	close(stop)
	mustFail(t, err, fault.PluginBroken, "control message of 5368")
	if grown := <-most - before; grown > 64<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
}

// TestBrokenStream checks that a protocol violation on a connection ends only that
// connection with a fault. A message with a line break, which a server could take for
// two messages, is rejected. L11, D12
func TestBrokenStream(t *testing.T) {
	for _, c := range []struct {
		mode  string
		first string
		words []string
	}{
		{"framelong", "", []string{"frame of 2147483648 bytes"}},
		{"frameline", "", []string{"line break"}},
		{"framecr", "", []string{"line break"}},
		{"frameempty", "", []string{"empty"}},
		{"framehalf", "", []string{"without a reason"}},
		{"eventjunk", "", []string{"event"}},
		{"eventlong", "", []string{"frame of 2097152 bytes"}},
		{"noevent", "{}", []string{"without a reason"}},
		{"socketframelong", "", []string{"frame of 2147483648 bytes"}},
		{"socketframehalf", "", []string{"without a reason"}},
		{"socketnoevent", "{}", []string{"without a reason"}},
	} {
		t.Run(c.mode, func(t *testing.T) {
			h := newHost(t)
			r := h.request(c.mode, "", "")
			conn := h.mustOpen(r)
			m, err := conn.Read()
			if c.first != "" {
				if err != nil || string(m) != c.first {
					t.Errorf("first came %q, %v", m, err)
				}
				_, err = conn.Read()
			}
			mustFail(t, err, fault.PluginBroken, c.words...)
			conn.Close(0)
			h.mustOpen(r)
			if s := h.Status(); s[0].Starts != 1 {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestSocketElsewhere checks that the host dials only sockets in its own directory. L11
func TestSocketElsewhere(t *testing.T) {
	for mode, word := range map[string]string{"socketaway": "not in its directory",
		"socketparent": "not in its directory", "socketnobody": "no such file"} {
		t.Run(mode, func(t *testing.T) {
			h := newHost(t)
			h.mustNotOpen(h.request(mode, "", ""), fault.PluginBroken, word)
			if s := h.Status(); s[0].State != Ready || s[0].Connections != 0 {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestEmptyStatus checks that an empty reason is an orderly end.
func TestEmptyStatus(t *testing.T) {
	h := newHost(t)
	if m, err := h.mustOpen(h.request("eventempty", "", "")).Read(); err != io.EOF {
		t.Errorf("got %q, %v", m, err)
	}
}

// TestDropped checks that a too large message is reported and the connection stays open.
func TestDropped(t *testing.T) {
	h := newHost(t)
	c := h.mustOpen(h.request("", "dropped", ""))
	for range 1000 {
		_, err := c.Read()
		var d *Dropped
		if !errors.As(err, &d) || d.Size != 1<<40 || d.Limit != 1<<20 ||
			!strings.Contains(d.Error(), "longer than 1048576 bytes") {
			t.Fatalf("got %v", err)
		}
		if prefix, _, why := d.Cut(); string(prefix) != `{"jsonrpc":"2.0","id":1` || why != "message_too_large" {
			t.Fatalf("cut %q, %q", prefix, why)
		}
	}
	if text := (&Dropped{Reason: "odd"}).Error(); text != "odd" {
		t.Errorf("without numbers: %q", text)
	}
}

// TestEventFlood checks that endless events use no memory, do not affect other
// connections, and that the connection can be closed. R11
func TestEventFlood(t *testing.T) {
	for _, mode := range []string{"eventflood", "dropflood", "socketeventflood"} {
		t.Run(mode, func(t *testing.T) {
			h := newHost(t, func(h *testHost) { h.limits.closeStream = time.Second })
			neighbour := h.mustOpen(h.request("", "", ""))
			before := resident(t)
			c := h.mustOpen(h.request(mode, "", ""))
			ended := make(chan error, 1)
			go func() {
				for {
					if _, err := c.Read(); err != nil && !errors.As(err, new(*Dropped)) {
						ended <- err
						return
					}
				}
			}()
			time.Sleep(300 * time.Millisecond) // a flood that is kept would use memory meanwhile
			neighbour.echoes(t)
			if grown := residentNow(t) - before; grown > 64<<20 {
				t.Errorf("memory grew by %d MiB", grown>>20)
			}
			takes(t, "Close", 5*time.Second, func() { c.Close(0) })
			if err := <-ended; err != io.EOF {
				t.Errorf("Read: %v", err)
			}
		})
	}
}

// TestNotAccepted checks that a stream that the plugin does not accept ends Open with
// the caller's context or the broker's timeout. #9 #10
func TestNotAccepted(t *testing.T) {
	if testing.Short() {
		t.Skip("waits five seconds for a broker")
	}
	h := newHost(t)
	r := h.request("noaccept", "", "")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	takes(t, "Open", 2*time.Second, func() {
		if _, err := h.Open(ctx, r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	h.mustNotOpen(r, fault.PluginBroken) // after five seconds
	if s := h.Status(); s[0].State != Ready || s[0].Connections != 0 {
		t.Errorf("status %+v", s)
	}
}

// TestFrozen checks that a stopped plugin is detected, killed and replaced. Calls
// meanwhile end with their contexts. #5 P3 P4, L12 R22
func TestFrozen(t *testing.T) {
	h := newHost(t, watchful)
	neighbour := h.mustOpen(h.request("future", "", ""))
	r := h.request("", "", "")
	c := h.mustOpen(r)
	freeze(t, h.pid("evil"))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	takes(t, "a call", 2*time.Second, func() {
		if _, err := h.Open(ctx, r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
	neighbour.echoes(t)
	var err error
	takes(t, "noticing", 6*time.Second, func() { _, err = c.Read() })
	mustFail(t, err, fault.PluginUnresponsive, "failed 3 consecutive health checks")
	h.mustOpen(r).echoes(t)
	neighbour.echoes(t)
}

// TestUnhealthy checks that health checks use a call and a stream, because the answer to
// a ping does not depend on the broker. #9 #13, L12 L14
func TestUnhealthy(t *testing.T) {
	for _, mode := range []string{"healthhang", "healthdeaf", "healthsilent"} {
		t.Run(mode, func(t *testing.T) {
			h := newHost(t, watchful)
			c := h.mustOpen(h.request(mode, "", ""))
			c.echoes(t)
			var err error
			takes(t, "noticing", 6*time.Second, func() { _, err = c.Read() })
			mustFail(t, err, fault.PluginUnresponsive)
			eventually.NoError(t, func() error {
				if s := h.Status(); s[0].State != Backoff || !fault.Is(s[0].Err, fault.PluginUnresponsive) {
					return fmt.Errorf("status %+v", s)
				}
				return nil
			})
		})
	}
}

// TestHealthy checks that health checks do not disturb a healthy plugin.
func TestHealthy(t *testing.T) {
	h := newHost(t, func(h *testHost) { h.limits.healthEvery = time.Millisecond })
	c := h.mustOpen(h.request("", "", ""))
	time.Sleep(500 * time.Millisecond) // hundreds of health checks
	c.echoes(t)
	if s := h.Status(); s[0].Starts != 1 {
		t.Errorf("status %+v", s)
	}
}

// TestStopFrozen checks that Stop does not wait for a stopped plugin. #5 #22 P4, L13
func TestStopFrozen(t *testing.T) {
	h := newHost(t, usualExit)
	h.mustOpen(h.request("", "", "")).echoes(t)
	freeze(t, h.pid())
	takes(t, "Stop", 5*time.Second, func() { h.Stop(500 * time.Millisecond) })
}

// TestStopUnresponsive checks that Stop does not wait for a plugin that ignores the call,
// the lifeline or signals. #6 #7 #17 #22, L13
func TestStopUnresponsive(t *testing.T) {
	for _, mode := range []string{"deaf", "shutdownhang"} {
		t.Run(mode, func(t *testing.T) {
			h := newHost(t, usualExit)
			h.mustOpen(h.request(mode, "", "")).echoes(t)
			kill(t, h.pid(), syscall.SIGINT) // as a terminal sends to the whole group
			takes(t, "Stop", 5*time.Second, func() { h.Stop(500 * time.Millisecond) })
		})
	}
}

// TestStopGracefully checks that a cooperative plugin is not killed, and that its
// connections are closed first. #6 #7
func TestStopGracefully(t *testing.T) {
	h := newHost(t)
	l := h.mustOpen(h.request("", "", "")).link
	takes(t, "Stop", 2*time.Second, func() { h.Stop(time.Second) })
	if ended := l.runner.proc.Ended(); !strings.HasPrefix(ended, "exited with status") {
		t.Errorf("the plugin %s", ended)
	}
	if _, err := h.Open(t.Context(), h.request("", "", "")); !fault.Is(err, fault.UpstreamStopped) {
		t.Errorf("after Stop: %v", err)
	}
	h.Stop(time.Second)
}

// TestStuckClose checks that neither Close nor Read waits for a plugin that does not end
// the connection.
func TestStuckClose(t *testing.T) {
	for _, c := range []struct {
		mode, do string
		killed   bool // the connection never ends
	}{
		{"closehang", "", false}, // the connection ends with its stream
		{"noend", "", true},
		{"socketnoend", "", true},
		{"", "stay", true},
	} {
		t.Run(c.mode+c.do, func(t *testing.T) {
			h := newHost(t, func(h *testHost) { h.limits.exit = 200 * time.Millisecond })
			if c.killed {
				h.limits.closeStream = 500 * time.Millisecond
			}
			conn := h.mustOpen(h.request(c.mode, c.do, ""))
			pid := h.pid()
			ended := make(chan error, 1)
			go func() {
				_, err := conn.Read()
				ended <- err
			}()
			takes(t, "Close", 5*time.Second, func() { conn.Close(100 * time.Millisecond) })
			if err := <-ended; err != io.EOF {
				t.Errorf("Read: %v", err)
			}
			if _, err := conn.Read(); err != io.EOF {
				t.Errorf("Read again: %v", err)
			}
			if c.killed {
				// A later caller would use a process that is about to end.
				eventually.NoError(t, func() error {
					return none(slices.DeleteFunc(h.Status(), func(s Status) bool { return s.PID != pid }))
				})
				h.mustOpen(h.request("", "", "")).echoes(t)
			} else if h.pid() != pid {
				t.Error("the process was killed")
			}
		})
	}
}

// TestServerHangs checks that a server that does not read delays only its own connection,
// which can be closed.
func TestServerHangs(t *testing.T) {
	h := newHost(t)
	neighbour := h.mustOpen(h.request("", "", ""))
	c := h.mustOpen(h.request("", "", ""))
	c.send(t, `{"do":"hang"}`)
	written := make(chan error, 1)
	go func() {
		message := []byte(`{"x":"` + strings.Repeat("x", 100<<10) + `"}`)
		for {
			if err := errors.Join(c.Write(message), c.Flush()); err != nil {
				written <- err
				return
			}
		}
	}()
	time.Sleep(200 * time.Millisecond) // the buffers of the connection fill up
	neighbour.echoes(t)
	takes(t, "Close", 5*time.Second, func() { c.Close(time.Second) })
	if err := <-written; err == nil {
		t.Error("the write succeeded")
	}
	neighbour.echoes(t)
}
