//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// awaitWaiting waits until so many calls wait under a limit of calls.
func (s *gatewaySite) awaitWaiting(n int) {
	s.t.Helper()
	eventually.NoError(s.t, func() error {
		waiting := 0
		for _, l := range s.status().Limits {
			waiting += l.Waiting
		}
		if waiting != n {
			return fmt.Errorf("%d calls wait, want %d", waiting, n)
		}
		return nil
	})
}

// TestSlowCallsOfOneClientLeavePlaces holds all places that one client can have. Another
// one of the same tenant gets the last, and a reload with more places lets waiting calls
// begin.
func TestSlowCallsOfOneClientLeavePlaces(t *testing.T) {
	t.Parallel()
	limits := func(concurrent int) string {
		return fmt.Sprintf("    per_tool {\n      concurrent = %d\n      wait       = \"1m\"\n    }\n    per_principal {\n      concurrent = 6\n      wait       = \"0s\"\n    }\n",
			concurrent)
	}
	s, configure := sharesSite(t, limits(5))
	wait := []func(){s.hold(annToken, 4), s.callHeld(annToken, 2)}
	s.awaitWaiting(2)
	_, text, err := s.client(annToken).call("held__hold")
	for _, want := range []string{`"limit":"principal"`, `"max_in_flight":6`, "the client has 6 calls in progress",
		"(try again in "} {
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("ann's seventh call has no %s: %v, %s", want, err, text)
		}
	}
	wait = append(wait, s.hold(bobToken, 1), s.callHeld(eveToken, 1))
	s.awaitWaiting(3)
	configure(limits(12))
	s.hangup("reloaded the configuration")
	s.awaitCalled(8)
	s.put("go", "")
	for _, w := range wait {
		w()
	}
	s.awaitWaiting(0)
}
