package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// headerKey is the schema keyword that repeats an argument in a header of the HTTP request
// (revision 2026-07-28, streamable HTTP, "Custom Headers from Tool Parameters"). The functions
// of this file are pure; the gateway compares the headers.
const headerKey = "x-mcp-header"

// headerDepth is the maximum nesting depth of inspected properties.
const headerDepth = 64

// A Header is an HTTP header that repeats an argument of a tool.
type Header struct {
	Name string   // in canonical form
	Path []string // path of the argument
}

// headerPrefix is the prefix of these headers.
const headerPrefix = "Mcp-Param-"

// headersOf returns the headers that clients send with a call to a tool with this
// schema. It returns none if any of them is invalid.
func headersOf(schema []byte) []Header {
	if !bytes.Contains(schema, []byte(headerKey)) || headerProblem(schema) != "" {
		return nil
	}
	return collectHeaders(schema, nil, headerDepth)
}

func collectHeaders(schema []byte, path []string, depth int) (all []Header) {
	var s struct {
		Header     string                     `json:"x-mcp-header"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil || depth == 0 {
		return nil
	}
	if s.Header != "" && len(path) > 0 {
		all = append(all, Header{Name: http.CanonicalHeaderKey(headerPrefix + s.Header), Path: slices.Clone(path)})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, collectHeaders(s.Properties[name], append(path, name), depth-1)...)
	}
	return all
}

// headerProblem returns the reason why the headers that a schema requires are invalid, or
// "". The specification forbids offering such a tool but allows the server's others.
func headerProblem(schema []byte) string {
	if !bytes.Contains(schema, []byte(headerKey)) {
		return ""
	}
	return headers{}.check(schema, "", headerDepth)
}

// headers maps the header names seen so far, in lower case, to their properties.
type headers map[string]string

// check inspects a schema and the properties below it. The keyword has no meaning
// elsewhere.
func (h headers) check(schema []byte, path string, depth int) string {
	var s struct {
		Type       json.RawMessage            `json:"type"`
		Header     json.RawMessage            `json:"x-mcp-header"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil || depth == 0 {
		return "" // boolean schemas have no properties
	}
	if s.Header != nil && path != "" {
		if why := h.add(path, s.Header, s.Type); why != "" {
			return why
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		below := name
		if path != "" {
			below = path + "." + name
		}
		if why := h.check(s.Properties[name], below, depth-1); why != "" {
			return why
		}
	}
	return ""
}

// add checks the header of one property.
func (h headers) add(path string, header, kind json.RawMessage) string {
	var name string
	if !headerType(kind) {
		return fmt.Sprintf("%.64q must be a string, an integer or a boolean", path)
	}
	if json.Unmarshal(header, &name) != nil || !isToken(name) {
		return fmt.Sprintf("%.64q requires %.64s, which is not a valid header name", path, header)
	}
	if other, taken := h[strings.ToLower(name)]; taken {
		return fmt.Sprintf("%.64q and %.64q require the same header, %.64q", other, path, name)
	}
	h[strings.ToLower(name)] = path
	return ""
}

// headerType reports whether values of a type can be sent in a header: strings, integers
// and booleans. null is also allowed, and has no header.
func headerType(kind json.RawMessage) bool {
	var types []string
	if len(kind) > 0 && kind[0] != '[' {
		kind = slices.Concat([]byte{'['}, kind, []byte{']'})
	}
	if json.Unmarshal(kind, &types) != nil || slices.Equal(types, []string{"null"}) {
		return false
	}
	for _, t := range types {
		if t != "string" && t != "integer" && t != "boolean" && t != "null" {
			return false
		}
	}
	return len(types) > 0
}

// isToken reports whether s is a valid header name (RFC 9110 §5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}
