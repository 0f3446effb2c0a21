package upstream

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// TestRefusedVersion checks which errors of initialize are about the revision, and with
// which revision Junctor tries again.
func TestRefusedVersion(t *testing.T) {
	for text, want := range map[string]mcp.Revision{
		`{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2025-06-18"]}}`:                     "2025-06-18",
		`{"code":-32600,"message":"no","data":{"supportedVersions":["2024-11-05","2025-03-26"]}}`:                          "2025-03-26",
		`{"code":-32000,"message":"no","data":{"supportedProtocolVersions":["2024-11-05"]}}`:                               "2024-11-05",
		`{"code":-32602,"message":"Unsupported protocol version: 2025-11-25 (supported versions: 2025-06-18,2025-03-26)"}`: "2025-06-18",
		`{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2025-11-25"]}}`:                     "",
		`{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"]}}`:                     "",
		`{"code":-32602,"message":"Unsupported protocol version","data":{"supported":[]}}`:                                 "",
		`{"code":-32602,"message":"Unsupported protocol version","data":{"supported":"2025-06-18"}}`:                       "",
		`{"code":-32602,"message":"Unsupported protocol version","data":{"supported":[20250618]}}`:                         "",
		`{"code":-32602,"message":"Unsupported protocol version","data":null}`:                                             "",
		`{"code":-32602,"message":"Unsupported protocol version 2025-11-25"}`:                                              "",
		`{"code":-32603,"message":"licence expired on 2025-06-18"}`:                                                        "",
		`{"code":-32603,"message":"no licence"}`:                                                                           "",
		`{"code":-32602,"data":{"supported":["2025-06-18x"]}}`:                                                             "",
	} {
		got := mcp.Revision("")
		if v := refusedVersionOf([]byte(text), mcp.Revision20251125); v != nil {
			got = v.other(mcp.Revision20251125)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
