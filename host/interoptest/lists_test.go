package interoptest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestPages checks that a list of several pages, on either side of Junctor,
// arrives completely, in order and without duplicates.
func TestPages(t *testing.T) {
	const tools, describe = 1300, 4000 // more than 4 MiB
	for era, d := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			p := newWorkspace(t, withManyTools(tools, describe), gosdk("-page", "1")).serve().speak(d)
			p.initialize()
			p.waitForTools("go")
			p.waitForTools("many")
			var first map[string]json.RawMessage
			p.call("tools/list", nil).into(t, &first)
			if first["nextCursor"] == nil {
				t.Error("the list has only one page")
			}
			got := names(t, p.list("tools/list", "tools"), "name")
			if len(got) != tools+20 {
				t.Errorf("%d tools, want %d", len(got), tools+20)
			}
			once := slices.Compact(slices.Sorted(slices.Values(got)))
			if len(once) != len(got) {
				t.Errorf("%d of %d names are distinct", len(once), len(got))
			}
			extra := slices.DeleteFunc(slices.Clone(got),
				func(name string) bool { return !strings.HasPrefix(name, "many__extra-") })
			if !slices.IsSorted(extra) {
				t.Error("the order differs from the server's")
			}
			if got := p.tool(extra[len(extra)-1], object{}); !strings.Contains(got.raw, "always fails") {
				t.Errorf("the last tool: %s", got.raw)
			}
			for _, cursor := range []any{"nonsense", "LTE", 5, "OTk5OTk5OTk5OQ"} {
				if code := p.call("tools/list", object{"cursor": cursor}).failure(t).Code; code != -32602 {
					t.Errorf("cursor %v: code %d, want -32602", cursor, code)
				}
			}
		})
	}
}

// TestFailingRequestsByEra checks that failing requests get the code of the
// era, or a result that a model can read.
func TestFailingRequestsByEra(t *testing.T) {
	cases := []struct {
		name           string
		method         string
		params         object
		legacy, modern int    // codes; 0: a result with isError
		says           string // part of the answer
	}{
		{"unknown tool",
			"tools/call", object{"name": "go__none", "arguments": object{}}, -32602, -32602, "unknown_name"},
		{"tool of another server",
			"tools/call", object{"name": "go__extra-0000", "arguments": object{}}, -32602, -32602, "unknown_name"},
		{"tool without its prefix",
			"tools/call", object{"name": "echo", "arguments": object{}}, -32602, -32602, "unknown_name"},
		{"tool without a name", "tools/call", object{"arguments": object{}}, -32602, -32602, "name"},
		{"missing argument", "tools/call", object{"name": "go__echo", "arguments": object{}}, 0, 0, "text"},
		{"no arguments at all", "tools/call", object{"name": "go__echo"}, 0, 0, "text"},
		{"argument of a wrong type",
			"tools/call", object{"name": "go__echo", "arguments": object{"text": 5}}, 0, 0, "text"},
		{"argument that is not there",
			"tools/call", object{"name": "go__echo", "arguments": object{"text": "x", "txt": 1}}, 0, 0, "txt"},
		{"tool that fails",
			"tools/call", object{"name": "go__fail", "arguments": object{}}, 0, 0, "this tool always fails"},
		{"unknown prompt", "prompts/get", object{"name": "go__none"}, -32602, -32602, "unknown_name"},
		{"prompt without its argument", "prompts/get", object{"name": "go__topic"}, -32602, -32602, "topic"},
		{"unknown resource", "resources/read", object{"uri": "nowhere://x"}, -32002, -32602, "unknown_name"},
		{"resource without a URI", "resources/read", object{}, -32602, -32602, "uri"},
		{"completion of nothing",
			"completion/complete", object{"ref": object{"type": "ref/none"}}, -32602, -32602, "ref"},
		{"completion for an unknown prompt", "completion/complete",
			object{"ref": object{"type": "ref/prompt", "name": "no"}}, -32602, -32602, "unknown_name"},
		{"unknown method", "tools/destroy", nil, -32601, -32601, "tools/destroy"},
	}
	for era, d := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			p := newWorkspace(t, gosdk(), gosdk("-extra", "1").under("other")).serve().speak(d)
			p.initialize()
			for _, c := range cases {
				m := p.call(c.method, c.params)
				want := c.legacy
				if d.modern() {
					want = c.modern
				}
				if want == 0 && !strings.Contains(string(m.Result), `"isError":true`) ||
					want != 0 && (m.Error == nil || m.failure(t).Code != want) {
					t.Errorf("%s: want code %d (0: an error that is a result): %s", c.name, want, m.raw)
				}
				if !strings.Contains(m.raw, c.says) {
					t.Errorf("%s: no %q in %s", c.name, c.says, m.raw)
				}
			}
			if got := p.tool("go__echo", object{"text": "still here"}).text(t); !strings.Contains(got, "still here") {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

// TestPing checks that only the legacy era has ping.
func TestPing(t *testing.T) {
	t.Parallel()
	p := newWorkspace(t, gosdk()).serve().speak(oldDialect)
	if got := p.call("ping", nil); string(got.Result) != "{}" {
		t.Errorf("ping before the handshake: %s", got.raw)
	}
	p.initialize()
	if got := p.call("ping", nil); string(got.Result) != "{}" {
		t.Errorf("ping: %s", got.raw)
	}
	p.dialect = newDialect
	if code := p.call("ping", nil).failure(t).Code; code != -32601 {
		t.Errorf("a modern ping: code %d, want -32601", code)
	}
}
