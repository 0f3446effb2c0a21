package schema

import (
	"maps"
	"slices"
	"strings"
)

// Repair vets a schema of arguments and returns it in a form that is valid in its dialect.
// The API of a model refuses a request with an invalid schema, and with it all tools.
//
// A keyword with a value that is not valid gets the value that its author meant, where an
// older dialect defines it. Otherwise the keyword is left out, because then the schema only
// accepts more; left has the paths. Repair fails if the schema would accept less. A valid
// schema keeps its bytes. The catalog calls it for input schemas.
func Repair(raw []byte) (repaired []byte, left []string, err error) {
	doc, err := vetExceptDangling(raw)
	if err != nil {
		return nil, nil, err
	}
	r := repairing{porting: newPorting(doc), moved: map[string]string{}}
	r.arguments = true
	if err := r.cutDangling(); err != nil {
		return nil, nil, err
	}
	for _, s := range doc.all {
		if err := r.schema(s); err != nil {
			return nil, nil, err
		}
	}
	if !r.changed {
		return raw, nil, nil
	}
	if err := r.checkReferences(); err != nil {
		return nil, nil, err
	}
	if err := r.moveReferences(); err != nil {
		return nil, nil, err
	}
	return doc.root.node.json(nil), r.left, nil
}

// A repairing is a run of Repair. One call of Repair has it.
type repairing struct {
	porting
	moved map[string]string // the last token of a pointer that has another name now; by pointer
}

// argumentForms has the values that the keywords without schemas may have. Other than in
// valueForms, every valid value is allowed.
var argumentForms = func() map[string]func(*node) bool {
	isList := func(n *node) bool { return n.kind == '[' }
	forms := maps.Clone(valueForms)
	delete(forms, "nullable") // it is no keyword of JSON Schema
	forms["format"], forms["examples"], forms["enum"] = isString, isList, isList
	forms["contentSchema"] = (*node).isSchema
	for _, key := range []string{"$schema", "$id", "$anchor", "$dynamicAnchor"} {
		forms[key] = isString
	}
	return forms
}()

// schema corrects the keywords of s, but not of the schemas in it.
func (r *repairing) schema(s *subschema) error {
	if s.node.kind != '{' {
		return nil
	}
	if err := r.tuple(s); err != nil {
		return err
	}
	for _, key := range slices.Clone(s.node.keys) {
		v := s.node.get(key)
		if v == nil {
			continue // it was deleted or renamed with another one
		}
		if err := r.keyword(s, key, v); err != nil {
			return err
		}
	}
	return nil
}

// keyword corrects a keyword of s, or deletes it.
func (r *repairing) keyword(s *subschema, key string, v *node) error {
	a, applies := applicators[key]
	fits, known := argumentForms[key]
	switch {
	case applies && r.dialect < a.from || r.dialect < assertions[key]:
		return nil // it is no keyword of the dialect
	case v.kind == 'n' && (applies || known || slices.Contains(references, key)):
		r.remove(s, key) // some serialisers write unset fields as null
	case applies:
		return r.applicator(s, key, v)
	case isFlag(v) && (key == "exclusiveMinimum" || key == "exclusiveMaximum"):
		r.exclusive(s, key, v)
	case key == "type" || key == "required":
		return r.names(s, key, v)
	case !known || fits(v):
	case annotations[key] || strings.HasPrefix(key, "$"):
		r.leave(s, key)
	default:
		return r.drop(s, key, "invalid", "is not valid")
	}
	return nil
}

// tuple makes a list in items what it is since 2020-12: prefixItems, with additionalItems as
// the items after them.
func (r *repairing) tuple(s *subschema) error {
	items := s.node.get("items")
	if r.dialect != draft2020 || items == nil || !items.isListOfSchemas() || s.node.get("prefixItems") != nil {
		return nil
	}
	r.rename(s, "items", "prefixItems")
	switch rest := s.node.get("additionalItems"); {
	case rest == nil:
	case rest.isSchema():
		r.rename(s, "additionalItems", "items")
	case rest.kind == 'n':
		r.remove(s, "additionalItems")
	default:
		return r.drop(s, "additionalItems", "invalid", "is not valid")
	}
	return nil
}

// rename gives a keyword with schemas another name.
func (r *repairing) rename(s *subschema, key, to string) {
	s.node.rename(key, to)
	r.moved[s.at+"/"+key] = to
	r.changed = true
}

// exclusive replaces the boolean exclusiveMinimum of draft-04, whose number is in minimum.
func (r *repairing) exclusive(s *subschema, key string, v *node) {
	if r.dialect == draft4 {
		return
	}
	r.remove(s, key)
	bound := map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[key]
	if number := s.node.get(bound); v.kind == 't' && number != nil && isNumeric(number) {
		s.node.rename(bound, key)
	}
}

// names corrects the lists of names in type and required: each name is there once, and
// required has nothing but names.
func (r *repairing) names(s *subschema, key string, v *node) error {
	if fits := argumentForms[key]; fits(v) {
		return nil
	}
	texts := v.texts()
	unknown := func(name string) bool { return key == "type" && !isTypeName(name) }
	if v.kind != '[' || len(texts) == 0 || slices.ContainsFunc(texts, unknown) ||
		!v.allStrings() && (s.strict || key == "type") {
		return r.drop(s, key, "invalid", "is not valid")
	}
	if !v.allStrings() && len(r.left) < maxLeftOut {
		r.left = append(r.left, s.at+"/"+key)
	}
	kids := make([]*node, len(texts))
	for i, text := range texts {
		kids[i] = &node{kind: '"', text: text}
	}
	v.kids, r.changed = kids, true
	return nil
}

// moveReferences makes the references point to the new places of schemas.
func (r *repairing) moveReferences() error {
	for _, ref := range r.refs {
		to := r.place(ref.to.at)
		if to == ref.to.at {
			continue
		}
		if ref.keyword != "$ref" || ref.from.base != r.root || !strings.HasPrefix(ref.text, "#/") {
			return &VetError{Reason: "ref", Path: ref.from.at, Message: "refers to a part of items that is a list"}
		}
		if text := ref.from.node.get("$ref"); text != nil {
			text.text = "#" + encodeFragment(to)
		}
	}
	return nil
}

// place returns where the schema is that was at a pointer.
func (r *repairing) place(at string) string {
	var is strings.Builder
	for from := 0; from < len(at); {
		end := len(at)
		if i := strings.IndexByte(at[from+1:], '/'); i >= 0 {
			end = from + 1 + i
		}
		if name, moved := r.moved[at[:end]]; moved {
			is.WriteString("/" + name)
		} else {
			is.WriteString(at[from:end])
		}
		from = end
	}
	return is.String()
}
