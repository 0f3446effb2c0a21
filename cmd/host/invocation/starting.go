package invocation

import (
	"fmt"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/upstream"
)

const (
	startLookEvery = 500 * time.Millisecond
	startNoteAfter = 5 * time.Second // from the beginning of a start
	startNoteEvery = 30 * time.Second
)

// noteStarts prints notes about servers that take long to start, with possible reasons, until
// stop is called. stop waits for the goroutine that prints, and may be called more than once.
func noteStarts(inv *Invocation, app *host.App) (stop func()) {
	end := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		tick := time.NewTicker(startLookEvery)
		defer tick.Stop()
		noted := map[string]time.Duration{} // duration of the start at its last note
		for {
			select {
			case <-tick.C:
			case <-end:
				return
			}
			for name, u := range app.Upstreams() {
				s := u.Status()
				last, again := noted[name]
				switch taken := s.Start.Taken; {
				case s.State != upstream.Starting || s.Start.Queued || taken < last:
					delete(noted, name)
				case !again && taken >= startNoteAfter, again && taken >= last+startNoteEvery:
					noted[name] = taken
					noteStart(inv, name, s.Start)
				}
			}
		}
	})
	return sync.OnceFunc(func() { close(end); work.Wait() })
}

// noteStart prints a note about one start.
func noteStart(inv *Invocation, server string, s upstream.StartStatus) {
	text := "it is starting"
	if s.Launcher != "" {
		text = s.Launcher + " may be installing it"
	}
	text += fmt.Sprintf(" (%s of at most %s)", s.Taken.Round(time.Second), s.Allowed.Round(time.Second))
	if s.Line != "" {
		text += ": " + terminal.OneLine(s.Line, 80)
	}
	inv.Note(server, text)
}
