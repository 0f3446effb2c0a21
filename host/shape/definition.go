package shape

import (
	"path"
	"strings"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// The tables: each member of a definition that the schema of a revision restricts. No
// revision restricts a member in another way than these, except for the schemas of a
// tool, which legacy revisions restrict more.
var (
	meta = &rule{kind: object}

	icon = objectOf(
		required("src", textOf()), optional("mimeType", textOf()), optional("sizes", listOf(textOf())),
		optional("theme", textOf("dark", "light")))
	icons = listOf(icon)

	annotations = objectOf(
		optional("audience", listOf(textOf("user", "assistant"))), optional("priority", &rule{kind: number, max: 1}),
		optional("lastModified", textOf()))

	tool = objectOf(
		optional("title", textOf()), optional("description", textOf()), optional("icons", icons),
		optional("_meta", meta),
		optional("execution", objectOf(optional("taskSupport", textOf("forbidden", "optional", "required")))),
		optional("annotations", objectOf(
			optional("title", textOf()), optional("readOnlyHint", &rule{kind: flag}),
			optional("destructiveHint", &rule{kind: flag}),
			optional("idempotentHint", &rule{kind: flag}), optional("openWorldHint", &rule{kind: flag}))))

	prompt = objectOf(
		optional("title", textOf()), optional("description", textOf()), optional("icons", icons),
		optional("_meta", meta),
		optional("arguments", listOf(objectOf(
			required("name", textOf()), optional("title", textOf()), optional("description", textOf()),
			optional("required", &rule{kind: flag})))))

	resource = objectOf(
		optional("uri", textOf()), derived("name", textOf(), nameOf("uri")), optional("title", textOf()),
		optional("description", textOf()), optional("mimeType", textOf()), optional("size", &rule{kind: integer}),
		optional("icons", icons), optional("annotations", annotations), optional("_meta", meta))

	template = objectOf(
		optional("uriTemplate", textOf()), derived("name", textOf(), nameOf("uriTemplate")),
		optional("title", textOf()), optional("description", textOf()), optional("mimeType", textOf()),
		optional("icons", icons), optional("annotations", annotations), optional("_meta", meta))

	// objectSchema is the schema of the arguments of a tool, and in legacy revisions of
	// its results.
	objectSchema = objectOf(
		derived("type", &rule{kind: objectType}, func([]byte) []byte { return []byte(`"object"`) }),
		optional("$schema", textOf()), optional("properties", &rule{kind: object, each: &rule{kind: subschema}}),
		optional("required", listOf(textOf())))

	// anySchema is the schema of the results of a tool in modern revisions.
	anySchema = objectOf(
		optional("$schema", textOf()), optional("properties", &rule{kind: object, each: &rule{kind: subschema}}),
		optional("required", listOf(textOf())))
)

// nameOf derives the name of a resource: its title, or the end of its URI.
func nameOf(uri string) func(of []byte) []byte {
	return func(of []byte) []byte {
		name, _ := mcp.TextMember(of, "title")
		if name == "" {
			name, _ = mcp.TextMember(of, uri)
			if base := path.Base(strings.TrimRight(name, "/")); base != "." && base != "/" {
				name = base
			}
		}
		return mcp.AppendText(nil, name)
	}
}

// Tool returns the definition of a tool without its schemas as clients can read it, and
// the paths of what was left out. The catalog calls the functions of this file, which are pure.
func Tool(raw []byte) (fitted []byte, left []string) { return definition(tool, raw) }

// Prompt is Tool for a prompt.
func Prompt(raw []byte) (fitted []byte, left []string) { return definition(prompt, raw) }

// Resource is Tool for a resource.
func Resource(raw []byte) (fitted []byte, left []string) { return definition(resource, raw) }

// Template is Tool for a resource template.
func Template(raw []byte) (fitted []byte, left []string) { return definition(template, raw) }

func definition(r *rule, raw []byte) (fitted []byte, left []string) {
	var f fitting
	fitted, ok := f.fit(r, raw, "")
	if !ok {
		return raw, nil // it is no object; readers find no name in it
	}
	return fitted, f.left
}

// InputSchema returns the schema of a tool's arguments as clients can read it, and the
// paths of what was left out. ok is false if the schema allows no object.
func InputSchema(raw []byte) (fitted []byte, left []string, ok bool) {
	f := fitting{}
	fitted, ok = f.fit(objectSchema, raw, "inputSchema")
	return fitted, f.left, ok
}

// OutputSchema is InputSchema for the schema of a tool's results in modern revisions,
// which may be of any type.
func OutputSchema(raw []byte) (fitted []byte, left []string, ok bool) {
	f := fitting{}
	fitted, ok = f.fit(anySchema, raw, "outputSchema")
	return fitted, f.left, ok
}

// LegacyTool returns the definition of a tool for legacy clients. It expects one that
// modern clients can read. In legacy revisions the properties of schemas are objects, and
// a result is an object: an output schema for anything else is left out.
func LegacyTool(raw []byte) []byte {
	if s := mcp.Member(raw, "inputSchema"); s != nil {
		if fitted := withoutFlags(s); !same(fitted, s) {
			raw = mcp.SetMember(raw, "inputSchema", fitted)
		}
	}
	s := mcp.Member(raw, "outputSchema")
	if s == nil {
		return raw
	}
	var f fitting
	fitted, ok := f.fit(objectSchema, s, "")
	if !ok {
		return mcp.DeleteMember(raw, "outputSchema")
	}
	if fitted = withoutFlags(fitted); !same(fitted, s) {
		raw = mcp.SetMember(raw, "outputSchema", fitted)
	}
	return raw
}

// withoutFlags replaces the properties of a schema that are true or false by objects with
// the same meaning.
func withoutFlags(schema []byte) []byte {
	return mcp.RewriteMembers(schema, func(name string, value []byte) []byte {
		if name != "properties" {
			return value
		}
		return mcp.RewriteMembers(value, func(_ string, property []byte) []byte {
			switch property[0] {
			case 't':
				return emptyObject
			case 'f':
				return []byte(`{"not":{}}`)
			}
			return property
		})
	})
}
