package httpserver

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/limit"
)

// TestFixedLimits checks that docs/gateway.md has the limits that cannot be
// configured.
func TestFixedLimits(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	for _, want := range []string{
		fmt.Sprintf("| request line and headers | %d KiB |", maxHeader>>10),
		fmt.Sprintf("a message of up to %d KiB comes while the memory is full", limit.Small>>10),
		fmt.Sprintf("and not %d seconds, to take %d KiB of a large answer", chunkTimeout/time.Second, chunk>>10),
		fmt.Sprintf("%d lines a second and %d at once, %d MiB a minute",
			limit.LinesPerSecond, limit.LinesAtOnce, limit.BytesPerMinute>>20),
		map[time.Duration]string{10 * time.Second: "the log says every ten seconds"}[limit.ToldEvery],

		map[time.Duration]string{10 * time.Second: "after ten seconds"}[bodyGrace],
		fmt.Sprintf("less than %d KiB a second", bodyRate>>10),
		fmt.Sprintf("| streams of one HTTP/2 connection | %d |", maxStreams),
		fmt.Sprintf("| time to take %d KiB of a large answer | %d seconds |", chunk>>10, chunkTimeout/time.Second),
		map[time.Duration]string{2 * time.Minute: "| idle connection | two minutes |"}[idleTimeout],
	} {
		if want == "" || !strings.Contains(text, want) {
			t.Errorf("docs/gateway.md does not contain %q", want)
		}
	}
}
