package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/sdk"
)

// excluded are the attributes that the example of the language cannot have, with the reason.
var excluded = map[string]string{
	"secret_store.file.password_fd":       "password_file is there",
	"gateway.http.auth.forwarded.tenant":  "tenant_header is there",
	"gateway.http.auth.forwarded.tenants": "tenant_header is there",
	"plugins.required.sha256":             "the program is built for the example",
}

// demoManifests are plugins with everything that a schema may have.
func demoManifests() map[string]sdk.Manifest {
	return map[string]sdk.Manifest{"stdio": fakes["builtin/stdio"],
		"kitchen": fakes["kitchen"], "acme": {Name: "acme", Transports: map[string]sdk.Schema{
			"one": {Attributes: []sdk.Attribute{
				{Name: "level", Description: "How much.", Type: json.RawMessage(`"string"`),
					Enum: []string{"low", "high"}, Required: true},
				{Name: "count", Description: "How many.", Type: json.RawMessage(`"number"`), Format: "integer",
					Default: json.RawMessage("3")},
				{Name: "shape", Description: "A shape.",
					Type: json.RawMessage(`["map",["object",{"x":"number"},["x"]]]`), Deprecated: "use level"},
				{Name: "any", Description: "A value.", Type: json.RawMessage(`"dynamic"`)},
			}, Blocks: []sdk.Block{{Name: "part", Label: "name", List: true,
				Schema: sdk.Schema{Description: "A part."}}}},
			"two": {},
		}}}
}

func compiled(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json") // compares it with the metaschema
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSchemaFitsTheMetaschema also checks that everything has a description.
func TestSchemaFitsTheMetaschema(t *testing.T) {
	text := Schema(demoManifests())
	compiled(t, text)
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	defs := root["$defs"].(map[string]any)
	for _, key := range []string{"server.transport.stdio", "server.transport.acme/one", "server.transport.acme/two",
		"gateway.http.auth.jwt"} {
		if defs[key] == nil {
			t.Errorf("the schema has no %s", key)
		}
	}
	eachProperty(root, defs, "", func(path string, property map[string]any) {
		if text, _ := property["description"].(string); text == "" || strings.Contains(text, "](") {
			t.Errorf("%s has the description %q", path, text)
		}
		typed := property["type"] != nil || property["anyOf"] != nil || property["$ref"] != nil ||
			property["enum"] != nil
		if !typed {
			t.Errorf("%s has no type", path)
		}
	})
}

// TestEveryAttributeIsDescribed: the forms of the language describe what they list.
func TestEveryAttributeIsDescribed(t *testing.T) {
	eachForm(Language(), "", map[*language.Form]bool{}, func(path string, f *language.Form) {
		if undescribed := append(f.Attributes, f.Private...); len(undescribed) > 0 {
			t.Errorf("%q: move %q to the entries of the form, with a description", path, undescribed)
		}
		for _, e := range f.Entries {
			if e.Doc == "" || e.Values.Accepts == "" || e.Values.Schema == nil || e.Required && e.Unset != "" {
				t.Errorf("%q: the entry of %q is incomplete", path, e.Name)
			}
		}
		for name, b := range f.Blocks {
			if b.Doc == "" || b.Body == nil && b.Kinds == nil && b.Role == nil || b.Labels == 0 && b.Body == nil {
				t.Errorf("%q: the block %q has no description or no form", path, name)
			}
		}
	})
}

// eachForm calls do for a form and the forms in it, each once.
func eachForm(f *language.Form, path string, seen map[*language.Form]bool, do func(path string, f *language.Form)) {
	if f == nil || seen[f] {
		return
	}
	seen[f] = true
	do(path, f)
	for name, b := range f.Blocks {
		eachForm(b.Body, path+"."+name, seen, do)
		for kind, inner := range b.Kinds {
			eachForm(inner, path+"."+name+"."+kind, seen, do)
		}
	}
}

// eachProperty calls do for each property of a schema and of the schemas that it refers to.
func eachProperty(schema, defs map[string]any, path string, do func(path string, property map[string]any)) {
	if ref, ok := schema["$ref"].(string); ok {
		key := strings.ReplaceAll(strings.TrimPrefix(ref, "#/$defs/"), "~1", "/")
		eachProperty(defs[key].(map[string]any), defs, key, do)
	}
	for _, alternative := range asList(schema["anyOf"]) {
		if one := alternative.(map[string]any); one["items"] == nil { // a list repeats the block
			eachProperty(one, defs, path, do)
		}
	}
	if more, ok := schema["additionalProperties"].(map[string]any); ok {
		eachProperty(more, defs, path, do)
	}
	for name, property := range asObject(schema["properties"]) {
		inner := strings.TrimPrefix(path+"."+name, ".")
		if strings.HasSuffix(path, ".shape") {
			continue // the members of the type of a plugin's attribute have no description
		}
		if labels := []string{"server.transport", "server.auth", "gateway.http.auth",
			"secret_store"}; !slices.Contains(labels, path) {
			do(inner, asObject(property))
		}
		eachProperty(asObject(property), defs, inner, do)
	}
}

func asList(v any) []any            { list, _ := v.([]any); return list }
func asObject(v any) map[string]any { object, _ := v.(map[string]any); return object }

// TestSchemaDescribesTheExample compares the schema with examples/language.hcl, which shows
// every attribute and every block.
func TestSchemaDescribesTheExample(t *testing.T) {
	path := filepath.Join("..", "..", "examples", "language.hcl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, diags := hclsyntax.ParseConfig(text, path, hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	form := jsonForm(file.Body.(*hclsyntax.Body), text)
	schema := Schema(nil)
	if err := compiled(t, schema).Validate(form); err != nil {
		t.Errorf("the schema does not accept the example: %v", err)
	}
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	collectPaths(root, asObject(root["$defs"]), form, "", shown)
	for path := range shown {
		shown[anyHolder(path)] = true
	}
	eachProperty(root, asObject(root["$defs"]), "", func(path string, _ map[string]any) {
		switch why := excluded[path]; {
		case !shown[anyHolder(path)] && why == "":
			t.Errorf("examples/language.hcl does not show %s", path)
		case shown[path] && why != "":
			t.Errorf("examples/language.hcl shows %s, although %s", path, why)
		}
	})
}

// anyHolder returns the path of a rule in a policy without the block of its holders: the
// example shows each rule once.
func anyHolder(path string) string {
	for _, holder := range []string{"role", "group", "subject"} {
		for _, effect := range []string{"allow", "deny", "confirm"} {
			if path == "policy."+holder+"."+effect {
				return "policy." + effect
			}
		}
	}
	return path
}

// collectPaths notes the properties of a schema that a value has.
func collectPaths(schema, defs map[string]any, value any, path string, shown map[string]bool) {
	if ref, ok := schema["$ref"].(string); ok {
		key := strings.TrimPrefix(ref, "#/$defs/")
		collectPaths(asObject(defs[key]), defs, value, key, shown)
	}
	for _, one := range asList(schema["anyOf"]) {
		collectPaths(asObject(one), defs, value, path, shown)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		for _, one := range asList(value) {
			collectPaths(items, defs, one, path, shown)
		}
	}
	properties := asObject(schema["properties"])
	for name, member := range asObject(value) {
		if property, ok := properties[name]; ok {
			inner := strings.TrimPrefix(path+"."+name, ".")
			shown[inner] = true
			collectPaths(asObject(property), defs, member, inner, shown)
		} else if more, ok := schema["additionalProperties"].(map[string]any); ok {
			collectPaths(more, defs, member, path, shown)
		}
	}
}

// jsonForm returns the JSON form of a body. A block that occurs once is an object.
func jsonForm(body *hclsyntax.Body, text []byte) map[string]any {
	form := map[string]any{}
	for name, a := range body.Attributes {
		form[name] = jsonExpression(a.Expr, text)
	}
	for _, b := range body.Blocks {
		at := form
		for _, key := range append([]string{b.Type}, b.Labels...)[:len(b.Labels)] {
			if at[key] == nil {
				at[key] = map[string]any{}
			}
			at = at[key].(map[string]any)
		}
		last, inner := slices.Concat([]string{b.Type}, b.Labels)[len(b.Labels)], any(jsonForm(b.Body, text))
		if first := at[last]; first != nil {
			list, several := first.([]any)
			if !several {
				list = []any{first}
			}
			inner = append(list, inner)
		}
		at[last] = inner
	}
	return form
}

func jsonExpression(e hclsyntax.Expression, text []byte) any {
	switch e := e.(type) {
	case *hclsyntax.TupleConsExpr:
		list := []any{}
		for _, one := range e.Exprs {
			list = append(list, jsonExpression(one, text))
		}
		return list
	case *hclsyntax.ObjectConsExpr:
		object := map[string]any{}
		for _, item := range e.Items {
			key, _ := language.Literal(item.KeyExpr)
			object[key] = jsonExpression(item.ValueExpr, text)
		}
		return object
	}
	v, diags := e.Value(nil)
	if diags.HasErrors() {
		return fmt.Sprintf("${%s}", e.Range().SliceBytes(text))
	}
	var decoded any
	if err := json.Unmarshal(jsonOf(v), &decoded); err != nil {
		panic(err) // jsonOf returns JSON
	}
	return decoded
}

// TestSchemaRefusesMistakes validates configurations with one mistake each.
func TestSchemaRefusesMistakes(t *testing.T) {
	schema := compiled(t, Schema(demoManifests()))
	for _, text := range []string{
		`serverr "a" { }`, `server "a" { prefx = "x" }`, `server "a" { enabled = 3 }`, `server "a" { share = "some" }`,
		`defaults { idle = 3 }`, "server \"a\" {\n timeouts { start = \"soon\" }\n}",
		`server "a" { max_message = "16MB" }`, `server "a" { context = ["weather"] }`,
		"server \"a\" {\n transport \"acme/one\" { }\n}",
		"server \"a\" {\n transport \"acme/one\" { level = \"mid\" }\n}",
		"server \"a\" {\n transport \"acme/one\" {\n level = \"low\"\n count = 1.5\n}\n}",
		"gateway {\n http {\n auth \"magic\" { }\n}\n}",
		"gateway {\n http {\n auth \"static_token\" { subject = \"x\" }\n}\n}",
		`gateway { max_memory = 512 }`, "gateway {\n limits {\n per_tool { rate = -1 }\n}\n}",
		`plugins { required = { x = { origin = "y" } } }`, `module "x" { }`,
		"test \"x\" {\n call \"a\" \"b\" { expect = \"maybe\" }\n}", `test "x" { principal = { name = "y" } }`,
	} {
		file, diags := hclsyntax.ParseConfig([]byte(text), "mistake", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(text, diags)
		}
		if err := schema.Validate(jsonForm(file.Body.(*hclsyntax.Body), []byte(text))); err == nil {
			t.Errorf("the schema accepts %s", text)
		}
	}
	for _, text := range []string{
		`server "a" { enabled = var.on }`, `server "a" { context = [local.x] }`,
		"server \"a\" {\n transport \"acme/one\" {\n level = env(\"L\")\n count = 2\n}\n}",
		`module "x" {` + "\nsource = \"./m\"\nregion = [1]\n}",
	} {
		file, diags := hclsyntax.ParseConfig([]byte(text), "good", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(text, diags)
		}
		if err := schema.Validate(jsonForm(file.Body.(*hclsyntax.Body), []byte(text))); err != nil {
			t.Errorf("the schema refuses %s: %v", text, err)
		}
	}
}
