package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/bubble"
	conversation "github.com/junctor-mcp/junctor/testdata/conversations"
)

// A printer is a link to a server that prints lines on standard error periodically and
// takes time to exit.
type printer struct {
	*conversation.Link
	every, until time.Duration // print every interval until that age; 0 disables printing
	ends         time.Duration // time to exit after Close
	begun        time.Time
}

func newPrinter(every, until, ends time.Duration) *printer {
	return &printer{Link: conversation.NewLink(), every: every, until: until, ends: ends, begun: time.Now()}
}

func (p *printer) Output(context.Context) ([]string, uint64) {
	if p.every == 0 {
		return nil, 0
	}
	var lines []string
	for at := p.every; at <= min(time.Since(p.begun), p.until); at += p.every {
		lines = append(lines, fmt.Sprintf("fetching %s", at))
	}
	return lines[max(0, len(lines)-50):], 0
}

func (p *printer) Close(grace time.Duration) {
	bubble.Sleep(min(grace, p.ends))
	p.Link.Close(grace)
}

// TestStartTimeout checks that a start with a launcher, or one that prints lines, has the
// install timeout. The error names the setting to raise.
func TestStartTimeout(t *testing.T) {
	const start, install = 10 * time.Second, 5 * time.Minute
	for _, c := range []struct {
		name, launcher string
		every, until   time.Duration
		takes          time.Duration
		message, hint  string
	}{
		{"silent", "", 0, 0, start, "within 10s", "check that it is an MCP server, and raise timeouts { start }"},
		{"a banner and no more",
			"", time.Second, time.Second, start + time.Second, "within 11s", "raise timeouts { start }"},
		{"lines for a minute",
			"", 4 * time.Second, time.Minute, time.Minute + start, "within 1m10s", "raise timeouts { start }"},
		{"lines for ever", "", 4 * time.Second, time.Hour, install, "within 5m0s", "raise timeouts { install }"},
		{"lines too far apart", "", 11 * time.Second, time.Hour, start, "within 10s",
			"check that it is an MCP server, and raise timeouts { start }"},
		{"launcher", "npx", 0, 0, install, "within 5m0s", "by hand once to see what npx waits for"},
		{"launcher that prints", "npx", time.Second, time.Hour, install, "within 5m0s", "raise timeouts { install }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := usual(newRecorder(), nil)
				o.Start, o.Install, o.Launcher = start, install, c.launcher
				o.Open = func(context.Context) (Link, error) { return newPrinter(c.every, c.until, 0), nil }
				u := New(o)
				defer u.Close()
				begun := time.Now()
				err := u.Connect(t.Context())
				f := fault.As(err)
				if took := time.Since(begun); took < c.takes || took > c.takes+observeEvery {
					t.Errorf("the start took %s, want %s", took, c.takes)
				}
				if f.Code != fault.UpstreamStartTimeout || !strings.Contains(f.Message, c.message) ||
					!strings.Contains(f.Hint, c.hint) {
					t.Errorf("%s: %s; hint: %s", f.Code, f.Message, f.Hint)
				}
			})
		})
	}
}

// TestPreparationTakesNoTimeOfTheStart checks that a person may take long to answer before the
// start, and that the start does not begin, or need a place in the queue, before that.
func TestPreparationTakesNoTimeOfTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := usual(newRecorder(), nil)
		o.Start, o.Launcher = 10*time.Second, "npx"
		o.Install, o.Starts = 20*time.Second, NewStartQueue(2)
		o.Open = func(context.Context) (Link, error) { return newPrinter(0, 0, 0), nil }
		o.Prepare = func(context.Context) error { bubble.Sleep(time.Hour); return nil }
		u := New(o)
		defer u.Close()
		begun := time.Now()
		go func() {
			bubble.Sleep(time.Hour - time.Second)
			o.Starts.mu.Lock()
			defer o.Starts.mu.Unlock()
			if s := u.Status(); s.State != Starting || !s.Start.Queued || len(o.Starts.holding) != 0 {
				t.Errorf("before the answer: %s, %+v, %d starts", s.State, s.Start, len(o.Starts.holding))
			}
		}()
		err := u.Connect(t.Context())
		if took := time.Since(begun); took != time.Hour+o.Install || !strings.Contains(err.Error(), "within 20s") {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

// TestFailedPreparationStartsNothing checks the errors of Prepare, and its panics.
func TestFailedPreparationStartsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(context.Context) error
		code    fault.Code
	}{
		"error": {func(context.Context) error { return fault.New(fault.SecretLocked, "there is no password") },
			fault.SecretLocked},
		"panic": {func(context.Context) error { panic("broken") }, fault.Internal},
	} {
		o := usual(newRecorder(), nil)
		o.Prepare = c.prepare
		o.Open = func(context.Context) (Link, error) {
			t.Errorf("%s: the server was started", name)
			return nil, errors.New("started")
		}
		u := New(o)
		if err := u.Connect(t.Context()); !fault.Is(err, c.code) {
			t.Errorf("%s: %v", name, err)
		}
		u.Close()
	}
}

// TestStartEndsInBackground checks that callers learn of a timed-out start at once. The
// next attempt and Close wait for the process to exit, regardless of the shutdown time.
func TestStartEndsInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var links []*printer
		var opened []time.Time
		o := usual(newRecorder(), nil)
		o.Start, o.Shutdown = time.Second, 3*time.Second
		o.Open = func(context.Context) (Link, error) {
			opened = append(opened, time.Now())
			links = append(links, newPrinter(0, 0, time.Hour))
			return links[len(links)-1], nil
		}
		u := New(o)
		begun := time.Now()
		if err := u.Connect(t.Context()); !fault.Is(err, fault.UpstreamStartTimeout) ||
			time.Since(begun) != time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		bubble.Sleep(2 * time.Second)
		_ = u.Connect(t.Context())
		if got := opened[1].Sub(begun); got != time.Second+startGrace {
			t.Errorf("the second attempt began after %s, while the first process ran", got)
		}
		closing := time.Now()
		u.Close()
		if took := time.Since(closing); took != startGrace {
			t.Errorf("closing took %s", took)
		}
	})
}

// TestDiagnosis checks that the error of a failed start contains the diagnosis.
func TestDiagnosis(t *testing.T) {
	o := usual(newRecorder(), nil)
	o.Open = func(context.Context) (Link, error) {
		return nil, &fault.Error{Code: fault.UpstreamExited, Message: "the server exited", Output: []string{"broken"},
			Hint: "nothing"}
	}
	o.Diagnose = func(stderr []string) (string, string) {
		if !slices.Contains(stderr, "broken") {
			return "", ""
		}
		return "its cache is broken", "remove it"
	}
	u := New(o)
	defer u.Close()
	if f := fault.As(u.Connect(t.Context())); f.Message != "the server exited; its cache is broken" ||
		f.Hint != "remove it" {
		t.Errorf("%s; hint: %s", f.Message, f.Hint)
	}
}

// TestFlapping checks that a server that keeps ending is started at most ten times per
// minute, even if it answers calls. Other calls fail at once with a retry time, and all
// waiting callers share one attempt.
func TestFlapping(t *testing.T) {
	for _, c := range []struct {
		name      string
		lives     time.Duration // lifetime after its response
		every     time.Duration // interval between calls
		atMost    int           // starts per minute
		neverBusy bool          // no call is rejected
	}{
		{name: "ends after each answer", every: 100 * time.Millisecond, atMost: maxStarts},
		{name: "ends two seconds after an answer", lives: 2 * time.Second, every: 50 * time.Millisecond,
			atMost: maxStarts},
		{name: "seldom used", every: 10 * time.Second, atMost: 6, neverBusy: true},
		{name: "runs for a minute", lives: time.Minute, every: 5 * time.Second, atMost: 1, neverBusy: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var opened []time.Time
				e := conversation.Server{Revision: "2025-11-25"}
				e.Answer = func(l *conversation.Link, m conversation.Message) string {
					if m.Method == "tools/call" {
						time.AfterFunc(c.lives+time.Millisecond,
							func() { l.End(fault.New(fault.UpstreamExited, "the server exited")) })
						return conversation.Result(m, "{}")
					}
					return ""
				}
				o := usual(newRecorder(),
					func() *conversation.Link { opened = append(opened, time.Now()); return e.Open() })
				u := New(o)
				defer u.Close()
				refused, answered := 0, 0
				for begun := time.Now(); time.Since(begun) < 5*time.Minute; bubble.Sleep(c.every) {
					at := time.Now()
					_, err := u.Call(t.Context(), permitted(t, tool(0)))
					switch f := asFault(err); {
					case err == nil:
						answered++
					case f.RetryAfter > 0 && time.Since(at) == 0 && f.Code == fault.UpstreamExited:
						refused++
					case time.Since(at) > retrySoon:
						t.Fatalf("after %s: %v, retry after %s", time.Since(at), err, f.RetryAfter)
					}
				}
				for i, at := range opened {
					if i >= c.atMost && at.Sub(opened[i-c.atMost]) < time.Minute {
						t.Errorf("start %d came %s after start %d", i, at.Sub(opened[i-c.atMost]), i-c.atMost)
					}
				}
				if answered == 0 || c.neverBusy != (refused == 0) {
					t.Errorf("%d starts, %d calls answered, %d refused", len(opened), answered, refused)
				}
			})
		})
	}
}

// asFault is like fault.As for an error that may be nil.
func asFault(err error) *fault.Error {
	if err == nil {
		return &fault.Error{}
	}
	return fault.As(err)
}

// TestIdleIsNotFlapping checks that connections that Junctor closes do not count as
// starts.
func TestIdleIsNotFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEcho()
		e.Answer = nil
		o := usual(newRecorder(), e.Open)
		o.Idle = Idle{After: time.Millisecond}
		u := New(o)
		defer u.Close()
		for i := range 100 {
			if _, err := u.Call(t.Context(), permitted(t, tool(i))); err != nil {
				t.Fatal(err)
			}
			bubble.Sleep(10 * time.Millisecond)
		}
		if e.Connections() < 100 {
			t.Errorf("%d connections", e.Connections())
		}
	})
}

// TestRetryIsShared checks that concurrent callers share one retry of a failed server.
func TestRetryIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opens := 0
		o := usual(newRecorder(), nil)
		o.Open = func(context.Context) (Link, error) {
			opens++
			bubble.Sleep(time.Second)
			return nil, fault.New(fault.UpstreamUnavailable, "away")
		}
		u := New(o)
		defer u.Close()
		for round := 1; round <= 5; round++ {
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() { _ = u.Connect(t.Context()) })
			}
			wg.Wait()
			if opens != round {
				t.Fatalf("round %d: %d attempts", round, opens)
			}
			bubble.Sleep(time.Minute)
		}
	})
}
