package results

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
)

// TestCutReportsWhatIsMissing: shortened text says so and contains only whole characters.
func TestCutReportsWhatIsMissing(t *testing.T) {
	const limit = 100_000
	for ahead := range 4 {
		text := strings.Repeat("x", ahead) + strings.Repeat("€", limit/3+10)
		var stderr bytes.Buffer
		got := cut((&invocation.Invocation{Terminal: &terminal.Terminal{Stderr: &stderr, OutTTY: true}}), text)
		shown, said, ok := strings.Cut(got, "\n\n... [truncated, ")
		if !ok || !utf8.ValidString(got) || !strings.HasPrefix(text, shown) || len(shown) > limit ||
			len(shown) < limit-2 {
			t.Errorf("%d ahead: %d bytes, %q", ahead, len(shown), said)
		}
		if !strings.Contains(stderr.String(), "warning: ") {
			t.Error(stderr.String())
		}
	}
}
