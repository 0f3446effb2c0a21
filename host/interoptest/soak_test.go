package interoptest

import (
	"os"
	"testing"
)

// whole reports whether the tests go through all combinations of server,
// transport and era. Most of them take the same way through Junctor with another
// program at its end, whose start is what costs: each way is gone in every run,
// all of them in "make soak".
func whole() bool { return os.Getenv("JUNCTOR_SOAK") != "" }

// rarely leaves a test inside another one to those runs.
func rarely(t *testing.T) {
	t.Helper()
	if !whole() {
		t.Skip("make soak has it")
	}
}
