package truncate

import (
	"strings"
	"testing"
)

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"abc", 0, "…"},
		{"aé", 2, "a…"},
		{"a😀b", 4, "a…"},
		{"a😀b", 5, "a😀…"},
		{strings.Repeat("\x80", 9), 6, strings.Repeat("\x80", 3) + "…"},
	} {
		if got := Bytes(c.in, c.limit); got != c.want {
			t.Errorf("Bytes(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestRunes(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"", 0, ""},
		{"größe", 5, "größe"},
		{"größer", 5, "größe…"},
		{"ab cd", 3, "ab…"},
		{"ab", 0, "…"},
	} {
		if got := Runes(c.in, c.limit); got != c.want {
			t.Errorf("Runes(%q, %d) = %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}
