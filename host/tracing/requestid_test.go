package tracing

import (
	"regexp"
	"strings"
	"testing"
)

func TestRequestIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "0b9c1d7e-7d0f-4c2a-9c57-0f6f6a3d2b11": true, "A_b.c:d/e+f=": true, strings.Repeat("x", 128): true,
		"": false, strings.Repeat("x", 129): false, "a b": false, "a\n": false, "é": false, `"`: false, "<b>": false,
		"a;b": false, "\x00": false,
	} {
		if got := ValidRequestID(id); got != want {
			t.Errorf("%.20q: %v", id, got)
		}
	}
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := NewRequestID()
		if !form.MatchString(id) || !ValidRequestID(id) || seen[id] {
			t.Fatalf("%q", id)
		}
		seen[id] = true
	}
}
