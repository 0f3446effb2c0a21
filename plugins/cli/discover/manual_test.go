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
