package httpconn

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestConnectionsWithin(t *testing.T) {
	for descriptors, want := range map[int]int{0: 0, 20: 10, 64: 32, 128: 96, 256: 192, 1024: 768, 65536: 61440,
		1 << 20: 1<<20 - 4096} {
		if got := connectionsWithin(descriptors); got != want {
			t.Errorf("%d descriptors: %d connections, want %d", descriptors, got, want)
		}
	}
}

// TestDocumentedLimits checks that docs/gateway.md has the limits of this package.
func TestDocumentedLimits(t *testing.T) {
	page, err := os.ReadFile("../../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, want := range []string{
		fmt.Sprintf("at least %d and at most %d", minReserve, maxReserve),
		map[time.Duration]string{time.Minute: "the log says once a minute"}[reportInterval],
	} {
		if want == "" || !strings.Contains(text, want) {
			t.Errorf("docs/gateway.md does not contain %q", want)
		}
	}
}
