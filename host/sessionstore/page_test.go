package sessionstore

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFixedLimits checks that docs/gateway.md has the limits that cannot be
// configured.
func TestFixedLimits(t *testing.T) {
	page, err := os.ReadFile("../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("the same happens above %d MiB a session", sessionBytes>>20),
		fmt.Sprintf("each session keeps its part of that eighth, %d KiB at most", smallBytes>>10),
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/gateway.md does not contain %q", want)
		}
	}
}
