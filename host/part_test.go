package host

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// A tracedPart appends to a log what is done with it.
type tracedPart struct {
	name string
	err  error
	log  *[]string
}

func (p tracedPart) prepare(context.Context, *generation) (change, error) {
	*p.log = append(*p.log, "prepare "+p.name)
	if p.err != nil {
		return nil, p.err
	}
	return p, nil
}

func (p tracedPart) apply()   { *p.log = append(*p.log, "apply "+p.name) }
func (p tracedPart) discard() { *p.log = append(*p.log, "discard "+p.name) }

// idlePart has nothing to change.
type idlePart struct{}

func (idlePart) prepare(context.Context, *generation) (change, error) { return nil, nil }

// TestReloadAppliesAllPartsOrNone: a part that fails discards the changes of those before it,
// the last one first.
func TestReloadAppliesAllPartsOrNone(t *testing.T) {
	failure := errors.New("it fails")
	for _, c := range []struct {
		err  error
		want []string
	}{
		{nil, []string{"prepare a", "prepare b", "prepare c", "apply a", "apply b", "apply c"}},
		{failure, []string{"prepare a", "prepare b", "prepare c", "discard b", "discard a"}},
	} {
		var log []string
		parts := []part{
			tracedPart{"a", nil, &log}, idlePart{}, tracedPart{"b", nil, &log}, tracedPart{"c", c.err, &log},
		}
		if err := replaceWith(t.Context(), parts, nil); !errors.Is(err, c.err) || !slices.Equal(log, c.want) {
			t.Errorf("%v: %q, want %q", err, log, c.want)
		}
	}
}

// TestProcessEndsInReverseOrder: stop calls each function once.
func TestProcessEndsInReverseOrder(t *testing.T) {
	var p Process
	var log []string
	for _, name := range []string{"a", "b"} {
		p.onStop(func() { log = append(log, name) })
	}
	p.stop()
	p.stop()
	if !slices.Equal(log, []string{"b", "a"}) {
		t.Errorf("%q", log)
	}
}
