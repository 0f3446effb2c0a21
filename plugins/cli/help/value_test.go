package help

import "testing"

// TestArity checks that several names side by side are several arguments, but a
// name of several words is one.
func TestArity(t *testing.T) {
	for printed, want := range map[string]int{
		"a v": 2, "SIZE N": 2, "<KEY> <VALUE>": 2, "<from file> <to file>": 2, "X Y Z": 3,
		"FILE": 1, "<commit message>": 1,
		"[FILE]": 1, "FILE...": 1, "always|never": 1, "WHEN or never": 1, "INTEGER RANGE": 1,
		"KEY=VALUE": 1, "{a,b}": 1, "": 0,
	} {
		if got := arityOf(printed); got != want {
			t.Errorf("%q takes %d arguments, want %d", printed, got, want)
		}
	}
}

// TestChoicesInTheDescription checks the phrases that introduce choices.
func TestChoicesInTheDescription(t *testing.T) {
	for _, text := range []string{"How to sort it (one of: name, price)",
		"One of: name, price", "How. One of name or price.", "Must be one of: name, price"} {
		if c := listedValues(text); len(c) != 2 {
			t.Errorf("%q has the choices %q", text, c)
		}
	}
	for _, text := range []string{"How to sort one of the things",
		"Output (one of: json, yaml, template=...)", "someone of: a, b", "One of: (json, path, path-file)"} {
		if c := listedValues(text); c != nil {
			t.Errorf("%q has the choices %q", text, c)
		}
	}
}
