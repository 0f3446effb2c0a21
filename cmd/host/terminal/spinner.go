package terminal

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/login"
)

const (
	spinAfter = 2 * time.Second
	spinEvery = 120 * time.Millisecond
	spinWidth = 76
)

// A Spinner shows on a terminal that an operation takes long, and its progress if the server
// reports it. It writes to standard error and removes itself. The caller of Spin calls Stop.
// Show and Progress may be called from any goroutine.
type Spinner struct {
	screen *screen
	end    chan struct{}
	done   sync.WaitGroup
	once   sync.Once
	Seen   bool   // it may be shown: there is a terminal; it appears after spinAfter
	what   string // the operation

	mu   sync.Mutex
	text string // guarded by mu
}

// Spin starts a spinner. It shows nothing without a terminal, on a dumb one, and with CI set.
func (t *Terminal) Spin(text string) *Spinner {
	s := &Spinner{screen: t.Screen, end: make(chan struct{}), what: text, text: text}
	if t.ErrTTY && t.Get("TERM") != "dumb" && !login.CI(t.Lookup) {
		s.Seen = true
		s.done.Go(s.run)
	}
	return s
}

// Show replaces the text. It returns false if the spinner is never shown.
func (s *Spinner) Show(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = OneLine(text, spinWidth)
	return s.Seen
}

func (s *Spinner) run() {
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
		s.screen.spin(fmt.Sprintf("%c %s", `|/-\`[i%4], text))
		select {
		case <-t.C:
		case <-s.end:
			s.screen.rest()
			return
		}
	}
}

// Progress shows a progress notification.
func (s *Spinner) Progress(params []byte) {
	var p struct {
		Progress float64 `json:"progress"`
		Total    float64 `json:"total"`
		Message  string  `json:"message"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	text := fmt.Sprintf("%s: %g", s.what, p.Progress)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %g (%.0f%%)", p.Total, 100*p.Progress/p.Total)
	}
	if p.Message != "" {
		text += ", " + p.Message
	}
	s.Show(text)
}

// Stop removes the spinner. It may be called several times.
func (s *Spinner) Stop() {
	s.once.Do(func() { close(s.end) })
	s.done.Wait()
}
