package config

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPatternMatch(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"", "", true}, {"", "x", false}, {"x", "x", true}, {"x", "xy", false},
		{"*", "", true}, {"*", "anything.at-all", true}, {"get_*", "get_issue", true}, {"get_*", "forget_it", false},
		{"*_secret", "read_secret", true}, {"*_secret", "secret", false}, {"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false}, {"ab*ba", "aba", false}, {"a**b", "ab", true}, {"get?[x]", "get?[x]", true},
		{"get?", "getx", false}, {"*é*", "café.", true},
	} {
		if got := (Pattern{Glob: c.glob}).Match(c.name); got != c.want {
			t.Errorf("%q on %q: %v", c.glob, c.name, got)
		}
	}
}

// TestPatternMatchEqualsRegexp compares Match with the equivalent regular expression.
func TestPatternMatchEqualsRegexp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		glob := rapid.StringMatching(`[ab*.\n]{0,8}`).Draw(t, "glob")
		name := rapid.StringMatching(`[ab.\n]{0,12}`).Draw(t, "name")
		var pieces []string
		for _, piece := range strings.Split(glob, "*") {
			pieces = append(pieces, regexp.QuoteMeta(piece))
		}
		want := regexp.MustCompile(`(?s)\A` + strings.Join(pieces, ".*") + `\z`).MatchString(name)
		if got := (Pattern{Glob: glob}).Match(name); got != want {
			t.Fatalf("%q on %q: %v, want %v", glob, name, got, want)
		}
	})
}

// TestPatternMatchIsLinear would not end within the timeout with backtracking.
func TestPatternMatchIsLinear(t *testing.T) {
	p := Pattern{Glob: strings.Repeat("a*", 100) + "b"}
	name := strings.Repeat("a", 100_000)
	if p.Match(name) {
		t.Error("matches")
	}
}
