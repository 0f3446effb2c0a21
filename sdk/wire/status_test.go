package wire

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// list returns the errors that err joins.
func list(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

func TestStatusKeeps(t *testing.T) {
	for _, err := range []error{
		&sdk.Error{Code: sdk.Unavailable, Reason: "r", Message: "m", Hint: "h", Output: []string{"a", "b"}},
		&sdk.Error{Code: sdk.Unavailable, Message: "m", Path: "command"},
		&sdk.Error{Code: sdk.Invalid, Reason: "r", Message: "m", Hint: "h", Path: "p", Output: []string{"a"}},
		&sdk.Error{Code: sdk.Invalid, Message: "m"},
		&sdk.Error{Code: sdk.NeedsLogin, Message: "m: %d"},
	} {
		if got := StatusOf(err).Err(); !reflect.DeepEqual(got, err) {
			t.Errorf("%#v became %#v", err, got)
		}
	}
	if s := StatusOf(nil); s.Err() != nil || !reflect.DeepEqual(s, Status{}) {
		t.Errorf("success became %+v", s)
	}
}

// several is a joined error without errors.
type several struct{}

func (several) Error() string   { return "several" }
func (several) Unwrap() []error { return nil }

func TestStatusOf(t *testing.T) {
	a, b := sdk.AttrErrorf("a", "is bad"), sdk.AttrErrorf("b[0]", "is worse")
	down := &sdk.Error{Code: sdk.Unavailable, Reason: "r", Message: "is down", Hint: "h"}
	for _, c := range []struct {
		name string
		err  error
		want []string // code and text of each
	}{
		{"plain", errors.New("x"), []string{"unavailable x"}},
		{"canceled", fmt.Errorf("waiting: %w", context.Canceled), []string{"canceled waiting: context canceled"}},
		{"deadline", context.DeadlineExceeded, []string{"deadline context deadline exceeded"}},
		{"another deadline", os.ErrDeadlineExceeded, []string{"unavailable i/o timeout"}},
		{"wrapped", fmt.Errorf("server %q: %w", "x", down), []string{`unavailable server "x": is down`}},
		{"wrapped with a path", fmt.Errorf("checking: %w", a), []string{"invalid_config a: checking: is bad"}},
		{"wrapped twice", fmt.Errorf("1: %w", fmt.Errorf("2: %w", down)), []string{"unavailable 1: 2: is down"}},
		{"joined", errors.Join(a, b), []string{"invalid_config a: is bad", "invalid_config b[0]: is worse"}},
		{"joined and wrapped", fmt.Errorf("settings: %w", errors.Join(a, b)),
			[]string{"invalid_config a: is bad", "invalid_config b[0]: is worse"}},
		{"joined in two layers", errors.Join(errors.Join(a), errors.Join(b)),
			[]string{"invalid_config a: is bad", "invalid_config b[0]: is worse"}},
		{"mixed", errors.Join(errors.New("x"), a), []string{"invalid_config x", "invalid_config a: is bad"}},
		{"mixed, the other way", errors.Join(a, down), []string{"invalid_config a: is bad", "invalid_config is down"}},
		{"joined, not about settings", errors.Join(errors.New("x"), errors.New("y")), []string{"unavailable x\ny"}},
		{"no code", &sdk.Error{Message: "x"}, []string{"internal x"}},
		{"an empty join", several{}, []string{"unavailable several"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := list(StatusOf(c.err).Err())
			if len(got) != len(c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			for i, e := range got {
				if text := string(sdk.CodeOf(e)) + " " + e.Error(); text != c.want[i] {
					t.Errorf("got %q, want %q", text, c.want[i])
				}
			}
		})
	}
	if e, ok := errors.AsType[*sdk.Error](StatusOf(fmt.Errorf("x: %w", down)).Err()); !ok || e.Reason != "r" ||
		e.Hint != "h" || down.Message != "is down" {
		t.Errorf("wrapping lost a field: %+v, %+v", e, down)
	}
}

// TestStatusBounded checks that every error of an author fits in an event.
func TestStatusBounded(t *testing.T) {
	huge := strings.Repeat("\x00é", 1<<20)
	e := &sdk.Error{Code: sdk.Unavailable, Message: huge, Hint: huge, Path: huge}
	for range 1000 {
		e.Output = append(e.Output, huge)
	}
	e.Output = append(e.Output, "last")
	s := StatusOf(e)
	if len(s.Output) != maxOutputLines || s.Output[maxOutputLines-1] != "last" {
		t.Errorf("%d lines are left", len(s.Output))
	}
	conn := &memory{}
	stream := NewStream(conn, 1)
	if err := stream.WriteEvent(Event{Name: "closed", Status: &s}); err != nil {
		t.Error(err)
	}
	if s := panicked(huge, []byte(huge)); len(s.Message)+len(s.Stack) > 32<<10 {
		t.Error("the status of a panic has no limit")
	}
}
