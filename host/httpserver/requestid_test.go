package httpserver

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestRequestID checks the id of each kind of response: the client's if it is valid, and a
// random one otherwise.
func TestRequestID(t *testing.T) {
	t.Parallel()
	h := openFixture(t, nil, newScriptedServer("a", "2025-11-25"))
	random := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for what, c := range map[string]struct {
		method, path, body string
		ids                []string
		kept               bool
	}{
		"a valid one":          {"POST", "/mcp", legacyInit, []string{"trace/1:a-b_c.d=+"}, true},
		"none":                 {"POST", "/mcp", legacyInit, nil, false},
		"an empty one":         {"POST", "/mcp", legacyInit, []string{""}, false},
		"two":                  {"POST", "/mcp", legacyInit, []string{"a", "b"}, false},
		"a long one":           {"POST", "/mcp", legacyInit, []string{strings.Repeat("x", 129)}, false},
		"the longest":          {"POST", "/mcp", legacyInit, []string{strings.Repeat("x", 128)}, true},
		"with a quotation":     {"POST", "/mcp", legacyInit, []string{`a"b`}, false},
		"with a space":         {"POST", "/mcp", legacyInit, []string{"a b"}, false},
		"of a refused message": {"POST", "/mcp", "{", []string{"a"}, true},
		"of a wrong method":    {"PUT", "/mcp", "", []string{"a"}, true},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+h.address+c.path,
			strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header["X-Request-Id"] = c.ids
		r.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		got := resp.Header["X-Request-Id"]
		if len(got) != 1 || c.kept && got[0] != c.ids[0] || !c.kept && !random.MatchString(got[0]) {
			t.Errorf("%s: status %d, id %q", what, resp.StatusCode, got)
		}
	}
}

const legacyInit = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
