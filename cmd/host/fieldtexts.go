package main

import (
	"regexp"
	"strconv"
	"strings"
)

// The texts of validation errors that are not JSON. Each function returns no
// fields for a text that is not of its form.

var (
	sdkBegins = regexp.MustCompile(`^[^\n]*?Invalid (?:arguments|structured content) for (?:tool|prompt) [^\s:]+: `)
	sdkLine   = regexp.MustCompile(`^(.+) at (\S+)$`)
)

// sdkLines is how the TypeScript SDK writes Zod's issues: a line for
// each, "MESSAGE at PATH".
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
	pydanticBegins = regexp.MustCompile(`^[^\n]*?(\d+) validation errors? for [^\n]+\n`)
	pydanticEnds   = regexp.MustCompile(` [\[(]type=[\w.-]+(?:, input_value=.*, input_type=.*|; .*)?[\])]$`)
)

// pydanticList is how Pydantic writes errors: below the number of them a line
// that says where, an indented one that says what, and one about a page.
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
		n := 0 // lines of the message, all but the last of which do not end it
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

// pydanticPlace is a place, which Pydantic writes as a.0.b, and its version 1 as
// a -> 0 -> b.
func pydanticPlace(line string) string {
	var path []any
	for name := range strings.SplitSeq(strings.ReplaceAll(line, " -> ", "."), ".") {
		path = append(path, indexed(name))
	}
	return dotted(path)
}

var (
	chainBegins = regexp.MustCompile(`^[^\n]*?validating (?:root|/[^\s:]*): `)
	chainLink   = regexp.MustCompile(`^validating (root|/[^\s:]*): `)
	chainNames  = regexp.MustCompile(`^(?:required: missing|unexpected additional) properties:? \[(.*)\]$`)
)

// schemaChain is how the Go SDK's validator writes an error: the schemas on the
// way to the first one that something does not fit.
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
		// A step to a definition leads to no other place.
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

// schemaStep is where a step within a schema leads to in what it describes.
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

// chainMembers are the members that a text says are missing, or too many, and
// what to say of each.
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
