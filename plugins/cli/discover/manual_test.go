package discover

import (
	"os"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// TestManProber checks that fixed options do not prevent the use of man pages,
// but a script for an interpreter does.
func TestManProber(t *testing.T) {
	env := []string{"PATH=" + os.Getenv("PATH")}
	if _, err := stdio.Resolve("man", "", env); err != nil {
		t.Skip("man is not installed")
	}
	for _, c := range []struct {
		fixed []string
		want  bool
	}{{nil, true}, {[]string{"-sS", "--fail"}, true}, {[]string{"script.py"}, false}, {[]string{"-m", "pip"}, false}} {
		w := &walk{program: &model.Program{Name: "prog"}, prober: &prober{fixed: c.fixed, env: env}}
		if got := w.manProber() != nil; got != c.want {
			t.Errorf("%q: %t", c.fixed, got)
		}
	}
}

// TestPageIn: the file of a man page has the name of its command, a section and a
// compression. Two commands with the same file are read once.
func TestPageIn(t *testing.T) {
	names := []string{"sam-index", "sam-faidx", "prog-a.b"}
	for file, want := range map[string]string{
		"/usr/share/man/man1/sam-index.1.gz": "sam-index", "/usr/share/man/man1/sam-faidx.1": "sam-faidx",
		"sam-index": "sam-index", "/m/prog-a.b.1.gz": "prog-a.b",
		"/usr/share/man/man1/other.1.gz": "", "/usr/share/man/man1/other": "",
		"": "", "/": "", ".": "", ".gz": "", "sam-index-more.1": "",
	} {
		if got := pageIn(names, file); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
}
