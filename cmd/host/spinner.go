package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/login"
)

const (
	spinAfter = 2 * time.Second
	spinEvery = 120 * time.Millisecond
	spinWidth = 76
)

// A spinner shows on a terminal that something takes long, and how far it is
// when the server says so. It writes to standard error and cleans up behind
// itself.
type spinner struct {
	out  io.Writer
	turn *screen
	end  chan struct{}
	done sync.WaitGroup
	once sync.Once
	seen bool // there is a terminal

	mu   sync.Mutex
	text string // guarded by mu
}

// spin begins to wait. Off a terminal, on one that only prints, and under CI,
// nothing is shown.
func (e *env) spin(text string) *spinner {
	s := &spinner{out: e.stderr, turn: &e.screen, end: make(chan struct{}), text: text}
	if e.errTTY && e.get("TERM") != "dumb" && !login.CI(e.lookup) {
		s.seen = true
		s.done.Go(s.run)
	}
	return s
}

// show replaces the text. It returns false where nothing is shown.
func (s *spinner) show(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = oneLine(text, spinWidth)
	return s.seen
}

func (s *spinner) run() {
	select {
	case <-s.end:
		return
	case <-time.After(spinAfter):
	}
	t := time.NewTicker(spinEvery)
	defer t.Stop()
	for i := 0; ; i++ {
		s.mu.Lock()
		text := s.text
		s.mu.Unlock()
		s.turn.show(func() { fmt.Fprintf(s.out, "\r\x1b[K%c %s", `|/-\`[i%4], text) })
		select {
		case <-t.C:
		case <-s.end:
			s.turn.show(func() { fmt.Fprint(s.out, "\r\x1b[K") })
			return
		}
	}
}

// progress takes a progress notification.
func (s *spinner) progress(params []byte) {
	var p struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total"`
		Message  string  `json:"message"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	text := fmt.Sprintf("%g", p.Progress)
	if p.Total > 0 {
		text = fmt.Sprintf("%.0f%%", 100*p.Progress/p.Total)
	}
	if p.Message != "" {
		text += " " + oneLine(p.Message, 60)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
}

// stop removes the spinner. It may be called more than once.
func (s *spinner) stop() {
	s.once.Do(func() { close(s.end) })
	s.done.Wait()
}
