package catalog

import (
	"fmt"
	"testing"
)

func TestDrift(t *testing.T) {
	for _, c := range []struct {
		name        string
		before, now []string
		want        string
	}{
		{"the same", []string{`{"name":"a"}`, `{"name":"b"}`}, []string{`{"name":"b"}`, `{"name":"a"}`}, "[] [] []"},
		{"all of it", []string{`{"name":"a"}`, `{"name":"b"}`, `{"name":"z"}`}, []string{`{"name":"c"}`, `{"name":"b","description":"new"}`, `{"name":"a"}`, `{"name":"Y"}`}, "[Y c] [z] [b]"},
		{"nothing before", nil, []string{`{"name":"a"}`}, "[a] [] []"},
		{"nothing now", []string{`{"name":"a"}`}, nil, "[] [a] []"},
	} {
		t.Run(c.name, func(t *testing.T) {
			added, removed, changed := drift(listing(c.before...).Items, listing(c.now...).Items)
			if got := fmt.Sprint(added, removed, changed); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	many := make([]string, 11)
	if got := few(many); len(got) != 11 || got[10] != "…" {
		t.Errorf("%q", got)
	}
	if got := few(many[:10]); len(got) != 10 {
		t.Errorf("%q", got)
	}
}
