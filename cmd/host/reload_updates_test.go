//go:build unix

package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// publishers returns a configuration with a publisher for each triple of a name, an era
// and a description of its tools.
func publishers(triples ...string) string {
	var text strings.Builder
	for s := range slices.Chunk(triples, 3) {
		fmt.Fprintf(&text, "server %q {\n  transport \"stdio\" {\n    command = [\"publisher\", %q, %q]\n  }\n}\n",
			s[0], s[1], s[2])
	}
	return text.String()
}

// publisherAt returns the resource of one of several publishers.
func publisherAt(server string) string { return "junctor://" + server + "/news%3A%2F%2Fn" }

// steadyServers are the publishers of newSteadyDir that no reload changes.
var steadyServers = []string{"old", "new"}

// steadyText returns the configuration of newSteadyDir.
func steadyText(version string, broken bool) string {
	return publishers("old", "legacy", "", "new", "modern", "") + demoServers(version, broken)
}

// newSteadyDir returns a directory with a publisher of each era, and the servers of
// demoServers. All lists are known.
func newSteadyDir(t *testing.T) *reloadDir {
	t.Helper()
	d := newReloadDir(t)
	rewriteConfig(t, d.path, steadyText("0", false))
	d.trust()
	if text, err := d.command("tools").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return d
}

// publishUntil makes the steady publishers publish in turn until done is closed, and
// returns how often each did.
func publishUntil(t *testing.T, c *reloadClient, done chan struct{}) (calls int) {
	for {
		for _, server := range steadyServers {
			if _, err := c.process(map[string]any{"name": server + "__publish"}); err != nil {
				t.Errorf("%s: %v", server, err)
				return calls
			}
		}
		calls++
		select {
		case <-done:
			return calls
		default:
		}
	}
}

// keepUp waits until a subscriber has heard ten updates for each of n reloads, so that
// updates come during all of them.
func (c *reloadClient) keepUp(t *testing.T, n int) {
	t.Helper()
	c.await(t, "the updates before the next reload", func(heard []reloadMessage) bool {
		return len(numbers(heard, publisherAt("old"))) >= 10*n
	})
}

// heardAll waits for the last update of each steady publisher. It fails if another one
// is missing, or comes twice, or a list is said to have changed.
func heardAll(t *testing.T, c *reloadClient, last int) {
	t.Helper()
	var want []int
	for n := range last {
		want = append(want, n+1)
	}
	for _, server := range steadyServers {
		var got []int
		c.await(t, "the last update of "+server, func(heard []reloadMessage) bool {
			got = numbers(heard, publisherAt(server))
			return slices.Contains(got, last)
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s: of %d updates of %s, %d came: %s",
				c.name(), last, server, len(got), firstDifference(got, want))
		}
	}
	for _, method := range []string{"notifications/tools/list_changed", "notifications/resources/list_changed"} {
		if n := c.count(method); n > 0 {
			t.Errorf("%s: %d times %s, and no list has changed", c.name(), n, method)
		}
	}
}

func firstDifference(got, want []int) string {
	for i, n := range got {
		if i >= len(want) || n != want[i] {
			return fmt.Sprintf("place %d has %d", i+1, n)
		}
	}
	return "the end is missing"
}

// TestReloadLosesNoUpdate reloads again and again while unchanged servers of both eras
// send numbered updates to subscribers of both eras. Each number arrives once, in
// order.
func TestReloadLosesNoUpdate(t *testing.T) {
	t.Parallel()
	reloads, _ := reloadRounds()
	d := newSteadyDir(t)
	s := d.serveHTTP()
	clients := []*reloadClient{{url: s.url}, {url: s.url}}
	clients[0].initialize(t)
	for _, c := range clients {
		c.subscribe(t, publisherAt("old"), publisherAt("new"))
	}
	done := make(chan struct{})
	var calls int
	var work sync.WaitGroup
	work.Go(func() { calls = publishUntil(t, &reloadClient{url: s.url}, done) })
	for n := 1; n <= reloads; n++ {
		broken := n%3 == 0
		rewriteConfig(t, d.path, steadyText(fmt.Sprint(n), broken))
		s.hangup(reloadOutcome(broken))
		clients[0].keepUp(t, n)
	}
	close(done)
	work.Wait()
	for _, c := range clients {
		heardAll(t, c, calls)
	}
	t.Logf("%d updates of each server, %d reloads", calls, reloads)
}

// TestReloadLosesNoUpdateOverStdio is TestReloadLosesNoUpdate for clients on standard
// input, whose configuration is watched.
func TestReloadLosesNoUpdateOverStdio(t *testing.T) {
	t.Parallel()
	reloads, _ := reloadRounds()
	d := newSteadyDir(t)
	var processes []*reloadProcess
	var clients []*reloadClient
	for range 2 {
		s, c := d.serveStdio()
		processes, clients = append(processes, s), append(clients, c)
	}
	clients[0].initialize(t)
	done := make(chan struct{})
	calls := make([]int, len(clients))
	var work sync.WaitGroup
	for i, c := range clients {
		c.subscribe(t, publisherAt("old"), publisherAt("new"))
		work.Go(func() { calls[i] = publishUntil(t, c, done) })
	}
	for n := 1; n <= reloads; n++ {
		broken := n%3 == 0
		rewriteConfig(t, d.path, steadyText(fmt.Sprint(n), broken))
		for _, s := range processes {
			s.waitLog(reloadOutcome(broken))
		}
		clients[0].keepUp(t, n)
	}
	close(done)
	work.Wait()
	for i, c := range clients {
		heardAll(t, c, calls[i])
	}
}

// awaitEnd waits until a process has ended.
func awaitEnd(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the server with the process id "+pid+" has ended", func() bool {
		return errors.Is(syscall.Kill(n, 0), syscall.ESRCH)
	})
}
