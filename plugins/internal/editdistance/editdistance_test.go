package editdistance

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"list", "list", 0},
		{"", "list", 4},
		{"lst", "list", 1},
		{"liist", "list", 1},
		{"lisp", "list", 1},
		{"lsit", "list", 1},
		{"ilts", "list", 2},
		{"sl", "ls", 1},
		{"conatienr", "container", 2},
		{"statsu", "status", 1},
		{"größe", "grösse", 2},
		{"grßöe", "größe", 1},
		{"abc", "xyz", 3},
	} {
		if got := Distance(c.a, c.b, 5); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Distance(c.b, c.a, 5); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

func TestDistanceAboveLimit(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		limit int
	}{{"list", "container", 2}, {"lsit", "list", 0}, {"abc", "xyz", 2}} {
		if got := Distance(c.a, c.b, c.limit); got <= c.limit {
			t.Errorf("%q and %q: %d, want more than %d", c.a, c.b, got, c.limit)
		}
	}
}
