package plugin

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// family opens a connection whose plugin leaves children of every kind. It returns a
// function that lists the living ones.
func (h *testHost) family() (*Connection, func() []string) {
	h.t.Helper()
	name := fmt.Sprint("family-", os.Getpid(), "-", time.Now().UnixNano())
	c := h.mustOpen(h.request("", "family", name))
	living := func() []string { return append(marked(name), marked(name+"-hidden")...) }
	eventually.NoError(h.t, func() error {
		if list := living(); len(list) != 6 {
			return fmt.Errorf("%q live, and not six", list)
		}
		return nil
	})
	return c, living
}

// TestPluginKilled checks that all descendants of a killed plugin end, and that they delay
// neither readers nor new connections, though they hold its standard error open. #4 #13
// P2 P13 P19, L13, R1 R23
func TestPluginKilled(t *testing.T) {
	h := newHost(t)
	if os.Getenv("JUNCTOR_SOAK") != "1" {
		h.limits.exit = 10 * time.Second // as in TestRestartsLeakNothing
	}
	c, living := h.family()
	kill(t, h.pid(), syscall.SIGKILL)
	var err error
	takes(t, "Read", time.Second, func() { _, err = c.Read() })
	mustFail(t, err, fault.PluginExited, "was killed by SIGKILL")
	takes(t, "Open", 3*time.Second, func() { h.mustOpen(h.request("", "", "")).echoes(t) })
	eventually.NoError(t, func() error { return none(living()) })
}

// TestPluginStops checks the same when the host stops, within three seconds. R23
func TestPluginStops(t *testing.T) {
	h := newHost(t)
	_, living := h.family()
	takes(t, "Stop", 3*time.Second, func() { h.Stop(time.Second) })
	eventually.NoError(t, func() error { return none(living()) })
}

// TestPluginCrashes checks the same when the plugin crashes.
func TestPluginCrashes(t *testing.T) {
	h := newHost(t)
	c, living := h.family()
	other, err := h.Open(h.soon(), h.request("", "crash", "1ms"))
	if err == nil { // it may crash before its response
		_, err = other.Read()
	}
	mustFail(t, err, fault.PluginExited, "the sky is falling")
	_, err = c.Read()
	mustFail(t, err, fault.PluginExited, "the sky is falling")
	eventually.NoError(t, func() error { return none(living()) })
}

// TestRestartsLeakNothing starts, uses and kills a plugin repeatedly. Descriptors,
// goroutines, directories and processes must not accumulate (see testHost.end). R2
func TestRestartsLeakNothing(t *testing.T) {
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	h := newHost(t)
	h.limits.crashes, h.limits.backoffFirst, h.limits.backoffMax = 1<<30, 2*time.Millisecond, 2*time.Millisecond
	if os.Getenv("JUNCTOR_SOAK") != "1" {
		h.limits.exit = 10 * time.Second // tolerate a busy machine
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
			kill(t, h.pid(), syscall.SIGTERM) // during Close
			c.Close(0)
			<-c.link.cleaned
		}
		c.Close(0)
		if _, ok := c.link.Grant(c.capability); ok {
			t.Fatal("grants remain")
		}
	}
	if len(h.processes) != 3 {
		t.Errorf("%d processes remain", len(h.processes))
	}
}
