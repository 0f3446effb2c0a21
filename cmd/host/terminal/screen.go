package terminal

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
)

// A screen is the terminal on standard error, which messages, the spinner and questions share.
// They take turns: the spinner disappears before a message, and neither is shown while a
// question is open. Messages that come meanwhile follow it. As a writer a screen takes
// messages. Without a terminal it only passes them on. Its methods may be called concurrently
// unless they say that the caller holds mu.
type screen struct {
	out     io.Writer
	colours bool          // paint the first words of messages
	turn    chan struct{} // holds one token; its holder asks

	mu       sync.Mutex
	spinning bool         // guarded by mu; the last line shows the spinner
	open     bool         // guarded by mu; a question is open
	held     bytes.Buffer // guarded by mu; messages that came meanwhile
	dropped  int          // guarded by mu; messages that were too many for held
}

// maxHeld is the maximum size of the messages that wait for the end of a question, in bytes.
const maxHeld = 256 << 10

// clearLine moves to the beginning of the line and clears it.
const clearLine = "\r\x1b[K"

func newScreen(out io.Writer) *screen {
	s := &screen{out: out, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	return s
}

// Write prints a message.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		if s.held.Len()+len(b) > maxHeld {
			s.dropped++
			return len(b), nil
		}
		return s.held.Write(b)
	}
	s.clear()
	s.print(b)
	return len(b), nil
}

// print writes messages. The caller holds mu.
func (s *screen) print(b []byte) {
	if s.colours {
		b = paintMessages(b)
	}
	_, _ = s.out.Write(b)
}

// clear removes the spinner. The caller holds mu.
func (s *screen) clear() {
	if s.spinning {
		_, _ = io.WriteString(s.out, clearLine)
		s.spinning = false
	}
}

// spin shows a line of the spinner unless a question is open.
func (s *screen) spin(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		_, _ = io.WriteString(s.out, clearLine+line)
		s.spinning = true
	}
}

// rest removes the spinner.
func (s *screen) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}

// Ask begins a question, after the one that is open. The question is written to the returned
// writer. The caller calls release after the answer.
func (s *screen) Ask(ctx context.Context) (question io.Writer, release func(), err error) {
	select {
	case <-s.turn:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.open = true
	return s.out, s.answered, nil
}

// answered ends a question and prints the messages that came meanwhile.
func (s *screen) answered() {
	s.mu.Lock()
	s.open = false
	s.print(s.held.Bytes())
	s.held = bytes.Buffer{}
	if s.dropped > 0 {
		_, _ = fmt.Fprintf(s.out, "%d messages during the question were too long to be kept\n", s.dropped)
		s.dropped = 0
	}
	s.mu.Unlock()
	s.turn <- struct{}{}
}
