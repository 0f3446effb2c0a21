package schema

import (
	"encoding/json"
	"slices"
	"strconv"
)

// A normal is a document in the form for the library: plain 2020-12, one resource, and
// references as pointers into flat $defs. The library sees no ids, anchors, metaschemas
// or dialects, so it resolves no names and loads nothing. It also validates fewer
// keywords against the metaschema, which is most of the cost of compiling. One call of build
// has it.
type normal struct {
	*document
	defs    map[string]any
	places  map[*subschema]string // target → pointer in the normal document
	waiting []*subschema          // targets that have not been written

	// For messages, by pointer into the normal document:
	origin map[string]string   // pointer into the original, if different
	known  map[string][]string // the properties declared at the pointer

	unevaluated bool
	arguments   bool // instances are arguments; see CompileArguments
}

func (d *document) normalise(arguments bool) (*normal, any, error) {
	n := &normal{
		document: d, defs: map[string]any{}, places: map[*subschema]string{d.root: ""},
		origin: map[string]string{}, known: map[string][]string{}, arguments: arguments,
	}
	root, err := n.write(d.root, "")
	if err != nil {
		return nil, nil, err
	}
	for len(n.waiting) > 0 {
		s := n.waiting[0]
		n.waiting = n.waiting[1:]
		at := n.places[s]
		if n.defs[at[len("/$defs/"):]], err = n.write(s, at); err != nil {
			return nil, nil, err
		}
	}
	if m, ok := root.(map[string]any); ok && len(n.defs) > 0 {
		m["$defs"] = n.defs
	}
	return n, root, nil
}

// place returns the normal form of s, or a reference if s is the target of another
// reference.
func (n *normal) place(s *subschema, at string) (any, error) {
	if !s.target && s != n.root {
		if _, written := n.places[s]; !written {
			n.places[s] = at
			return n.write(s, at)
		}
	}
	return map[string]any{"$ref": n.pointer(s)}, nil
}

func (n *normal) pointer(s *subschema) string {
	at, ok := n.places[s]
	if !ok {
		at = "/$defs/" + strconv.Itoa(len(n.places))
		n.places[s] = at
		n.waiting = append(n.waiting, s)
	}
	return "#" + encodeFragment(at)
}

func (n *normal) write(s *subschema, at string) (any, error) {
	if at != s.at {
		n.origin[at] = s.at
	}
	if s.node.kind != '{' {
		return s.node.kind == 't', nil
	}
	out := map[string]any{}
	only := n.writeRefs(s, out)
	if only {
		return out, nil
	}
	for i, key := range s.node.keys {
		v := s.node.kids[i]
		if v.kind == 'n' && key != "const" {
			continue // some serialisers write unset fields as null
		}
		if a, ok := applicators[key]; ok && a.apply && n.dialect >= a.from {
			if err := n.apply(s, key, v, writing{at, out}); err != nil {
				return nil, err
			}
		}
		if from, ok := assertions[key]; ok && n.dialect >= from {
			if err := n.assert(s, key, v, out); err != nil {
				return nil, err
			}
		}
	}
	if n.dialect == draft2019 && out["contains"] != nil && out["unevaluatedItems"] != nil {
		// contains evaluates the matched items in 2020-12 but not in 2019-09.
		delete(out, "unevaluatedItems")
		n.note(s.at+"/unevaluatedItems", "is ignored beside contains")
	}
	return out, nil
}

// writeRefs writes the references of s. only is true if nothing else counts: before
// 2019-09 the siblings of $ref are ignored.
func (n *normal) writeRefs(s *subschema, out map[string]any) (only bool) {
	var more []any
	for _, ref := range s.refs {
		switch {
		case n.dialect < draft2019 && ref.keyword != "$ref":
		case n.dialect < draft2019:
			out["$ref"] = n.pointer(ref.to)
			return true
		case out["$ref"] == nil:
			out["$ref"] = n.pointer(ref.to)
		default:
			more = append(more, map[string]any{"$ref": n.pointer(ref.to)})
		}
	}
	if more != nil {
		out["allOf"] = more
	}
	return false
}

// value converts a JSON value for the library.
func (n *node) value() any {
	switch n.kind {
	case 't', 'f':
		return n.kind == 't'
	case '"':
		return n.text
	case '0':
		return json.Number(n.text)
	case '[':
		items := make([]any, len(n.kids))
		for i, kid := range n.kids {
			items[i] = kid.value()
		}
		return items
	case '{':
		members := make(map[string]any, len(n.kids))
		for i, kid := range n.kids {
			members[n.keys[i]] = kid.value()
		}
		return members
	}
	return nil
}

// texts returns the distinct strings of a list.
func (n *node) texts() []string {
	var texts []string
	seen := map[string]bool{}
	for _, kid := range n.kids {
		if kid.kind == '"' && !seen[kid.text] {
			seen[kid.text] = true
			texts = append(texts, kid.text)
		}
	}
	return texts
}

func (n *node) allStrings() bool {
	return !slices.ContainsFunc(n.kids, func(kid *node) bool { return kid.kind != '"' })
}

func isTypeName(name string) bool { return slices.Contains(typeNames, name) }
