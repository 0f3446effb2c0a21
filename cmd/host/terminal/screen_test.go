package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// onScreen returns what a terminal shows of a text: a cleared line is gone.
func onScreen(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		parts := strings.Split(line, clearLine)
		lines[i] = parts[len(parts)-1]
	}
	return strings.Join(lines, "\n")
}

// onTerminal looks up the variables of a terminal.
func onTerminal(name string) (string, bool) {
	value, ok := map[string]string{"TERM": "xterm"}[name]
	return value, ok
}

// A shown is what a terminal got. The spinner writes to it from a goroutine of its own.
type shown struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *shown) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// testScreen returns the state of a verb at a terminal, and what the terminal got.
func testScreen() (*Terminal, *shown) {
	var terminal shown
	s := newScreen(&terminal)
	return &Terminal{Stderr: s, Screen: s, ErrTTY: true, Lookup: onTerminal}, &terminal
}

// TestNothingIsShownDuringQuestions checks that the spinner and the messages wait while a
// question is open, and what is on the terminal then and after it.
func TestNothingIsShownDuringQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		during       func(e *Terminal)
		shown, after string
	}{
		"a spinner": {func(e *Terminal) {}, "Password: ", ""},
		"a note": {func(e *Terminal) { e.Note("x", "npx may be installing it") }, "Password: ",
			"note: server \"x\": npx may be installing it\n"},
		"a warning": {func(e *Terminal) { e.Warn("slow", "") }, "Password: ", "warning: slow\n"},
		"several": {func(e *Terminal) { e.Warn("one", ""); e.Warn("two", "") }, "Password: ",
			"warning: one\nwarning: two\n"},
		"a short flood": {func(e *Terminal) { flood(e, 2) }, "Password: ", strings.Repeat("x", 2*maxHeld/4)},
		"a long flood": {func(e *Terminal) { flood(e, 6) }, "Password: ",
			strings.Repeat("x", maxHeld) + "2 messages during the question were too long to be kept\n"},
		"a new spinner": {func(e *Terminal) { w := e.Spin("another"); bubble.Sleep(time.Minute); w.Stop() },
			"Password: ", ""},
		"another prompt": {func(e *Terminal) { e.brief() }, "Password: ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, terminal := testScreen()
				wait := e.Spin("asking the servers")
				bubble.Sleep(10 * time.Second)
				if got := onScreen(terminal.String()); !strings.HasSuffix(got, " asking the servers") {
					t.Fatalf("before the question: %q", got)
				}
				out, release, err := e.Screen.Ask(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprint(out, "Password: ")
				c.during(e)
				bubble.Sleep(time.Minute)
				if got := onScreen(terminal.String()); got != c.shown {
					t.Errorf("during the question: %q", got)
				}
				fmt.Fprint(out, "\n")
				wait.Stop()
				release()
				if got := onScreen(terminal.String()); got != c.shown+"\n"+c.after {
					t.Errorf("after it: %q", got)
				}
			})
		})
	}
}

func flood(e *Terminal, n int) {
	for range n {
		fmt.Fprint(e.Stderr, strings.Repeat("x", maxHeld/4))
	}
}

// brief asks another question for a second. The one that is open stays.
func (e *Terminal) brief() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, _, err := e.Screen.Ask(ctx); !errors.Is(err, context.DeadlineExceeded) {
		panic(err)
	}
}

// TestMessagesReplaceTheSpinner checks that a message begins a line of its own, and that the
// spinner goes on below it.
func TestMessagesReplaceTheSpinner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, terminal := testScreen()
		wait := e.Spin("asking the servers")
		bubble.Sleep(10 * time.Second)
		e.Note("x", "it is starting")
		bubble.Sleep(time.Second)
		got := onScreen(terminal.String())
		if line, rest, _ := strings.Cut(got, "\n"); line != `note: server "x": it is starting` ||
			!strings.HasSuffix(rest, " asking the servers") {
			t.Errorf("shown: %q", got)
		}
		wait.Stop()
		if got := onScreen(terminal.String()); got != "note: server \"x\": it is starting\n" {
			t.Errorf("after the spinner: %q", got)
		}
	})
}

// TestQuestionsNeedAFreeTerminal checks that Junctor asks only at a terminal that is free.
func TestQuestionsNeedAFreeTerminal(t *testing.T) {
	e, terminal := testScreen()
	pipe, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer w.Close()
	e.Stdin = pipe
	for name, ask := range map[string]func() error{
		"value":    func() error { _, err := e.AskValue(t.Context(), "Name", false); return err },
		"yes":      func() error { _, err := e.AskYes(t.Context(), "Add it?"); return err },
		"no":       func() error { _, err := e.AskNo(t.Context(), "Add it?"); return err },
		"password": func() error { _, err := e.Password(t.Context(), true); return err },
	} {
		if err := ask(); err == nil || !strings.Contains(err.Error(), "there is no terminal") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if terminal.String() != "" {
		t.Errorf("shown: %q", terminal)
	}
}
