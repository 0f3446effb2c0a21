package plugin

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/yamux"
)

// TestPingsAreAnsweredForAttachedPlugins: a plugin that stands at a breakpoint
// for an hour does not lose its host.
func TestPingsAreAnsweredForAttachedPlugins(t *testing.T) {
	for _, attached := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			g := newGuard(ours, func(error) {})
			if attached {
				g.pings = new(pings)
			}
			go func() { // it reads what comes, and does nothing
				_, _ = io.Copy(io.Discard, theirs)
			}()
			config := yamux.DefaultConfig()
			config.LogOutput = io.Discard
			session, err := yamux.Client(g, config)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			if session.IsClosed() == attached {
				t.Errorf("attached: %t, closed: %t", attached, session.IsClosed())
			}
			_ = session.Close()
			_ = theirs.Close()
			synctest.Wait()
		})
	}
}
