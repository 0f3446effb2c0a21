package lazyregexp

import (
	"slices"
	"testing"
)

func TestRegexp(t *testing.T) {
	r := New(`^(a+)b$`)
	if !r.MatchString("aab") || r.Match([]byte("b")) || r.FindString("ab") != "ab" ||
		!slices.Equal(r.FindStringSubmatch("aab"), []string{"aab", "aa"}) {
		t.Error("the expression matches something else")
	}
}

// TestInvalid checks that tests find an invalid expression that they do not use.
func TestInvalid(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New accepted an invalid expression")
		}
	}()
	New(`(`)
}
