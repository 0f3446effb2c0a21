package schema

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Portable vets a schema of results and returns it in a form that clients can compile.
// Some clients compile the schemas of all listed tools, and lose the whole list for one
// that they cannot read.
//
// The form is valid in its dialect and for a compiler of draft-07. It has no ids and
// anchors: equal ids of two tools would be the same schema for a client. Its patterns
// are regular expressions of ECMAScript and of Python.
//
// A keyword that does not fit is left out, because then the schema only accepts more;
// left has the paths. Portable fails if the schema would accept less. A schema that fits
// keeps its bytes. portable is nil, and left the root, if the schema demands nothing: it
// says nothing of results, but clients expect structured content because of it. The catalog
// calls it for output schemas.
func Portable(raw []byte) (portable []byte, left []string, err error) {
	doc, err := vetExceptDangling(raw)
	if err != nil {
		return nil, nil, err
	}
	p := newPorting(doc)
	if err := p.cutDangling(); err != nil {
		return nil, nil, err
	}
	for _, s := range doc.all {
		if err := p.schema(s); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case !p.demands():
		return nil, []string{""}, nil
	case !p.changed:
		return raw, nil, nil
	}
	if err := p.checkReferences(); err != nil {
		return nil, nil, err
	}
	return doc.root.node.json(nil), p.left, nil
}

// demands reports whether the root has a keyword that may refuse a result, or is a flag.
func (p *porting) demands() bool {
	n := p.root.node
	return n.kind != '{' || slices.ContainsFunc(n.keys, func(key string) bool {
		_, asserts := assertions[key]
		return asserts || applicators[key].apply || slices.Contains(references, key)
	})
}

// A porting is a run of Portable or Repair. One call of Portable or Repair has it, with a
// document of its own, which it changes.
type porting struct {
	*document
	arguments   bool // the schema is one of arguments: clients compile no patterns
	unevaluated bool // the document has unevaluatedProperties or unevaluatedItems
	changed     bool
	dropped     []string // pointers
	left        []string
}

func newPorting(doc *document) porting {
	p := porting{document: doc}
	for _, s := range doc.all {
		p.unevaluated = p.unevaluated || s.node.get("unevaluatedProperties") != nil ||
			s.node.get("unevaluatedItems") != nil
	}
	return p
}

// checkReferences fails if a reference leads to a part that was deleted.
func (p *porting) checkReferences() error {
	for _, ref := range p.refs {
		for _, at := range p.dropped {
			if ref.to.at == at || strings.HasPrefix(ref.to.at, at+"/") {
				return &VetError{Reason: "ref", Path: ref.from.at, Message: "refers to a part that clients cannot read"}
			}
		}
	}
	return nil
}

// maxLeftOut bounds the paths that Portable reports.
const maxLeftOut = 8

// schema corrects the keywords of s, but not of the schemas in it.
func (p *porting) schema(s *subschema) error {
	if s.node.kind != '{' {
		return nil
	}
	if err := p.references(s); err != nil {
		return err
	}
	for _, key := range slices.Clone(s.node.keys) {
		v := s.node.get(key)
		if v == nil {
			continue // it was deleted with another one
		}
		if err := p.keyword(s, key, v); err != nil {
			return err
		}
	}
	return nil
}

// keyword corrects a keyword of s, or deletes it.
func (p *porting) keyword(s *subschema, key string, v *node) error {
	_, applies := applicators[key]
	fits, known := valueForms[key]
	switch {
	case slices.Contains(names, key):
		p.remove(s, key)
	case key == "$schema":
		p.setDialect(s, v)
	case v.kind == 'n' && (applies || known):
		p.remove(s, key) // some serialisers write unset fields as null
	case applies:
		return p.applicator(s, key, v)
	case key == "nullable":
		if !canBeNullable(s.node, v) {
			p.leave(s, key)
		}
	case annotations[key] && !fits(v):
		p.leave(s, key)
	case key == "pattern" && v.kind == '"' && !portablePattern(v.text):
		return p.drop(s, key, "pattern", "has a pattern that some clients cannot read")
	case known && !fits(v):
		return p.drop(s, key, "invalid", "is not valid")
	case !known && key != "const" && key != "default" && !slices.Contains(references, key) && v.identifies():
		p.leave(s, key) // some clients look for ids in it
	}
	return nil
}

// names are the keywords that name a schema or a part of it, and those that change how
// some clients read it.
var names = []string{"$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$async"}

// remove deletes a keyword without meaning.
func (p *porting) remove(s *subschema, key string) {
	s.node.remove(key)
	p.changed = true
	p.dropped = append(p.dropped, s.at+"/"+escape(key))
}

// leave deletes a keyword that does not change what the schema accepts.
func (p *porting) leave(s *subschema, key string) {
	p.remove(s, key)
	if len(p.left) < maxLeftOut {
		p.left = append(p.left, s.at+"/"+escape(key))
	}
}

// drop deletes a keyword so that s accepts more. It fails if the whole schema may then
// accept less.
func (p *porting) drop(s *subschema, key, reason, why string) error {
	if _, applies := applicators[key]; s.strict || applies && p.unevaluated {
		return &VetError{Reason: reason, Path: s.at + "/" + key, Message: why}
	}
	p.leave(s, key)
	return nil
}

// references replaces the references of s that are no pointers from the root.
func (p *porting) references(s *subschema) error {
	for _, ref := range s.refs {
		pointer := "#" + encodeFragment(ref.to.at)
		switch {
		case ref.keyword == "$ref" && s.base == p.root && (ref.text == "#" || strings.HasPrefix(ref.text, "#/")):
		case ref.keyword == "$ref":
			s.node.get("$ref").text = pointer
			p.changed = true
		case p.dialect < draft2019:
			p.remove(s, ref.keyword) // it is no keyword there
		case s.node.get("$ref") == nil:
			s.node.rename(ref.keyword, "$ref")
			s.node.get("$ref").text = pointer
			p.changed = true
		default:
			if err := p.drop(s, ref.keyword, "ref", "is a second reference"); err != nil {
				return err
			}
		}
	}
	return nil
}

// The dialects of a portable schema. Clients know no older ones, and every schema of an
// older one can be read as draft-07.
const (
	uriDraft7    = "http://json-schema.org/draft-07/schema"
	uriDraft2019 = "https://json-schema.org/draft/2019-09/schema"
	uriDraft2020 = "https://json-schema.org/draft/2020-12/schema"
)

// setDialect makes $schema the usual name of a dialect. One below the root has no effect.
func (p *porting) setDialect(s *subschema, v *node) {
	_, known := dialectOf(v.str())
	want := uriDraft2020
	switch {
	case s != p.root || v.str() == "":
		p.remove(s, "$schema")
		return
	case !known:
		p.leave(s, "$schema")
		return
	case p.dialect < draft2019:
		want = uriDraft7
	case p.dialect == draft2019:
		want = uriDraft2019
	}
	if strings.TrimSuffix(v.text, "#") != want {
		if p.dialect < draft2019 {
			want += "#"
		}
		v.text = want
		p.changed = true
	}
}

// applicator corrects a keyword whose value has schemas.
func (p *porting) applicator(s *subschema, key string, v *node) error {
	bad := func() error { return p.dropApplicator(s, key) }
	switch applicators[key].shape {
	case single:
		if !v.isSchema() {
			return bad()
		}
	case eitherWay:
		if !v.isSchema() && (p.dialect == draft2020 || !v.isListOfSchemas()) {
			return bad()
		}
	case listed:
		if !v.isListOfSchemas() {
			return bad()
		}
	case named:
		if v.kind == '[' && len(v.kids) == 0 {
			v.kind = '{' // PHP encodes an empty object as []
			p.changed = true
		}
		switch {
		case v.kind != '{':
			return bad()
		case key == "dependencies":
			if slices.ContainsFunc(v.kids, func(kid *node) bool { return !kid.isSchema() && !kid.isListOfNames() }) {
				return bad()
			}
			return nil
		case key == "patternProperties" && !p.arguments &&
			slices.ContainsFunc(v.keys, func(re string) bool { return !portablePattern(re) }):
			return bad()
		}
		return p.named(s, key, v)
	}
	return nil
}

// named replaces the members of a keyword that are no schemas by a schema for anything.
func (p *porting) named(s *subschema, key string, v *node) error {
	for i, kid := range v.kids {
		if kid.isSchema() {
			continue
		}
		if s.strict && kid.kind != 'n' {
			return &VetError{Reason: "invalid", Path: s.at + "/" + key + "/" + escape(v.keys[i]),
				Message: "is not a schema"}
		}
		v.kids[i] = &node{kind: '{'}
		p.changed = true
		if kid.kind != 'n' && len(p.left) < maxLeftOut {
			p.left = append(p.left, s.at+"/"+key+"/"+escape(v.keys[i]))
		}
	}
	return nil
}

// dependents has the keywords whose meaning depends on another one.
var dependents = map[string][]string{
	"properties": {"additionalProperties"}, "patternProperties": {"additionalProperties"},
	"items": {"additionalItems"}, "prefixItems": {"items"},
}

// dropApplicator is drop for a keyword with schemas, and for those whose meaning depends
// on it.
func (p *porting) dropApplicator(s *subschema, key string) error {
	if key == "$defs" || key == "definitions" {
		p.leave(s, key)
		return nil
	}
	for _, k := range append([]string{key}, dependents[key]...) {
		if s.node.get(k) == nil {
			continue
		}
		if err := p.drop(s, k, "invalid", "is not valid"); err != nil {
			return err
		}
	}
	return nil
}

// canBeNullable reports whether a schema may have the value of nullable: it needs a type.
func canBeNullable(schema, value *node) bool {
	types := schema.get("type")
	if !isFlag(value) || types == nil || !isType(types) {
		return false
	}
	return value.kind == 't' || types.text != "null" && !slices.Contains(types.texts(), "null")
}

// annotations are the keywords of valueForms that constrain nothing.
var annotations = map[string]bool{
	"$comment": true, "title": true, "description": true, "format": true, "contentMediaType": true,
	"contentEncoding": true, "contentSchema": true,
	"deprecated": true, "readOnly": true, "writeOnly": true, "examples": true,
}

// valueForms has the values that the keywords without schemas may have.
var valueForms = map[string]func(*node) bool{
	"$comment": isString, "title": isString, "description": isString,
	"contentMediaType": isString, "contentEncoding": isString,
	"deprecated": isFlag, "readOnly": isFlag, "writeOnly": isFlag, "nullable": isFlag, "uniqueItems": isFlag,
	"format":        func(n *node) bool { return n.kind == '"' && portableFormat(n.text) },
	"examples":      func(n *node) bool { return n.kind == '[' && !n.identifies() },
	"contentSchema": func(*node) bool { return false }, // it is not vetted

	"type": isType, "pattern": isString,
	"enum":       func(n *node) bool { return n.kind == '[' && len(n.kids) > 0 },
	"multipleOf": func(n *node) bool { v, ok := n.number(); return ok && v > 0 },
	"maximum":    isNumeric, "minimum": isNumeric, "exclusiveMaximum": isNumeric, "exclusiveMinimum": isNumeric,
	"maxLength": isCount, "minLength": isCount, "maxItems": isCount, "minItems": isCount,
	"maxProperties": isCount, "minProperties": isCount, "maxContains": isCount, "minContains": isCount,
	"required": (*node).isListOfNames,
	"dependentRequired": func(n *node) bool {
		return n.kind == '{' && !slices.ContainsFunc(n.kids, func(kid *node) bool { return !kid.isListOfNames() })
	},
}

// portableFormat reports whether the name of a format is a plain word. Clients look others
// up in objects of JavaScript, which have members such as constructor.
func portableFormat(name string) bool {
	switch name {
	case "constructor", "toString", "valueOf", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable",
		"toLocaleString":
		return false
	}
	return name != "" && !strings.Contains(name, "__")
}

func isString(n *node) bool  { return n.kind == '"' }
func isFlag(n *node) bool    { return n.kind == 't' || n.kind == 'f' }
func isNumeric(n *node) bool { _, ok := n.number(); return ok }

// isCount reports whether n is an integer from 0.
func isCount(n *node) bool {
	v, ok := n.number()
	return ok && v >= 0 && v == math.Trunc(v)
}

// isType reports whether n is the name of a type, or a list of distinct ones.
func isType(n *node) bool {
	if n.kind == '"' {
		return isTypeName(n.text)
	}
	return n.isListOfNames() && len(n.kids) > 0 &&
		!slices.ContainsFunc(n.texts(), func(name string) bool { return !isTypeName(name) })
}

// number returns the value of a number.
func (n *node) number() (v float64, ok bool) {
	if n.kind != '0' {
		return 0, false
	}
	v, err := strconv.ParseFloat(n.text, 64)
	return v, err == nil
}

// isListOfNames reports whether n is a list of distinct strings.
func (n *node) isListOfNames() bool { return n.kind == '[' && len(n.texts()) == len(n.kids) }

// isListOfSchemas reports whether n is a list with at least one schema, and nothing else.
func (n *node) isListOfSchemas() bool {
	return n.kind == '[' && len(n.kids) > 0 &&
		!slices.ContainsFunc(n.kids, func(kid *node) bool { return !kid.isSchema() })
}

// identifies reports whether an object in n has an id or an anchor.
func (n *node) identifies() bool {
	return slices.ContainsFunc(n.keys, func(key string) bool { return slices.Contains(names, key) }) ||
		slices.ContainsFunc(n.kids, (*node).identifies)
}

// remove deletes a member.
func (n *node) remove(key string) {
	if i := slices.Index(n.keys, key); i >= 0 {
		n.keys, n.kids = slices.Delete(n.keys, i, i+1), slices.Delete(n.kids, i, i+1)
	}
	n.reindex()
}

// rename gives a member another name.
func (n *node) rename(key, to string) {
	if i := slices.Index(n.keys, key); i >= 0 {
		n.keys[i] = to
	}
	n.reindex()
}

func (n *node) reindex() {
	n.find = nil
	n.index()
}
