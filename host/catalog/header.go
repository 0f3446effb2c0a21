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

// headerKey is the keyword of a schema that asks for an argument to be repeated
// in a header of the HTTP request (revision 2026-07-28, streamable HTTP, "Custom
// Headers from Tool Parameters").
const headerKey = "x-mcp-header"

// headerDepth bounds how deep properties may be nested to be looked at.
const headerDepth = 64

// A Header is a header that repeats an argument of a tool.
type Header struct {
	Name string   // as HTTP writes it
	Path []string // of the argument
}

// headerPrefix begins the names of such headers.
const headerPrefix = "Mcp-Param-"

// headersOf lists the headers that clients send with a call to a tool with this
// schema, none when any of them cannot be sent.
func headersOf(schema []byte) []Header {
	if !bytes.Contains(schema, []byte(headerKey)) || misheaded(schema) != "" {
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

// misheaded says why the headers that the schema of a tool asks for cannot be
// sent: such a tool must not be offered, says the specification, while others of
// the same server may. Empty is that they can, or that there are none.
func misheaded(schema []byte) string {
	if !bytes.Contains(schema, []byte(headerKey)) {
		return ""
	}
	return headers{}.check(schema, "", headerDepth)
}

// headers are the names seen so far, in lower case, and whose they are.
type headers map[string]string

// check looks at a schema and at what is reached from it through properties
// alone: elsewhere the keyword means nothing.
func (h headers) check(schema []byte, path string, depth int) string {
	var s struct {
		Type       json.RawMessage            `json:"type"`
		Header     json.RawMessage            `json:"x-mcp-header"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil || depth == 0 {
		return "" // true and false are schemas, too
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

// add checks what one property asks for.
func (h headers) add(path string, header, kind json.RawMessage) string {
	var name string
	if !printable(kind) {
		return fmt.Sprintf("%.64q has to be a string, an integer or a boolean", path)
	}
	if json.Unmarshal(header, &name) != nil || !isToken(name) {
		return fmt.Sprintf("%.64q asks for %.64s, which is not the name of a header", path, header)
	}
	if other, taken := h[strings.ToLower(name)]; taken {
		return fmt.Sprintf("%.64q and %.64q ask for the same one, %.64q", other, path, name)
	}
	h[strings.ToLower(name)] = path
	return ""
}

// printable reports whether values of a type can stand in a header: strings,
// integers and booleans, and null besides, for which there is none.
func printable(kind json.RawMessage) bool {
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

// isToken reports whether s can be the name of a header (RFC 9110 §5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}
