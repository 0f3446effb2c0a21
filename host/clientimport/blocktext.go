package clientimport

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// A blockText is the text of blocks of a configuration, before it is formatted. It belongs to one
// conversion.
type blockText struct{ strings.Builder }

func (t *blockText) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// listed writes an attribute that is a list, unless it is empty.
func (t *blockText) listed(attribute string, all []string) {
	if len(all) > 0 {
		t.line("%s = %s", attribute, list(all))
	}
}

// literalMap writes a map, unless it is empty.
func (t *blockText) literalMap(attribute string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, key(name)+" = "+quote(values[name]))
	}
	t.line("%s = { %s }", attribute, strings.Join(all, ", "))
}

// tools writes which tools a server offers.
func (t *blockText) tools(s clientconfig.Server) {
	if s.Allow == nil && len(s.Deny) == 0 && len(s.Read) == 0 && len(s.Write) == 0 && len(s.Confirm) == 0 {
		return
	}
	t.line("tools {")
	if s.Allow != nil { // a denial wins, there and here
		denied := func(tool string) bool { return slices.Contains(s.Deny, tool) }
		t.line("allow = %s", list(slices.DeleteFunc(slices.Clone(s.Allow), denied)))
	}
	t.listed("deny", s.Deny)
	t.listed("confirm", s.Confirm)
	t.listed("read", s.Read)
	t.listed("write", s.Write)
	t.line("}")
}

// times writes the timeouts of a server.
func (t *blockText) times(s clientconfig.Server) {
	if cmp.Or(s.Start, s.Call) == 0 {
		return
	}
	t.line("timeouts {")
	for _, one := range []struct {
		name string
		d    time.Duration
	}{{"start", s.Start}, {"call", s.Call}} {
		if one.d > 0 {
			t.line("%s = %q", one.name, shortTime(one.d))
		}
	}
	t.line("}")
}

// shortTime returns a duration without units that are zero.
func shortTime(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}

func (t *blockText) ruleBlocks(rules []rule) {
	for _, r := range rules {
		t.line("%s {", r.Effect)
		t.listed("servers", r.Servers)
		t.listed("tools", r.Tools)
		t.listed("resources", r.Resources)
		t.listed("prompts", r.Prompts)
		if r.Access != "" {
			t.line("access = %q", r.Access)
		}
		if r.when != "" {
			t.line("when = %s", r.when)
		}
		if r.Effect == clientconfig.Confirm {
			t.line(`by = "client"`)
		}
		if r.Once {
			t.line("covers = \"server\"\nvalid = \"12h\"")
		}
		t.line("}")
	}
}
