package schema

import (
	"slices"
	"strconv"
)

// A writing is a schema of the normal document under construction. One call of apply has it.
// This file translates the keywords; normal.go the document.
type writing struct {
	at  string
	out map[string]any
}

// apply writes a keyword whose value contains schemas.
func (n *normal) apply(s *subschema, key string, v *node, w writing) error {
	switch {
	case key == "items" && v.kind == '[':
		if n.dialect == draft2020 && s.node.get("prefixItems") != nil {
			return &VetError{Reason: "invalid", Path: s.at + "/items", Message: "is a list beside prefixItems"}
		}
		return n.writeList("prefixItems", v, w)
	case key == "additionalItems":
		if items := s.node.get("items"); items == nil || items.kind != '[' {
			return nil // additionalItems has no effect without a list
		}
		return n.writeOne("items", v, w)
	case key == "dependencies":
		return n.writeDependencies(v, w)
	case key == "patternProperties":
		if err := n.checkPatterns(s, v); err != nil {
			return err
		}
	case key == "properties" && v.kind == '{':
		n.known[w.at] = v.keys
	case key == "unevaluatedItems" || key == "unevaluatedProperties":
		n.unevaluated = true
	}
	switch applicators[key].shape {
	case listed:
		return n.writeList(key, v, w)
	case named:
		return n.writeMembers(key, v, w)
	}
	return n.writeOne(key, v, w)
}

func (n *normal) writeOne(key string, v *node, w writing) (err error) {
	w.out[key], err = n.writeKid(v, w.at+"/"+key)
	return err
}

func (n *normal) writeList(key string, v *node, w writing) error {
	if v.kind != '[' {
		w.out[key] = v.value() // the library reports the error
		return nil
	}
	var items []any
	if before, ok := w.out[key].([]any); ok {
		items = before // writeRefs may have written an allOf
	}
	for _, kid := range v.kids {
		item, err := n.writeKid(kid, w.at+"/"+key+"/"+strconv.Itoa(len(items)))
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	if items != nil {
		w.out[key] = items
	}
	return nil
}

func (n *normal) writeMembers(key string, v *node, w writing) error {
	if v.kind == '[' && len(v.kids) == 0 {
		return nil // PHP encodes an empty object as []
	}
	if v.kind != '{' {
		w.out[key] = v.value()
		return nil
	}
	members := make(map[string]any, len(v.kids))
	for i, kid := range v.kids {
		member, err := n.writeKid(kid, w.at+"/"+key+"/"+escape(v.keys[i]))
		if err != nil {
			return err
		}
		members[v.keys[i]] = member
	}
	merge(w.out, key, members) // dependencies may have written the keyword
	return nil
}

func (n *normal) writeKid(v *node, at string) (any, error) {
	if s := n.of[v]; s != nil {
		return n.place(s, at)
	}
	return v.value(), nil
}

// writeDependencies splits dependencies into dependentSchemas and dependentRequired.
func (n *normal) writeDependencies(v *node, w writing) error {
	schemas, names := map[string]any{}, map[string]any{}
	for i, kid := range v.kids {
		if v.kind != '{' {
			break
		}
		key := v.keys[i]
		if kid.kind == '[' {
			names[key] = kid.value()
			continue
		}
		member, err := n.writeKid(kid, w.at+"/dependentSchemas/"+escape(key))
		if err != nil {
			return err
		}
		schemas[key] = member
	}
	merge(w.out, "dependentSchemas", schemas)
	merge(w.out, "dependentRequired", names)
	return nil
}

// merge adds members to a keyword that another keyword may have written. Both apply.
func merge(out map[string]any, key string, more map[string]any) {
	before, ok := out[key].(map[string]any)
	if !ok {
		if len(more) > 0 {
			out[key] = more
		}
		return
	}
	for name, v := range more {
		if other, ok := before[name]; ok {
			v = both(other, v)
		}
		before[name] = v
	}
}

// both returns the conjunction of two values of dependentSchemas or dependentRequired.
func both(a, b any) any {
	names, ok1 := a.([]any)
	more, ok2 := b.([]any)
	if !ok1 || !ok2 {
		return map[string]any{"allOf": []any{a, b}}
	}
	for _, name := range more {
		if _, text := name.(string); !text || !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (n *normal) checkPatterns(s *subschema, v *node) error {
	for _, key := range v.keys {
		if p := n.patterns[key]; p != nil && p.err != nil {
			// Ignoring the pattern would turn its names into additional properties.
			return &VetError{Reason: "pattern", Path: s.at + "/patternProperties",
				Message: "has a pattern that RE2 does not support: " + shortenText(key)}
		}
	}
	return nil
}

// assert writes a keyword that constrains the value itself.
func (n *normal) assert(s *subschema, key string, v *node, out map[string]any) error {
	switch key {
	case "type":
		return n.writeType(s, v, out)
	case "pattern":
		if p := n.patterns[v.text]; v.kind == '"' && p.err != nil {
			return n.ignore(s, "pattern", "pattern", "is a pattern that RE2 does not support and is ignored")
		}
	case "required":
		if v.kind == 't' || v.kind == 'f' {
			n.note(s.at+"/required", "is a boolean, as in draft-03, and ignored")
			return nil
		}
		names := v.texts() // without duplicates
		if n.arguments && !s.strict {
			names = slices.DeleteFunc(names, func(name string) bool { return n.mayBeAbsent(s, name) })
		}
		if len(names) < len(v.kids) && v.allStrings() {
			out[key] = anyList(names)
			return nil
		}
	case "exclusiveMinimum", "exclusiveMaximum", "minimum", "maximum":
		writeBound(s.node, key, v, out)
		return nil
	case "dependentRequired":
		if members, ok := v.value().(map[string]any); ok {
			merge(out, key, members)
			return nil
		}
	}
	out[key] = v.value()
	return nil
}

// writeBound accepts the boolean exclusiveMinimum of draft-04 in every dialect. Its
// number is in minimum.
func writeBound(s *node, key string, v *node, out map[string]any) {
	switch key {
	case "exclusiveMinimum", "exclusiveMaximum":
		if v.kind != 't' && v.kind != 'f' {
			out[key] = v.value()
		}
	default:
		exclusive := map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}[key]
		if e := s.get(exclusive); e != nil && e.kind == 't' {
			key = exclusive
		}
		out[key] = v.value()
	}
}

func (n *normal) writeType(s *subschema, v *node, out map[string]any) error {
	names := v.texts()
	if v.kind == '"' {
		names = []string{v.text}
	}
	if slices.ContainsFunc(names, func(name string) bool { return !isTypeName(name) }) {
		return n.ignore(s, "type", "invalid", "names an unknown type and is ignored")
	}
	out["type"] = v.value()
	if v.kind == '[' && v.allStrings() && len(names) < len(v.kids) {
		out["type"] = anyList(names) // remove duplicates
	}
	return nil
}

// ignore skips a keyword and adds a note. It fails in a strict schema.
func (n *normal) ignore(s *subschema, keyword, reason, why string) error {
	at := s.at + "/" + keyword
	if s.strict {
		return &VetError{Reason: reason, Path: at,
			Message: why + ", which is not safe below not, if, oneOf or contains"}
	}
	n.note(at, why)
	return nil
}

func anyList(names []string) []any {
	values := make([]any, len(names))
	for i, name := range names {
		values[i] = name
	}
	return values
}
