package session

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFixedLimits: docs/gateway.md has the limits that nobody can change as they
// are.
func TestFixedLimits(t *testing.T) {
	page, err := os.ReadFile("../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("so it is above %d MiB a session, or %d KiB while all sessions together have more than %d MiB. Above %d MiB together",
		sessionBytes>>20, squeezedBytes>>10, budgetBytes>>20, mostBytes>>20)
	if !strings.Contains(string(page), want) {
		t.Errorf("the page does not say %q", want)
	}
}
