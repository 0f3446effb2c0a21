package shape

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
)

// A tableCase is one case of a table in testdata/odd, by the first words of its lines.
type tableCase struct {
	kind, name string
	lines      map[string]string
}

func readTable(t *testing.T, file string) (all []tableCase) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "odd", file))
	if err != nil {
		t.Fatal(err)
	}
	var c tableCase
	for line := range strings.Lines(string(text) + "\n\n") {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "" && c.lines != nil:
			all, c = append(all, c), tableCase{}
		case line == "":
		case c.lines == nil:
			c = tableCase{word, rest, map[string]string{}}
		default:
			c.lines[word] = rest
		}
	}
	return all
}

// An oracle has the schemas of the specification, of one revision.
type oracle struct {
	revision mcp.Revision
	schemas  []byte
	compiled map[string]*schema.Schema
}

func oracles(t testing.TB) (all []*oracle) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "odd", "schemas.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mcp.Revisions {
		all = append(all, &oracle{r, mcp.Member(text, string(r)), map[string]*schema.Schema{}})
	}
	return all
}

// refuses returns what a definition of the specification refuses in a value, or "".
func (o *oracle) refuses(t testing.TB, definition string, value []byte) string {
	t.Helper()
	s := o.compiled[definition]
	if s == nil {
		within := "$defs"
		if mcp.Member(o.schemas, within) == nil {
			within = "definitions"
		}
		root := mcp.SetMember(o.schemas, "$ref", mcp.AppendText(nil, "#/"+within+"/"+definition))
		if within == "definitions" {
			root = mcp.SetMember(root, "$schema", []byte(`"http://json-schema.org/draft-07/schema#"`))
		}
		var err error
		if s, err = schema.Compile(root); err != nil {
			t.Fatal(o.revision, definition, err)
		}
		o.compiled[definition] = s
	}
	if problems := s.Check(value); len(problems) > 0 {
		return problems[0].String()
	}
	return ""
}

// kinds has the function for each kind of definition, and its name in the schemas.
var kinds = map[string]struct {
	fit        func([]byte) ([]byte, []string)
	definition string
	id         string
}{
	"tool": {fitTool, "Tool", "name"}, "prompt": {Prompt, "Prompt", "name"},
	"resource": {Resource, "Resource", "uri"}, "template": {Template, "ResourceTemplate", "uriTemplate"},
}

// fitTool is Tool with the schemas, without what package catalog replaces.
func fitTool(raw []byte) ([]byte, []string) {
	fitted, left := Tool(raw)
	for name, fit := range map[string]func([]byte) ([]byte, []string, bool){"inputSchema": InputSchema,
		"outputSchema": OutputSchema} {
		was := mcp.Member(fitted, name)
		switch {
		case was == nil && name == "outputSchema", string(was) == "null" && name == "outputSchema":
			fitted = mcp.DeleteMember(fitted, name)
		case was == nil:
			fitted = mcp.SetMember(fitted, name, []byte(`{"type":"object"}`))
		default:
			is, out, ok := fit(was)
			if ok && was[0] == '{' {
				var more []string
				is, more, ok = corrected(name, is)
				out = append(out, more...)
			}
			switch {
			case ok && was[0] == '{' && is == nil:
				fitted, left = mcp.DeleteMember(fitted, name), append(left, out...)
			case ok && was[0] == '{':
				fitted, left = mcp.SetMember(fitted, name, is), append(left, out...)
			case name == "inputSchema":
				fitted = mcp.SetMember(fitted, name, []byte(`{"type":"object"}`))
			default:
				fitted = mcp.DeleteMember(fitted, name)
			}
		}
	}
	return fitted, left
}

// corrected is what package catalog does with a schema.
func corrected(member string, raw []byte) (is []byte, left []string, ok bool) {
	correct := schema.Portable
	if member == "inputSchema" {
		correct = schema.Repair
	}
	is, pointers, err := correct(raw)
	for _, pointer := range pointers {
		left = append(left, member+strings.ReplaceAll(pointer, "/", "."))
	}
	return is, left, err == nil
}

// TestDefinitions checks the table of odd definitions: what clients get is what the table
// says, and what the schema of each revision allows.
func TestDefinitions(t *testing.T) {
	all := oracles(t)
	for _, c := range readTable(t, "definitions.txt") {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			k := kinds[c.kind]
			fitted, left := k.fit([]byte(c.lines["<"]))
			if id, ok := mcp.TextMember(fitted, k.id); c.lines["hidden"] != "" {
				if ok {
					t.Errorf("the item has the id %q", id)
				}
				return
			}
			want := c.lines[">"]
			if meta := mcp.Member([]byte(want), "_meta"); strings.Contains(string(meta), "junctor/") {
				// Package catalog adds it.
				want, fitted = string(mcp.DeleteMember([]byte(want), "_meta")), mcp.DeleteMember(fitted, "_meta")
			}
			if string(fitted) != want {
				t.Errorf("%s\nwant %s", fitted, want)
			}
			if got := strings.Join(left, ", "); got != c.lines["left"] {
				t.Errorf("left out: %q, want %q", got, c.lines["left"])
			}
			checkDefinition(t, all, k.definition, fitted, c)
		})
	}
}

// checkDefinition compares a definition with the schema of each revision.
func checkDefinition(t *testing.T, all []*oracle, definition string, fitted []byte, c tableCase) {
	t.Helper()
	legacy := fitted
	if definition == "Tool" {
		legacy = LegacyTool(fitted)
		if want := c.lines["legacy"]; want != "" && string(legacy) != want {
			t.Errorf("legacy clients get %s\nwant %s", legacy, want)
		} else if want == "" && string(legacy) != string(fitted) {
			t.Errorf("legacy clients get %s", legacy)
		}
	}
	for _, o := range all {
		shown := legacy
		if o.revision.Modern() {
			shown = fitted
		}
		if why := o.refuses(t, definition, shown); why != "" {
			t.Errorf("%s refuses %s: %s", o.revision, shown, why)
		}
	}
}

// results are the names of the results in the schemas, by method.
var results = map[string]string{
	mcp.MethodCallTool: "CallToolResult", mcp.MethodReadResource: "ReadResourceResult",
	mcp.MethodGetPrompt: "GetPromptResult", mcp.MethodComplete: "CompleteResult",
}

// modernMembers are the members that package era adds for modern clients.
const modernMembers = `{"resultType":"complete","ttlMs":0,"cacheScope":"private"`

// TestResults is TestDefinitions for results.
func TestResults(t *testing.T) {
	all := oracles(t)
	for _, c := range readTable(t, "results.txt") {
		t.Run(c.kind+"/"+c.name, func(t *testing.T) {
			for _, o := range all {
				want := c.lines[">"]
				if legacy, ok := c.lines["legacy"]; ok && !o.revision.Modern() {
					want = legacy
				}
				if oldest, ok := c.lines["oldest"]; ok && o.revision == mcp.Revision20241105 {
					want = oldest
				}
				got, err := Result(c.kind, []byte(c.lines["<"]), o.revision, "odd:good")
				if err != nil {
					if err.Error() != c.lines["fails"] {
						t.Errorf("%v, want %q", err, c.lines["fails"])
					}
					continue
				}
				if newer := o.revision == mcp.Revision20250326; string(got) != want &&
					!(newer && c.lines["oldest"] != "") {
					t.Errorf("%s: %s\nwant %s", o.revision, got, want)
				}
				if why := o.refuses(t, results[c.kind], withModernMembers(o, got)); why != "" {
					t.Errorf("%s refuses %s: %s", o.revision, got, why)
				}
			}
		})
	}
}

func withModernMembers(o *oracle, result []byte) []byte {
	if !o.revision.Modern() || !strings.HasPrefix(string(result), "{") {
		return result
	}
	for name, value := range mcp.Members([]byte(modernMembers + "}")) {
		result = mcp.SetMember(result, name, value)
	}
	return result
}

// FuzzShapes checks that whatever a server sends is an item or a result that the schema of
// each revision allows, and that it is not corrected twice.
func FuzzShapes(f *testing.F) {
	for _, file := range []string{"definitions.txt", "results.txt"} {
		for _, c := range readTable(&testing.T{}, file) {
			f.Add([]byte(c.lines["<"]))
		}
	}
	all := oracles(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if len(raw) > 4<<10 || mcp.Scan(raw) != nil {
			return
		}
		raw = []byte(strings.TrimSpace(string(raw)))
		for _, k := range kinds {
			fitted, _ := k.fit(raw)
			if id, ok := mcp.TextMember(fitted, k.id); !ok || id == "" || mcp.Scan(fitted) != nil {
				continue
			}
			checkFuzzed(t, all, k.definition, fitted)
		}
		for method, definition := range results {
			for _, o := range all {
				got, err := Result(method, raw, o.revision, "odd:good")
				if kind, said := mcp.TextMember(raw, "resultType"); err != nil || said && kind != "complete" {
					continue
				}
				if why := o.refuses(t, definition, withModernMembers(o, got)); why != "" {
					t.Fatalf("%s, %s: %s became %s: %s", o.revision, method, raw, got, why)
				}
				if blocks := Blocks(method); blocks != "" && mcp.NamesOf(raw).Plain(blocks) &&
					string(got) != string(raw) {
					t.Fatalf("%s, %s: %s is plain, and became %s", o.revision, method, raw, got)
				}
				if again, _ := Result(method, got, o.revision, "odd:good"); string(again) != string(got) {
					t.Fatalf("%s, %s: %s became %s, then %s", o.revision, method, raw, got, again)
				}
			}
		}
	})
}

func checkFuzzed(t *testing.T, all []*oracle, definition string, fitted []byte) {
	t.Helper()
	legacy := fitted
	if definition == "Tool" {
		legacy = LegacyTool(fitted)
	}
	for _, o := range all {
		shown := legacy
		if o.revision.Modern() {
			shown = fitted
		}
		if why := o.refuses(t, definition, shown); why != "" {
			t.Fatalf("%s refuses %s: %s", o.revision, shown, why)
		}
	}
}
