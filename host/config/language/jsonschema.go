package language

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/sdk"
)

// Schema writes the JSON Schema (2020-12) of files with a form. plugins are the manifests by
// the local names of the plugins; the bodies of their blocks are described with them. It is pure.
// Editors use the result.
func Schema(f *Form, plugins map[string]sdk.Manifest, title, description string) []byte {
	s := schemaWriter{plugins: plugins, defs: map[string]any{"expression": map[string]any{
		"type": "string", "pattern": `[$%]\{`, "description": "An expression, such as ${local.NAME}.",
	}}, written: map[*Form]string{}}
	root := s.form(f, "")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = title
	root["description"] = description
	root["$defs"] = s.defs
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic(err) // impossible: it consists of maps, lists, texts and numbers
	}
	return b.Bytes()
}

// A schemaWriter converts forms to JSON Schemas.
type schemaWriter struct {
	plugins map[string]sdk.Manifest
	defs    map[string]any
	written map[*Form]string // the keys in defs
}

// reference returns a reference to the schema of a form, which is at path.
func (s schemaWriter) reference(f *Form, path string) map[string]any {
	key, done := s.written[f]
	if !done {
		key = path
		s.written[f] = key
		s.defs[key] = s.form(f, path+".")
	}
	return map[string]any{"$ref": "#/$defs/" + key}
}

// form returns the schema of the body of a block. prefix begins the paths of its blocks.
func (s schemaWriter) form(f *Form, prefix string) map[string]any {
	object := objectSchema(f.Entries)
	if f.Open != "" {
		object["additionalProperties"] = map[string]any{"description": PlainDoc(f.Open),
			"type": Anything.Schema["type"]}
	}
	properties := object["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(f.Blocks)) {
		properties[name] = s.block(f.Blocks[name], prefix+name)
	}
	return object
}

// block returns the schema of the blocks of one type.
func (s schemaWriter) block(b Shape, path string) map[string]any {
	body := map[string]any{"type": "object"}
	if b.Body != nil {
		body = s.reference(b.Body, path)
	}
	if b.Labels == 0 {
		return described(repeated(body, b.Many), b.Doc)
	}
	object := map[string]any{"type": "object", "additionalProperties": repeated(body, b.Many)}
	if b.Kinds != nil || b.Role != nil {
		kinds := map[string]any{}
		for _, label := range slices.Sorted(maps.Keys(b.Kinds)) {
			kinds[label] = repeated(s.reference(b.Kinds[label], path+"."+label), b.Many)
		}
		s.components(b, path, kinds)
		object["properties"] = kinds
		if b.Role == nil {
			object["additionalProperties"] = false
		}
	}
	if !b.Many {
		object["maxProperties"] = 1
	}
	for range b.Labels - 1 {
		object = map[string]any{"type": "object", "additionalProperties": object}
	}
	return described(object, b.Doc)
}

// components adds the schemas of a plugin's components to kinds, by label.
func (s schemaWriter) components(b Shape, path string, kinds map[string]any) {
	if b.Role == nil {
		return
	}
	for _, c := range ComponentsOf(b.Role, s.plugins) {
		key := path + "." + c.Label
		s.defs[key] = pluginSchema(c.Schema)
		kinds[c.Label] = map[string]any{"$ref": "#/$defs/" + pointerEscaped(key)}
	}
}

// pointerEscaped escapes a key for a JSON Pointer.
func pointerEscaped(key string) string {
	return string(bytes.ReplaceAll([]byte(key), []byte("/"), []byte("~1")))
}

// A Component is what a plugin offers under one label.
type Component struct {
	Label  string
	Schema sdk.Schema
}

// ComponentsOf lists the components of a role, as the labels of blocks name them, by label.
func ComponentsOf(as *Role, plugins map[string]sdk.Manifest) (all []Component) {
	for _, plugin := range slices.Sorted(maps.Keys(plugins)) {
		m := plugins[plugin]
		offered := as.Offered(&m)
		names := slices.Sorted(maps.Keys(offered))
		for _, name := range names {
			if name == plugin || name == m.Name || len(names) == 1 {
				all = append(all, Component{plugin, offered[name]})
				break
			}
		}
		for _, name := range names {
			if len(names) > 1 {
				all = append(all, Component{plugin + "/" + name, offered[name]})
			}
		}
	}
	return all
}

// repeated returns the schema of a block that may be repeated: one object or a list of them.
func repeated(body map[string]any, many bool) map[string]any {
	if !many {
		return body
	}
	return map[string]any{"anyOf": []any{body, map[string]any{"type": "array", "items": body}}}
}

// described adds a description to a schema.
func described(schema map[string]any, doc string) map[string]any {
	schema = maps.Clone(schema)
	schema["description"] = PlainDoc(doc)
	return schema
}

// objectSchema returns the schema of an object with the given members.
func objectSchema(members []Entry) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, e := range members {
		properties[e.Name] = described(orExpression(e.Values.Schema), e.Text())
		if e.Required {
			required = append(required, e.Name)
		}
	}
	object := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		object["required"] = required
	}
	return object
}

// Text returns the description of an attribute with its values and its default.
func (e Entry) Text() string {
	text := e.Doc + " Accepts " + e.Values.Accepts + "."
	switch {
	case e.Required:
		text += " Required."
	case e.Unset != "":
		text += " Default: " + e.Unset + "."
	}
	return text
}

// orExpression returns the schema of an attribute whose value may be an expression too.
func orExpression(value map[string]any) map[string]any {
	_, constrained := value["pattern"]
	if text, single := value["type"].(string); single && text == "string" && !constrained {
		return value
	}
	if types, several := value["type"].([]string); several && slices.Contains(types, "string") {
		return value
	}
	return map[string]any{"anyOf": []any{value, map[string]any{"$ref": "#/$defs/expression"}}}
}

// pluginSchema returns the schema of a block that belongs to a plugin.
func pluginSchema(schema sdk.Schema) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, a := range schema.Attributes {
		properties[a.Name] = settingSchema(a)
		if a.Required {
			required = append(required, a.Name)
		}
	}
	for _, b := range schema.Blocks {
		body := repeated(pluginSchema(b.Schema), b.List)
		if b.Label != "" {
			body = map[string]any{"type": "object", "additionalProperties": body}
		}
		properties[b.Name] = described(body, b.Schema.Description)
		if b.Need {
			required = append(required, b.Name)
		}
	}
	object := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		object["required"] = required
	}
	if schema.Description != "" {
		object["description"] = schema.Description
	}
	return object
}

// settingSchema returns the schema of an attribute of a plugin.
func settingSchema(a sdk.Attribute) map[string]any {
	value := map[string]any{"type": Anything.Schema["type"]}
	if t, err := ctyjson.UnmarshalType(a.Type); err == nil {
		value = typeSchema(t)
	}
	switch {
	case len(a.Enum) > 0 && value["items"] != nil:
		value["items"] = orExpression(map[string]any{"enum": a.Enum})
	case len(a.Enum) > 0:
		value = map[string]any{"enum": a.Enum}
	case a.Format == "duration":
		value["pattern"] = DurationPattern
	case a.Format == "integer":
		value["type"] = "integer"
	}
	value = described(orExpression(value), a.Description)
	if a.Default != nil {
		value["default"] = a.Default
	}
	if a.Deprecated != "" {
		value["deprecated"] = true
	}
	return value
}

// typeSchema returns the schema of a type of the configuration language.
func typeSchema(t cty.Type) map[string]any {
	switch {
	case t == cty.String:
		return map[string]any{"type": "string"}
	case t == cty.Number:
		return map[string]any{"type": "number"}
	case t == cty.Bool:
		return map[string]any{"type": "boolean"}
	case t.IsListType() || t.IsSetType():
		return map[string]any{"type": "array", "items": typeSchema(t.ElementType())}
	case t.IsMapType():
		return map[string]any{"type": "object", "additionalProperties": typeSchema(t.ElementType())}
	case t.IsObjectType():
		properties, required := map[string]any{}, []string{}
		for _, name := range slices.Sorted(maps.Keys(t.AttributeTypes())) {
			properties[name] = typeSchema(t.AttributeType(name))
			if !t.AttributeOptional(name) {
				required = append(required, name)
			}
		}
		return map[string]any{"type": "object", "properties": properties,
			"required": required, "additionalProperties": false}
	case t.IsTupleType():
		return map[string]any{"type": "array"}
	}
	return map[string]any{"type": Anything.Schema["type"]}
}

var linkRule = lazyregexp.New(`\[([^\]]*)\]\([^)]*\)`)

// PlainDoc returns Markdown without the targets of links, which are relative to the
// reference pages.
func PlainDoc(markdown string) string { return linkRule.ReplaceAllString(markdown, "$1") }
