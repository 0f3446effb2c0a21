package plugin

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// family opens a connection whose plugin leaves children of every kind, and
// returns it with a function that says how many of them live.
func (h *testHost) family() (*Connection, func() []string) {
	h.t.Helper()
	name := fmt.Sprint("family-", os.Getpid(), "-", time.Now().UnixNano())
	c := h.mustOpen(h.request("", "family", name))
	living := func() []string { return append(marked(name), marked(name+"-hidden")...) }
	eventually(h.t, "all six live", func() error {
		if list := living(); len(list) != 6 {
			return fmt.Errorf("there are %q", list)
		}
		return nil
	})
	return c, living
}

// TestPluginKilled: whatever a plugin forked ends when it is killed, and holds
// up neither who reads from it nor who opens anew, though all hold its standard
// error open. #4 #13 P2 P13 P19, L13, R1 R23
func TestPluginKilled(t *testing.T) {
	h := newHost(t)
	if os.Getenv("JUNCTOR_SOAK") != "1" {
		h.limits.exit = 10 * time.Second // as in TestLeavesNothing
	}
	c, living := h.family()
	kill(t, h.pid(), syscall.SIGKILL)
	var err error
	takes(t, "Read", time.Second, func() { _, err = c.Read() })
	mustFail(t, err, fault.PluginExited, "was killed by SIGKILL")
	takes(t, "Open", 3*time.Second, func() { h.mustOpen(h.request("", "", "")).echoes(t) })
	eventually(t, "nobody is left", func() error { return none(living()) })
}

// TestPluginStops: the same when the host stops, within three seconds. R23
func TestPluginStops(t *testing.T) {
	h := newHost(t)
	_, living := h.family()
	takes(t, "Stop", 3*time.Second, func() { h.Stop(time.Second) })
	eventually(t, "nobody is left", func() error { return none(living()) })
}

// TestPluginCrashes: the same when it ends by itself.
func TestPluginCrashes(t *testing.T) {
	h := newHost(t)
	c, living := h.family()
	other, err := h.Open(h.soon(), h.request("", "crash", "1ms"))
	if err == nil { // it may crash before it has answered
		_, err = other.Read()
	}
	mustFail(t, err, fault.PluginExited, "the sky is falling")
	_, err = c.Read()
	mustFail(t, err, fault.PluginExited, "the sky is falling")
	eventually(t, "nobody is left", func() error { return none(living()) })
}

// TestLeavesNothing starts, uses and kills a plugin again and again: neither
// descriptors nor goroutines, directories or processes add up (see
// testHost.end), and the host remembers none of it. R2
func TestLeavesNothing(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	h := newHost(t)
	h.limits.crashes, h.limits.backoffFirst, h.limits.backoffMost = 1<<30, 2*time.Millisecond, 2*time.Millisecond
	if os.Getenv("JUNCTOR_SOAK") != "1" {
		h.limits.exit = 10 * time.Second // a busy machine must not look like a plugin that keeps running
	}
	r := h.request("", "", "")
	for n := range rounds {
		c, err := h.Open(h.soon(), r)
		if err != nil {
			t.Fatal(err)
		}
		c.echoes(t)
		switch n % 4 {
		case 0:
			kill(t, h.pid(), syscall.SIGKILL)
			if _, err := c.Read(); !fault.Is(err, fault.PluginExited) {
				t.Fatal(err)
			}
		case 1:
			h.mustNotOpen(h.request("", "exit", ""), fault.PluginExited)
		case 2:
			bad := h.request("exits", "", "")
			bad.Spec.Alone = strconv.Itoa(n % 8)
			h.mustNotOpen(bad, fault.PluginExited)
		case 3:
			kill(t, h.pid(), syscall.SIGTERM) // while it closes
			c.Close(0)
			<-c.link.cleaned
		}
		c.Close(0)
		if _, ok := c.link.Grant(c.capability); ok {
			t.Fatal("what was granted is remembered")
		}
	}
	if len(h.processes) != 3 {
		t.Errorf("%d processes are remembered", len(h.processes))
	}
}
