package discover

import (
	"os"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// TestManProber: options that every run begins with leave a program what it is,
// a script that it interprets does not.
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
