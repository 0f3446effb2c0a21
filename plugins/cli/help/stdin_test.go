package help

import "testing"

// TestReadsStdin checks sentences about standard input. Most of them say that it is no data.
func TestReadsStdin(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"With no FILE, or when FILE is -, read standard input.", true},
		{"Usage: lint [file]\n\nIf no file is given, standard input will be used.", true},
		{"  -f, --file FILE   Input file. Use - to read from stdin", true},
		{"  --stdin-filename PATH  The name of the file on standard input", true},
		{"Checks workflows. It also accepts\nthe content of a file on stdin.", true},
		{"If the only argument is a dash ('-') or no arguments are given, standard input will be used.", true},
		{"Formats SQL statements from stdin", true},
		{"Runs fast. Reads stdin. Has commands.", true},

		{"usage: lint [file]", false},
		{"  --stdin0  Read something", false},
		{"Standard inputs are ignored", false},
		{"Does not read stdin.", false},
		{"  -n   Redirects stdin from /dev/null", false},
		{"  -i   Keep stdin open", false},
		{"  -a   Attach to stdin", false},
		{"Asks if stdin is a terminal.", false},
		{"Reads arguments from standard input", false},
		{"Takes the options on stdin", false},
		{"  -s   Read commands from standard input", false},
		{"  -    Execute stdin", false},
		{"  -f SCRIPT  Read the script from stdin", false},
		{"Reads a list of files from stdin", false},
		{"  --files0-from F  If F is -, then read names from standard input", false},
		{"  --password-stdin  Take the password from stdin", false},
		{"Reads data from stdin.\n\n  -x   Run the commands\n       on standard input", false},
	} {
		if got := readsStdin(clean(c.text)); got != c.want {
			t.Errorf("%q: %t", c.text, got)
		}
	}
}
