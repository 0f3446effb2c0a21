package plugin

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/yamux"
)

// TestPingsAreAnsweredForAttachedPlugins checks that a plugin at a breakpoint keeps its
// host. It uses real time: yamux shares timers among sessions, which synctest forbids.
func TestPingsAreAnsweredForAttachedPlugins(t *testing.T) {
	for _, attached := range []bool{true, false} {
		ours, theirs := net.Pipe()
		g := newConnFilter(ours, func(error) {})
		if attached {
			g.pings = new(pings)
		}
		silent := make(chan struct{})
		go func() { // read without a reaction
			defer close(silent)
			_, _ = io.Copy(io.Discard, theirs)
		}()
		config := yamux.DefaultConfig()
		config.LogOutput, config.KeepAliveInterval, config.ConnectionWriteTimeout = io.Discard,
			200*time.Millisecond, time.Second
		session, err := yamux.Client(g, config)
		if err != nil {
			t.Fatal(err)
		}
		ended := false
		wait := 3 * time.Second
		if !attached {
			wait = 20 * time.Second
		}
		select {
		case <-session.CloseChan():
			ended = true
		case <-time.After(wait):
		}
		if ended == attached {
			t.Errorf("attached: %t, ended: %t", attached, ended)
		}
		_ = session.Close()
		_ = theirs.Close()
		<-silent
	}
}
