package plugin

import (
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
)

// TestNoManifest checks that the error quotes the unexpected output, sanitised and
// truncated, with a hint.
func TestNoManifest(t *testing.T) {
	for _, c := range []struct{ text, message, hint string }{
		{"hello\n{}", `did not print a manifest: its output begins with "hello"`, "before serve.Main"},
		{"\n\n \x1b[31mred\x00\nmore", `begins with "[31mred"`, "before serve.Main"},
		{strings.Repeat("é", 1000), `begins with "` + strings.Repeat("é", 60) + `…"`, "before serve.Main"},
		{"\xff\xfe", `begins with "` + "\uFFFD" + `"`, "before serve.Main"},
		{`"hello"`, `begins with "\"hello\""`, "before serve.Main"},
		{`{"name":"x"`, `begins with "{\"name\":\"x\""`, "before serve.Main"},
		{`{"name":"x","version":"1.0.0","transports":{"x":{}}}` + "\ndone\n",
			`text after its manifest, which begins with "done"`, "before serve.Main"},
		{`{"name":5}`, "it is not JSON of the expected structure", ""},
		{`{"name":"x"}`, "it lacks a name, a version or a component", ""},
	} {
		_, err := parseManifest([]byte(c.text))
		if err == nil {
			t.Errorf("%q was accepted as a manifest", c.text)
			continue
		}
		f := noManifest("/p", []byte(c.text), err)
		if f.Code != fault.PluginDescribe || !strings.Contains(f.Message, c.message) ||
			!strings.Contains(f.Hint, c.hint) || (c.hint == "") != (f.Hint == "") {
			t.Errorf("%q: %s (%s)", c.text, f.Message, f.Hint)
		}
	}
}
