package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

func TestParseNetwork(t *testing.T) {
	for text, want := range map[string]string{
		"": "no network", "null": "no network", "false": "no network",
		"true": "any address", "[443]": "TCP port 443 of any host", "[53,443]": "TCP port 53, 443 of any host",
	} {
		if n, err := sandbox.ParseNetwork(json.RawMessage(text)); err != nil || n.String() != want {
			t.Errorf("%s: %s, %v", text, n, err)
		}
	}
	for _, text := range []string{"[]", "[0]", "[65536]", "[-1]", "443", `"443"`, `["443"]`, "{}", "[443.5]",
		"[" + strings.Repeat("1,", 64) + "1]"} {
		if n, err := sandbox.ParseNetwork(json.RawMessage(text)); err == nil {
			t.Errorf("%s: %s", text, n)
		}
	}
}
