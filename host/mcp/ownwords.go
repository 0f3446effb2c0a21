package mcp

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A server could write its answers so that a client takes them for words of Junctor. The
// functions below remove from them what only Junctor says.

// OwnMeta is the prefix of the names that Junctor uses in _meta.
const OwnMeta = "junctor/"

// freeData are the members whose values are not objects of MCP: a _meta in them is data.
var freeData = []string{"structuredContent", "inputSchema", "outputSchema", "requestedSchema", "arguments", "input",
	"data", "metadata"}

// WithoutOwnMeta returns a value without the members of its _meta, and of every _meta in it,
// whose names are Junctor's. A value without any keeps its bytes.
func WithoutOwnMeta(value []byte) []byte {
	if !mayHaveOwnMeta(value) {
		return value
	}
	return withoutOwnMeta(value)
}

// mayHaveOwnMeta reports whether a value may have a name that begins with OwnMeta, also with
// escape sequences.
func mayHaveOwnMeta(value []byte) bool {
	return bytes.Contains(value, []byte(OwnMeta)) || bytes.Contains(value, []byte(`\u00`)) ||
		bytes.Contains(value, []byte(`\/`))
}

func withoutOwnMeta(value []byte) []byte {
	switch {
	case len(value) == 0:
		return value
	case value[0] == '[':
		return RewriteElements(value, withoutOwnMeta)
	case value[0] != '{':
		return value
	}
	emptied := false
	value = RewriteMembers(value, func(name string, member []byte) []byte {
		switch {
		case strings.EqualFold(name, "_meta"):
			kept := withoutMembers(member, func(name string) bool { return strings.HasPrefix(name, OwnMeta) })
			emptied = emptied || Empty(kept) && !Empty(member)
			return kept
		case slices.Contains(freeData, name):
			return member
		}
		return withoutOwnMeta(member)
	})
	if emptied && Empty(Member(value, "_meta")) {
		return DeleteMember(value, "_meta")
	}
	return value
}

// withoutMembers returns an object without some members. One without any of them keeps its
// bytes.
func withoutMembers(object []byte, drop func(name string) bool) []byte {
	kept, dropped := []byte("{"), false
	w := walker{b: object}
	for w.first(); w.more; w.next() {
		if name, _ := Text(object[w.name:w.nameEnd]); drop(name) {
			dropped = true
			continue
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, object[w.name:w.valueEnd]...)
	}
	if !dropped {
		return object
	}
	return append(kept, '}')
}

// isOwnName reports whether the scanned member n may be one of Junctor in _meta.
func (s *scanner) isOwnName(n name) bool {
	return n.escaped || s.b[n.start] == OwnMeta[0] && bytes.HasPrefix(s.b[n.start:n.end], []byte(OwnMeta))
}

// The codes of errors that Junctor alone uses. They are outside of the range of JSON-RPC.
const (
	ownCodesFirst = -31019
	ownCodesLast  = -31010
)

// ownData are the members that Junctor puts into the data of its errors.
var ownData = []string{"reason", "code", "server", "hint", "retry_after_ms", "id", "max_in_flight",
	"queue_wait_ms_exceeded", "original"}

// ownReasons are the reasons in the data of Junctor's errors, apart from those that come with
// an HTTP status of their own.
var ownReasons = func() map[string]bool {
	all := map[string]bool{"internal": true, "member_name": true, "request_state": true,
		"unknown_task": true, "restarted": true}
	for _, m := range errorMappings {
		all[m.reason] = true
	}
	return all
}()

// ServerError returns the error of a server as clients get it. One that could be taken for an
// error of Junctor has no code of Junctor and no members of Junctor in its data, and the
// data has the original. Any other error keeps its bytes. The gateway calls it. It is pure.
func ServerError(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return raw
	}
	data := Member(raw, "data")
	kept := WithoutOwnMeta(data)
	if len(kept) != len(data) {
		raw = SetMember(raw, "data", kept)
	}
	ownCode := hasOwnCode(raw)
	if !ownCode && !hasOwnWord(kept) {
		return raw
	}
	original := originalError(raw)
	if ownCode {
		raw = SetMember(raw, "code", strconv.AppendInt(nil, CodeInternal, 10))
	}
	kept = withoutMembers(kept, func(name string) bool {
		return slices.ContainsFunc(ownData, func(own string) bool { return strings.EqualFold(own, name) })
	})
	return SetMember(raw, "data", SetMember(kept, "original", original))
}

func hasOwnCode(rpcErr []byte) bool {
	code, _ := errorCode(Member(rpcErr, "code"))
	n, err := strconv.Atoi(code)
	return err == nil && n >= ownCodesFirst && n <= ownCodesLast
}

// hasOwnWord reports whether the data of an error has a code or a reason of Junctor. Some
// decoders match names without regard to case.
func hasOwnWord(data []byte) bool {
	for name, value := range Members(data) {
		switch {
		case strings.EqualFold(name, "code"):
			text, _ := Text(value)
			if _, own := fault.Codes[fault.Code(text)]; own {
				return true
			}
		case strings.EqualFold(name, "reason"):
			if text, _ := Text(value); ownReasons[text] {
				return true
			}
		}
	}
	return false
}
