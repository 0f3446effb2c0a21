package upstream

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// strayCount remembers how many texts of a connection that are no messages an error has
// already named, so that an old one does not explain every later timeout. The zero value is
// empty. A conn has one. It may be used concurrently.
type strayCount struct {
	mu            sync.Mutex
	named, before uint64    // guarded by mu; up to the last error, and up to the one before
	at            time.Time // guarded by mu; of the last error
}

// since returns how many of count texts no error had named before begun. fresh is true if
// these are all since the start of the server.
func (s *strayCount) since(count uint64, begun, now time.Time) (n uint64, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.named
	if begun.Before(s.at) {
		known = s.before // of a call that ran at the same time
	} else {
		s.before = s.named
	}
	s.named, s.at = max(s.named, count), now
	return count - min(count, known), known == 0
}

// A strayText says what the transport of a server receives that is no message.
type strayText struct{ one, many, hint string }

// strayOf returns the words for a server that is a program, or for a remote one.
func strayOf(program bool) strayText {
	if program {
		return strayText{"1 line on its standard output was not a message",
			"%d lines on its standard output were not messages",
			"check that the command is an MCP server, and that it logs to standard error only"}
	}
	return strayText{"1 answer of the server was not a message",
		"%d answers of the server were not messages", "check that url is the endpoint of an MCP server"}
}

func (t strayText) count(n uint64) string {
	if n == 1 {
		return t.one
	}
	return fmt.Sprintf(t.many, n)
}

// NotMessages is the note about a server that has sent n texts that are no messages. program is
// set for one that is a program.
func NotMessages(n uint64, program bool) string {
	text := strayOf(program).count(n)
	if program {
		text += "; a server must log to standard error"
	}
	return text
}

// strayAge is the time before a request in which a text that is no message may explain that
// the request got no response.
const strayAge = time.Minute

// A strayClock is a Diagnoser that knows when the last text that is no message arrived. The
// time is zero if it is not known.
type strayClock interface{ LastStray() time.Time }

// withStrayOutput adds to the error of a call that timed out that the server has sent texts
// that are not messages. The response may be one of them, unless all are older than strayAge.
func (c *conn) withStrayOutput(f *fault.Error, begun time.Time) *fault.Error {
	w, ok := c.link.(Diagnoser)
	if !ok {
		return f
	}
	if clock, ok := c.link.(strayClock); ok {
		if last := clock.LastStray(); !last.IsZero() && last.Before(begun.Add(-strayAge)) {
			return f
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), outputTime)
	defer cancel()
	printed, count := w.Output(ctx)
	n, fresh := c.strays.since(count, begun, time.Now())
	if n == 0 {
		return f
	}
	since := "since the timeout before"
	if fresh {
		since = "since the start of the server"
		if !c.up.opts.Program {
			since = "since the connection was made"
		}
	}
	texts := strayOf(c.up.opts.Program)
	f.Message += "; " + since + " " + texts.count(n)
	for _, line := range printed {
		if strings.HasPrefix(line, strayPrefix) {
			f.Output = append(f.Output, line)
		}
	}
	return f.WithHint("%s; raise timeouts { call } in its block if the call needs longer", texts.hint)
}

// strayPrefix marks lines of standard output that are not messages in the result of
// Diagnoser.
const strayPrefix = "(stdout) "
