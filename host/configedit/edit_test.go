package configedit

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

const own = "# mine\nlocals {\n  a = 1 # ä\n}\n\n# of one\nserver \"one\" { # inside\n  transport \"stdio\" { command = [\"x\"] }\n}\n\nserver \"two\" {}\n"

func TestRemove(t *testing.T) {
	for _, c := range []struct{ name, text, remove, want string }{
		{"the last", own, "two", strings.TrimSuffix(own, "\nserver \"two\" {}\n")},
		{"one with a comment", own, "one", "# mine\nlocals {\n  a = 1 # ä\n}\n\n# of one\n\nserver \"two\" {}\n"},
		{"the only one", "server \"a\" {}\n", "a", ""},
		{"the first", "server \"a\" {\n}\n\nserver \"b\" {\n}\n", "a", "server \"b\" {\n}\n"},
		{"a comment behind it", "server \"a\" {} # why\n", "a", " # why\n"},
		{"no line break at the end", "x = 1\n\nserver \"a\" {}", "a", "x = 1\n"},
		{"windows", "x = 1\r\n\r\nserver \"a\" {\r\n}\r\n\r\ny = 2\r\n", "a", "x = 1\r\n\r\ny = 2\r\n"},
		{"quoted in a string", "x = \"server \\\"a\\\" {}\"\nserver \"a\" {}\n", "a", "x = \"server \\\"a\\\" {}\"\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Remove([]byte(c.text), "x.hcl", c.remove)
			if err != nil || string(got) != c.want {
				t.Errorf("%v, got:\n%q\nwant:\n%q", err, got, c.want)
			}
		})
	}
	if _, err := Remove([]byte(own), "x.hcl", "three"); !errors.Is(err, ErrNoServer) {
		t.Errorf("got %v", err)
	}
	if _, err := Remove([]byte("server \"a\" {"), "x.hcl", "a"); err == nil ||
		!strings.Contains(err.Error(), "x.hcl:1") {
		t.Errorf("got %v", err)
	}
}

// FuzzAppendRemove: a block that was added can be removed again, and no other block and no
// comment is lost.
func FuzzAppendRemove(f *testing.F) {
	for _, text := range []string{"", "\n", own, "x = 1", "# c", "x = 1\r\n", "\uFEFFserver \"a\" {}",
		"server \"a\" {} server \"b\" {}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before, err := Servers(text, "x")
		if err != nil || slices.Contains(before, "added") {
			return
		}
		after := Append(text, []byte("server \"added\" {\n}\n"))
		names, err := Servers(after, "x")
		if err != nil || !slices.Equal(names, append(slices.Clone(before), "added")) {
			t.Fatalf("%v: %q in %q", err, names, after)
		}
		if !strings.HasPrefix(string(after), string(text)) {
			t.Fatalf("%q does not begin with %q", after, text)
		}
		again, err := Remove(after, "x", "added")
		if err != nil || strings.TrimRight(string(again), "\r\n") != strings.TrimRight(string(text), "\r\n") {
			t.Fatalf("%v: %q, want %q", err, again, text)
		}
	})
}
