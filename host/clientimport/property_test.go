package clientimport

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"pgregory.net/rapid"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// memberNames are the names of all members that import knows, and of some that it does not.
func memberNames() (all []string) {
	for _, m := range clientconfig.Members {
		all = append(all, m.Names...)
	}
	return append(all, "unknown", "x-y", "extra.member")
}

// aText is a text with a word that is nowhere else.
var aText = rapid.Custom(func(t *rapid.T) string {
	form := rapid.SampledFrom([]string{"%s", "${X}%s", "a %s b", "--%s=1", "https://h.example/%s", "${config:%s}",
		"%s=${Y:-z}", "<%s>", "{\"a\": \"%s\"}"}).Draw(t, "form")
	return fmt.Sprintf(form, rapid.StringMatching("q[a-z]{12}q").Draw(t, "word"))
})

// aValue is a value of any kind.
var aValue = rapid.Custom(func(t *rapid.T) any {
	text := aText.Draw(t, "text")
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return rapid.IntRange(-5, 100_000).Draw(t, "number")
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return []any{text}
	case 3:
		return map[string]any{"inner": text}
	case 4:
		return map[string]any{"headers": map[string]any{"X-A": text}, "type": "x", "clientId": text, "enabled": true}
	case 5:
		return []any{map[string]any{"name": text}}
	case 6:
		return nil
	}
	return text
})

// TestNothingIsLost: each member of an entry is in the block or in a note, or the table says
// that it is left out.
func TestNothingIsLost(t *testing.T) {
	leftOut := map[string]bool{}
	for _, m := range clientconfig.Members {
		for _, name := range m.Names {
			leftOut[name] = m.Outcome == clientconfig.LeftOut
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.SampledFrom([]map[string]any{{"command": "x"}, {"url": "https://h.example/mcp"}}).Draw(t, "base")
		all := map[string]any{}
		for name, v := range entry {
			all[name] = v
		}
		name := rapid.SampledFrom(memberNames()).Draw(t, "member")
		value := aValue.Draw(t, "value")
		if all[name] != nil {
			return
		}
		all[name] = value
		text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"r": all}})
		if err != nil {
			t.Fatal(err)
		}
		file, err := clientconfig.ReadContent(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := Convert(file, Environment{})
		if _, diags := hclsyntax.ParseConfig(got.HCL, "x", hcl.InitialPos); diags.HasErrors() {
			t.Fatalf("%s\n%s", diags, got.HCL)
		}
		notes := strings.Join(got.Notes, "\n")
		bare := Convert(clientconfig.Content{Servers: []clientconfig.Server{{Name: "r", Command: []string{"x"}}}},
			Environment{})
		same := string(got.HCL) == string(bare.HCL) || entry["url"] != nil &&
			string(got.HCL) == "server \"r\" {\n  transport \"http\" {\n    url = \"https://h.example/mcp\"\n  }\n}\n"
		if saysNothing(name, value) || leftOut[name] || strings.Contains(notes, "not imported") {
			return
		}
		if same && !strings.Contains(notes, name) {
			t.Fatalf("%s = %v is lost\n%s\n%s", name, value, got.HCL, notes)
		}
	})
}

// saysNothing reports whether a value of a member is that of an entry without it.
func saysNothing(name string, value any) bool {
	switch value {
	case nil, "":
		return true
	case true:
		return name == "enabled" || name == "isActive" || strings.HasPrefix(name, "oauth") && name == "oauth"
	case false:
		return name == "disabled" || name == "required" || name == "oauth" || name == "auth" || name == "cli"
	}
	return false
}
