// Package tracing carries the spans of a request through the host, and the W3C trace
// context between processes. It records nothing itself: package telemetry does.
//
// span.go is the interface to spans, context.go the header of W3C, and requestid.go the id of a
// request in logs. Contexts are values; spans are safe for concurrent use.
package tracing

import "strings"

// A Context identifies a span for other processes, as W3C Trace Context writes it. The
// zero Context identifies none.
type Context struct {
	Parent string // traceparent
	State  string // tracestate; may be empty
}

const (
	parentSize = 55 // bytes of a traceparent
	maxState   = 512
	maxStates  = 32 // members of a tracestate

	maxBaggage = 8192
	maxBags    = 64 // members of a baggage
)

// NewContext returns the context of two values from outside. A malformed traceparent
// makes it zero; a malformed or oversized tracestate is left out.
func NewContext(parent, state string) Context {
	if !validParent(parent) {
		return Context{}
	}
	if !ValidState(state) {
		state = ""
	}
	return Context{parent, state}
}

// FromHeader returns the context in the headers of a request. A header that appears
// twice counts as malformed.
func FromHeader(h map[string][]string) Context {
	parent, state := h["Traceparent"], h["Tracestate"]
	switch {
	case len(parent) != 1:
		return Context{}
	case len(state) != 1:
		return NewContext(parent[0], "")
	}
	return NewContext(parent[0], state[0])
}

// Zero reports whether the context identifies no span.
func (c Context) Zero() bool { return c.Parent == "" }

// TraceID returns the 32 hexadecimal digits of the trace; empty for the zero context.
func (c Context) TraceID() string {
	if c.Zero() {
		return ""
	}
	return c.Parent[3:35]
}

// SpanID returns the 16 hexadecimal digits of the span; empty for the zero context.
func (c Context) SpanID() string {
	if c.Zero() {
		return ""
	}
	return c.Parent[36:52]
}

// validParent reports whether s is version-traceid-spanid-flags with ids that are not
// zero.
func validParent(s string) bool {
	if len(s) != parentSize || s[2] != '-' || s[35] != '-' || s[52] != '-' || s[:2] == "ff" {
		return false
	}
	for i := range parentSize {
		if i != 2 && i != 35 && i != 52 && !isHex(s[i]) {
			return false
		}
	}
	return strings.Trim(s[3:35], "0") != "" && strings.Trim(s[36:52], "0") != ""
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// ValidState reports whether s is a tracestate of at most 512 bytes and 32 members with
// different keys.
func ValidState(s string) bool { return validList(s, maxState, maxStates, true) }

// ValidBaggage reports whether s is a W3C baggage of at most 8192 bytes and 64 members.
func ValidBaggage(s string) bool { return validList(s, maxBaggage, maxBags, false) }

// validList reports whether s is a list of key=value, separated by commas, in printable
// ASCII.
func validList(s string, bytes, members int, different bool) bool {
	if s == "" || len(s) > bytes ||
		strings.ContainsFunc(s, func(r rune) bool { return (r < 0x20 || r > 0x7e) && r != '\t' }) {
		return false
	}
	seen, n := map[string]bool{}, 0
	for member := range strings.SplitSeq(s, ",") {
		key, _, ok := strings.Cut(strings.Trim(member, " \t"), "=")
		if n++; !ok || n > members || key == "" || strings.ContainsAny(key, " \t\"") || different && seen[key] {
			return false
		}
		seen[key] = true
	}
	return true
}
