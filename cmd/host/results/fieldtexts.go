package results

import (
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// The functions in this file parse validation errors that are not JSON. They return no
// fields for other texts.

var (
	sdkBegins = lazyregexp.New(`^[^\n]*?Invalid (?:arguments|structured content) for (?:tool|prompt) [^\s:]+: `)
	sdkLine   = lazyregexp.New(`^(.+) at (\S+)$`)
)

// sdkLines parses Zod's issues as written by the TypeScript SDK: lines "MESSAGE at PATH".
func sdkLines(text string) (head string, fields []field) {
	head = sdkBegins.FindString(text)
	if head == "" {
		return "", nil
	}
	placed := false
	for line := range strings.SplitSeq(text[len(head):], "\n") {
		f := field{message: line}
		if m := sdkLine.FindStringSubmatch(line); m != nil {
			f, placed = field{m[2], m[1]}, true
		}
		fields = append(fields, f)
	}
	if !placed {
		return "", nil
	}
	return head, fields
}

var (
	pydanticBegins = lazyregexp.New(`^[^\n]*?(\d+) validation errors? for [^\n]+\n`)
	pydanticEnds   = lazyregexp.New(` [\[(]type=[\w.-]+(?:, input_value=.*, input_type=.*|; .*)?[\])]$`)
)

// pydanticList parses Pydantic's errors: their number, then for each a line with the place,
// an indented line with the message, and one with a link.
func pydanticList(text string) (head string, fields []field) {
	m := pydanticBegins.FindStringSubmatch(text)
	if m == nil {
		return "", nil
	}
	head = m[0]
	lines := strings.Split(strings.TrimRight(text[len(head):], "\n"), "\n")
	for len(lines) > 0 {
		var f field
		if !strings.HasPrefix(lines[0], "  ") {
			f.path, lines = pydanticPlace(lines[0]), lines[1:]
		}
		n := 0 // number of lines in the message
		for n < len(lines) && !pydanticEnds.MatchString(lines[n]) {
			n++
		}
		if n == len(lines) || !strings.HasPrefix(lines[0], "  ") {
			return "", nil
		}
		message := strings.Join(lines[:n+1], "\n")
		f.message = message[:pydanticEnds.FindStringIndex(message)[0]]
		fields, lines = append(fields, f), lines[n+1:]
		if len(lines) > 0 && strings.HasPrefix(lines[0], "    For further information visit ") {
			lines = lines[1:]
		}
	}
	if m[1] != strconv.Itoa(len(fields)) {
		return "", nil
	}
	return head, fields
}

// pydanticPlace parses a place: a.0.b, or a -> 0 -> b in version 1 of Pydantic.
func pydanticPlace(line string) string {
	var path []any
	for name := range strings.SplitSeq(strings.ReplaceAll(line, " -> ", "."), ".") {
		path = append(path, indexed(name))
	}
	return dotted(path)
}

var (
	chainBegins = lazyregexp.New(`^[^\n]*?validating (?:root|/[^\s:]*): `)
	chainLink   = lazyregexp.New(`^validating (root|/[^\s:]*): `)
	chainNames  = lazyregexp.New(`^(?:required: missing|unexpected additional) properties:? \[(.*)\]$`)
)

// schemaChain parses errors of the Go SDK's validator: the chain of schemas down to the one
// that failed.
func schemaChain(text string) (head string, fields []field) {
	begin := chainBegins.FindString(text)
	if begin == "" || strings.Contains(text, "\n") {
		return "", nil
	}
	head = begin[:strings.LastIndex(begin, "validating ")]
	rest := text[len(head):]
	var path []any
	last := ""
	for m := chainLink.FindStringSubmatch(rest); m != nil; m = chainLink.FindStringSubmatch(rest) {
		pointer := strings.TrimPrefix(m[1], "root")
		// A step into a definition does not change the place.
		if step, ok := strings.CutPrefix(pointer, last+"/"); ok && !strings.HasPrefix(step, "$defs/") && !strings.HasPrefix(step, "definitions/") {
			path = append(path, schemaStep(pointed(step))...)
		}
		last, rest = pointer, rest[len(m[0]):]
	}
	names, message := chainMembers(rest)
	if names == nil {
		return head, []field{{dotted(path), rest}}
	}
	for _, name := range names {
		fields = append(fields, field{dotted(append(path[:len(path):len(path)], name)), message})
	}
	return head, fields
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
