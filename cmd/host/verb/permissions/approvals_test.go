package permissions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/control"
)

// TestApprovalReadsAsASentence: the text of an approval counts in words, and marks the name
// that a client gives itself.
func TestApprovalReadsAsASentence(t *testing.T) {
	for times, want := range map[int]string{1: "sent     0s ago, once\n", 2: "sent     0s ago, 2 times\n"} {
		inv, out := invocation.New("0.0.0", ""), filepath.Join(t.TempDir(), "out")
		file, err := os.Create(out)
		if err != nil {
			t.Fatal(err)
		}
		inv.Stdout = &terminal.Output{File: file}
		printApproval(inv, control.Approval{Client: "fastmcp 4.2.3", Since: time.Now(), Times: times, Covers: "call"})
		_ = file.Close()
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{want, "client   fastmcp 4.2.3 (unverified)\n"} {
			if !strings.Contains(string(text), line) {
				t.Errorf("%q lacks %q", string(text), line)
			}
		}
	}
}
