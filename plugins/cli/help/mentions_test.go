package help

import "testing"

// TestShownAndMentions checks that options of usage lines and examples are
// shown, and that mentions count lines about something else.
func TestShownAndMentions(t *testing.T) {
	c, ok := Parse(`Usage: prog [--used] [-f FILE] [COMMAND]

Does it, as --told says. With --told and --told it counts once.

Options:
  -u, --used        Is used
  -f, --file FILE   A file, not --told
      --told        Is told of; see --file. It is --told itself
                    that counts --told not at all
      --environ     Is named by the environment
  -n, --number N    How many
  -a                One
  -b                Two
      --never       Never; more of --neverland

Environment:
  PROG   As --environ, --environ

Examples:
  prog -5 --file=x
  prog -ab
  prog -fname, or -q
`, About{Program: "prog"})
	if !ok {
		t.Fatal("Parse understood nothing")
	}
	want := map[string]struct {
		shown    bool
		mentions int
	}{
		"--used": {true, 0}, "--file": {true, 4}, "--told": {false, 1}, "--environ": {false, 1},
		"--number": {true, 1}, "-a": {true, 1}, "-b": {true, 1}, "--never": {false, 0},
	}
	for _, o := range c.Options {
		w, known := want[o.Names[0]]
		if !known {
			t.Errorf("unexpected option %q", o.Names)
		}
		if o.Shown != w.shown || (o.Mentions > 0) != (w.mentions > 0) {
			t.Errorf("%s: %t %d, want %t %d", o.Names[0], o.Shown, o.Mentions, w.shown, w.mentions)
		}
	}
	if len(c.Options) != len(want) {
		t.Errorf("%d options", len(c.Options))
	}
}
