package results

import (
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A form is a text in which a library says what is wrong: some words, and then errors.
type form struct {
	begins *lazyregexp.Regexp // groups: the words, and the number of errors if the text has it
	each   *lazyregexp.Regexp // one error, which begins where the last one ended
	fields func(groups []string) []field
}

// forms are the forms that are not JSON.
var forms = []form{
	{ // Zod's issues as the TypeScript SDK writes them: lines "MESSAGE at PATH", and others
		lazyregexp.New(`^([^\n]*?Invalid (?:arguments|structured content) for (?:tool|prompt) [^\s:]+: )` +
			`(?:(?s:.*)\n)?.+ at \S+(?:\n|$)`),
		lazyregexp.New(`^(?:(.+) at (\S+)|(.*))(?:\n|$)`),
		func(m []string) []field { return []field{{m[2], m[1] + m[3]}} },
	},
	{ // Pydantic: their number, then for each a line with the place, an indented message, and a link
		lazyregexp.New(`^([^\n]*?(\d+) validation errors? for [^\n]+\n)`),
		lazyregexp.New(`^(?:((?:[^ \n]| [^ \n]).*| ?)\n)? ((?s: .*?)|)` +
			` [\[(]type=[\w.-]+(?:, input_value=.*, input_type=.*|; .*)?[\])]` +
			`(?:\n    For further information visit .*)?(?:\n|$)`),
		func(m []string) []field { return []field{{pydanticPlace(m[1]), m[2]}} },
	},
	{ // the Go SDK: the chain of schemas down to the one that failed
		lazyregexp.New(`^([^\n]*?)validating (?:root|/[^\s:]*): [^\n]*$`),
		lazyregexp.New(`^((?:validating (?:root|/[^\s:]*): )+)(.*)$`),
		func(m []string) []field { return chainFields(m[1], m[2]) },
	},
}

// parse returns no fields for a text of another form.
func (f form) parse(text string) (head string, fields []field) {
	begin := f.begins.FindStringSubmatch(text)
	if begin == nil {
		return "", nil
	}
	head = begin[1]
	for rest := strings.TrimRight(text[len(head):], "\n"); rest != ""; {
		m := f.each.FindStringSubmatch(rest)
		if m == nil {
			return "", nil
		}
		fields, rest = append(fields, f.fields(m)...), rest[len(m[0]):]
	}
	if len(begin) > 2 && begin[2] != strconv.Itoa(len(fields)) {
		return "", nil
	}
	return head, fields
}

// pydanticPlace parses a place: a.0.b, or a -> 0 -> b in version 1 of Pydantic.
func pydanticPlace(line string) string {
	if line == "" {
		return ""
	}
	var path []any
	for name := range strings.SplitSeq(strings.ReplaceAll(line, " -> ", "."), ".") {
		path = append(path, indexed(name))
	}
	return dotted(path)
}

var chainNames = lazyregexp.New(`^(?:required: missing|unexpected additional) properties:? \[(.*)\]$`)

// chainFields returns the fields for a chain of schemas and the text behind it.
func chainFields(chain, text string) (fields []field) {
	var path []any
	last := ""
	for link := range strings.FieldsSeq(strings.ReplaceAll(chain, "validating ", "")) {
		pointer := strings.TrimPrefix(strings.TrimSuffix(link, ":"), "root")
		step, ok := strings.CutPrefix(pointer, last+"/")
		// A step into a definition does not change the place.
		if ok && !strings.HasPrefix(step, "$defs/") && !strings.HasPrefix(step, "definitions/") {
			path = append(path, schemaStep(pointed(step))...)
		}
		last = pointer
	}
	names, message := chainMembers(text)
	if names == nil {
		return []field{{dotted(path), text}}
	}
	for _, name := range names {
		fields = append(fields, field{dotted(append(path[:len(path):len(path)], name)), message})
	}
	return fields
}

// schemaStep returns the place that a step within a schema describes.
func schemaStep(step []any) (path []any) {
	for i := 0; i < len(step); i++ {
		switch step[i] {
		case "properties", "prefixItems":
			if i++; i < len(step) {
				path = append(path, step[i])
			}
		case "patternProperties":
			i++
			path = append(path, nil)
		case "items", "additionalItems", "unevaluatedItems", "additionalProperties", "unevaluatedProperties":
			path = append(path, nil)
		case "allOf", "anyOf", "oneOf", "dependentSchemas":
			i++
		}
	}
	return path
}

// chainMembers returns the missing or unexpected members in a text, and the message for
// each.
func chainMembers(text string) (names []string, message string) {
	m := chainNames.FindStringSubmatch(text)
	if m == nil {
		return nil, ""
	}
	for rest := m[1]; rest != ""; rest = strings.TrimPrefix(rest, " ") {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return nil, ""
		}
		name, _ := strconv.Unquote(quoted)
		names, rest = append(names, name), rest[len(quoted):]
	}
	if strings.HasPrefix(text, "required") {
		return names, "required, and missing"
	}
	return names, "unexpected additional property"
}
