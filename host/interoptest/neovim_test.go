package interoptest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// edited is a configuration with one mistake, in its third line.
const edited = `locals { org = "acme" }
server "files" {
  prefx = "f"
  transport "stdio" {
    command = ["x", /* 😀 */ local.org]
    env = { A = "b" }
    
  }
}
`

// TestNeovim edits a configuration in Neovim: it shows the mistake, completes, helps, jumps to
// a definition, and no longer shows the mistake once it is corrected. Without Neovim it is
// skipped, unless JUNCTOR_REQUIRE_NVIM is set.
func TestNeovim(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nvim"); err != nil {
		if os.Getenv("JUNCTOR_REQUIRE_NVIM") != "" {
			t.Fatal(err)
		}
		skip(t, "no editor: nvim is not installed")
	}
	home := t.TempDir()
	file, report := filepath.Join(home, "junctor.hcl"), filepath.Join(home, "report.json")
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "nvim", "--clean", "--headless", "-n", "-c", "luafile "+source("neovim/session.lua"))
	c.Dir = home
	c.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home, "JUNCTOR_HOME="+filepath.Join(home, "junctor"),
		"NVIM_LOG_FILE="+filepath.Join(home, "log"),
		"JUNCTOR="+program("junctor"), "CONFIG="+file, "REPORT="+report)
	output, err := c.CombinedOutput()
	text, readErr := os.ReadFile(report)
	if err != nil || readErr != nil {
		t.Fatalf("%v, %v: %s", err, readErr, output)
	}
	var saw struct {
		Error    string
		Mistakes []struct {
			Line, From, To  int
			Message, Source string
		}
		Completions            []string
		Hover, Jump, Corrected string
	}
	if err := json.Unmarshal(text, &saw); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if saw.Error != "" {
		t.Fatalf("%s\n%s", saw.Error, output)
	}
	if len(saw.Mistakes) != 1 || saw.Mistakes[0].Line != 2 || saw.Mistakes[0].From != 2 || saw.Mistakes[0].To != 7 ||
		saw.Mistakes[0].Source != "junctor" ||
		!strings.HasPrefix(saw.Mistakes[0].Message, `unknown attribute "prefx"`) {
		t.Errorf("the mistakes are %+v", saw.Mistakes)
	}
	for _, want := range []string{"args", "cwd", "pass_env"} {
		if !slices.Contains(saw.Completions, want) {
			t.Errorf("no completion %s in %q", want, saw.Completions)
		}
	}
	if slices.Contains(saw.Completions, "command") {
		t.Error("an attribute that is set is offered again")
	}
	if !strings.HasPrefix(saw.Hover, "**command**") {
		t.Errorf("the help is %q", saw.Hover)
	}
	if !strings.HasPrefix(saw.Jump, "locals {") || saw.Corrected != `  prefix = "f"` {
		t.Errorf("it jumps to %q and corrects %q", saw.Jump, saw.Corrected)
	}
}
