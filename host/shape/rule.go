// Package shape corrects what servers send to what the schema of MCP allows: the
// definitions in lists, and results. Strict clients refuse a whole list because of one
// wrong member, and a result because of one wrong block.
//
// The tables in definition.go and content.go are derived from the schemas of the
// revisions 2024-11-05 to 2026-07-28. A value that the tables allow keeps its bytes.
//
// All functions are pure, and return the same slice where nothing is corrected. Package catalog
// corrects definitions with it, and the gateway results and log messages. rule.go interprets
// the tables in definition.go and content.go; result.go and logmessage.go are for results and
// logs, and uri.go compares URIs. A value that fits must keep its bytes: clients, caches and
// digests compare them.
package shape

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// A kind is the JSON type that a rule asks for.
type kind byte

const (
	anything kind = iota
	text
	flag
	number
	integer
	list
	object
	objectType // the text "object", or a list of types that has it
	subschema  // an object or a flag
)

// A rule says which JSON values the specification allows at a place. The tables are package
// variables and do not change.
type rule struct {
	kind     kind
	words    []string // of a text; nil: any
	min, max float64  // of a number
	members  []member // of an object; other members may be anything
	each     *rule    // for the elements of a list, and the other members of an object
}

// A member is a named part of an object.
type member struct {
	name string
	rule *rule
	// derive returns the value of a missing member. An object without it and without
	// a derived one does not fit. nil: the member is optional.
	derive func(of []byte) []byte
}

func textOf(words ...string) *rule     { return &rule{kind: text, words: words} }
func listOf(each *rule) *rule          { return &rule{kind: list, each: each} }
func objectOf(members ...member) *rule { return &rule{kind: object, members: members} }

func optional(name string, r *rule) member { return member{name: name, rule: r} }

func required(name string, r *rule) member {
	return member{name, r, func([]byte) []byte { return nil }}
}

func derived(name string, r *rule, derive func(of []byte) []byte) member {
	return member{name, r, derive}
}

// A fitting collects the paths of what was left out. One correction has it.
type fitting struct{ left []string }

// maxLeft bounds the paths of one definition.
const maxLeft = 8

func (f *fitting) leave(path string) {
	if len(f.left) < maxLeft {
		f.left = append(f.left, path)
	}
}

// fit returns a value as the rule allows it. The path of the value is for the texts about
// what is left out. ok is false if nothing of the value fits.
func (f *fitting) fit(r *rule, value []byte, path string) (fitted []byte, ok bool) {
	switch r.kind {
	case text:
		s, isText := mcp.Text(value)
		return value, isText && (r.words == nil || slices.Contains(r.words, s))
	case flag:
		return value, value[0] == 't' || value[0] == 'f'
	case number:
		n, err := strconv.ParseFloat(string(value), 64)
		return value, value[0] != '"' && err == nil && r.min <= n && n <= r.max
	case integer:
		return fitInteger(value)
	case list:
		return f.fitList(r, value, path)
	case object:
		return f.fitObject(r, value, path)
	case objectType:
		return fitObjectType(value)
	case subschema:
		if string(value) == "null" {
			return emptyObject, true
		}
		return value, value[0] == '{' || value[0] == 't' || value[0] == 'f'
	}
	return value, true
}

// fitInteger writes an integer such as 12.0 without a fraction, which Go does not read.
func fitInteger(value []byte) (fitted []byte, ok bool) {
	if _, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return value, true
	}
	const most = 1 << 53 // up to which a float64 has all integers
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > most {
		return nil, false
	}
	return strconv.AppendInt(nil, int64(n), 10), true
}

// fitObjectType makes the type of a schema "object", if objects are allowed.
func fitObjectType(value []byte) (fitted []byte, ok bool) {
	if string(value) == `"object"` {
		return value, true
	}
	for one := range mcp.Elements(value) {
		if string(one) == `"object"` {
			return one, true
		}
	}
	return nil, false
}

// Some languages do not distinguish an empty list from an empty object.
var (
	emptyList   = []byte("[]")
	emptyObject = []byte("{}")
)

func (f *fitting) fitList(r *rule, value []byte, path string) (fitted []byte, ok bool) {
	switch {
	case value[0] == '{' && mcp.Empty(value):
		return emptyList, true
	case value[0] != '[':
		return nil, false
	case r.each == nil:
		return value, true
	}
	var kept [][]byte
	i, changed := 0, false
	for one := range mcp.Elements(value) {
		if fitted, ok := f.fit(r.each, one, fmt.Sprintf("%s[%d]", path, i)); ok {
			changed = changed || !same(fitted, one)
			kept = append(kept, fitted)
		} else {
			changed = true
			f.leave(fmt.Sprintf("%s[%d]", path, i))
		}
		i++
	}
	if !changed {
		return value, true
	}
	return joinList(kept), true
}

func (f *fitting) fitObject(r *rule, value []byte, path string) (fitted []byte, ok bool) {
	if value[0] == '[' && string(bytes.Join(bytes.Fields(value), nil)) == "[]" {
		value = emptyObject
	}
	if value[0] != '{' {
		return nil, false
	}
	fitted = value
	for name, was := range mcp.Members(value) {
		m := r.member(name)
		if m == nil || m.kind == anything {
			continue
		}
		is, ok := []byte(nil), false
		if string(was) != "null" || m.kind == subschema {
			is, ok = f.fit(m, was, join(path, name))
			switch {
			case !ok && m.kind == objectType:
				return nil, false // without it, the schema would mean something else
			case !ok:
				f.leave(join(path, name))
			}
		}
		switch {
		case !ok:
			fitted = mcp.DeleteMember(fitted, name)
		case !same(is, was):
			fitted = mcp.SetMember(fitted, name, is)
		}
	}
	return r.complete(fitted)
}

// member returns the rule for a member of an object; nil: it may be anything.
func (r *rule) member(name string) *rule {
	for i := range r.members {
		if r.members[i].name == name {
			return r.members[i].rule
		}
	}
	return r.each
}

// complete adds the required members that can be derived.
func (r *rule) complete(fitted []byte) (_ []byte, ok bool) {
	for _, m := range r.members {
		if m.derive == nil || mcp.Member(fitted, m.name) != nil {
			continue
		}
		value := m.derive(fitted)
		if value == nil {
			return nil, false
		}
		fitted = mcp.SetMember(fitted, m.name, value)
	}
	return fitted, true
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// same reports whether a and b are the same slice in memory.
func same(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
