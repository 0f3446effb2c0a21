package plugin

import (
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/fault"
)

// TestNoManifest: what was printed is quoted where it is in the way, clean and
// bounded, with the rule that it breaks.
func TestNoManifest(t *testing.T) {
	for _, c := range []struct{ text, message, hint string }{
		{"hello\n{}", `printed what is not a manifest: it begins with "hello"`, "before serve.Main"},
		{"\n\n \x1b[31mred\x00\nmore", `it begins with "[31mred"`, "before serve.Main"},
		{strings.Repeat("é", 1000), `it begins with "` + strings.Repeat("é", 60) + `" ...`, "before serve.Main"},
		{"\xff\xfe", `it begins with "` + "\uFFFD" + `"`, "before serve.Main"},
		{`"hello"`, `it begins with "\"hello\""`, "before serve.Main"},
		{`{"name":"x"`, `it begins with "{\"name\":\"x\""`, "before serve.Main"},
		{`{"name":"x","version":"1.0.0","transports":{"x":{}}}` + "\ndone\n", `behind it stands "done"`, "before serve.Main"},
		{`{"name":5}`, "it is not JSON of the expected shape", ""},
		{`{"name":"x"}`, "it lacks a name, a version or an offer", ""},
	} {
		_, err := parseManifest([]byte(c.text))
		if err == nil {
			t.Errorf("%q is a manifest", c.text)
			continue
		}
		f := noManifest("/p", []byte(c.text), err)
		if f.Code != fault.PluginDescribe || !strings.Contains(f.Message, c.message) || !strings.Contains(f.Hint, c.hint) || (c.hint == "") != (f.Hint == "") {
			t.Errorf("%q: %s (%s)", c.text, f.Message, f.Hint)
		}
	}
}
