package eventually

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A recorder is a test that fails.
type recorder struct {
	testing.TB
	text string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.text = format
	for _, a := range args {
		if err, ok := a.(error); ok {
			r.text += " " + err.Error()
		}
		if s, ok := a.(string); ok {
			r.text += " " + s
		}
	}
	panic(r)
}

// TestWaitsAndEnds checks that both functions return as soon as the state is there, and end the
// test after a minute if it is not.
func TestWaitsAndEnds(t *testing.T) {
	after := func(d time.Duration) func() bool {
		begun := time.Now()
		return func() bool { return time.Since(begun) >= d }
	}
	never := errors.New("two are open")
	for _, c := range []struct {
		name  string
		wait  func(t testing.TB)
		least time.Duration
		most  time.Duration
		fails string
	}{
		{"at once", func(t testing.TB) { True(t, "it is", func() bool { return true }) }, 0, 0, ""},
		{"no error at once", func(t testing.TB) { NoError(t, func() error { return nil }) }, 0, 0, ""},
		{"later", func(t testing.TB) { True(t, "it is", after(time.Second)) },
			time.Second, 1100 * time.Millisecond, ""},
		{"never", func(t testing.TB) { True(t, "it is open", func() bool { return false }) },
			limit, limit + time.Second, "it is open"},
		{"always an error", func(t testing.TB) { NoError(t, func() error { return never }) },
			limit, limit + time.Second, "two are open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{}
				begun := time.Now()
				func() {
					defer func() { _ = recover() }()
					c.wait(r)
				}()
				if d := time.Since(begun); d < c.least || d > c.most {
					t.Errorf("it took %s", d)
				}
				if (r.text != "") != (c.fails != "") || !strings.Contains(r.text, c.fails) {
					t.Errorf("the test says %q", r.text)
				}
			})
		})
	}
}
