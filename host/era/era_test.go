package era

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// TestOf checks that a message is modern if its _meta or its header says so, and that initialize
// always begins a session.
func TestOf(t *testing.T) {
	const says = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	for _, c := range []struct {
		method, params string
		header         mcp.Revision
		want           Era
	}{
		{"tools/list", `{}`, "", Legacy},
		{"tools/list", `{}`, mcp.LatestLegacy, Legacy},
		{"tools/list", `{}`, mcp.Revision20260728, Modern},
		{"tools/list", `{` + says + `}`, "", Modern},
		{"tools/list", `{` + says + `}`, mcp.LatestLegacy, Modern},
		{"initialize", `{"protocolVersion":"2025-11-25",` + says + `}`, mcp.Revision20260728, Legacy},
		{"initialize", `{}`, mcp.Revision20260728, Modern},
	} {
		if got := Of(&mcp.Message{Method: c.method, Params: []byte(c.params)}, c.header); got != c.want {
			t.Errorf("%s %s with the header %q: %d, want %d", c.method, c.params, c.header, got, c.want)
		}
	}
}
