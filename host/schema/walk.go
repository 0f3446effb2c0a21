package schema

import (
	"fmt"
	"slices"
	"strconv"
)

// A document is a schema with all its subschemas. It is read-only after vet, but for patterns
// that are compiled and for portings.
type document struct {
	dialect  dialect
	root     *subschema
	all      []*subschema // in order of discovery, root first
	of       map[*node]*subschema
	refs     []*reference
	dangling []*reference // not in refs
	patterns map[string]*pattern
	program  int // instructions of all patterns
	notes    []string
}

// A walker finds the subschemas and references of a document, and checks its limits. One call
// of vet has it.
type walker struct {
	*document
	anchors  map[anchor]*subschema
	pointers int // bytes of all pointers

	dynamic, embedded bool // the document has a dynamic reference; it has an $id below the root
}

// A subschema is a schema at one place of a document. It is part of a document.
type subschema struct {
	node *node
	at   string // JSON pointer
	// above has the schema in the applicator under. It is nil for the root and for schemas
	// outside of all keywords.
	above *subschema
	under string
	// base is the nearest enclosing schema with an id, to which "#" refers.
	base    *subschema
	edges   []edge       // schemas that it applies, including targets of references
	refs    []*reference // in document order
	target  bool         // target of a reference
	strict  bool         // no part of it may be ignored
	cost    int          // cost of applying it to one value; 0 if unknown
	height  int          // longest chain of schemas applied to that value
	pending bool         // measure is running
}

// An edge connects a schema with one that it applies.
type edge struct {
	to              *subschema
	inPlace, strict bool
}

type anchor struct {
	base *subschema
	name string
}

type reference struct {
	from    *subschema
	keyword string
	text    string
	to      *subschema // set by resolve
	missing *VetError  // why it has no target
}

// A place is the position of walk in a document.
type place struct {
	at    string
	depth int
	base  *subschema
	above *subschema
	under string
}

func newDocument(tree *node) *document {
	d := &document{of: map[*node]*subschema{}, patterns: map[string]*pattern{}}
	uri := tree.get("$schema")
	var known bool
	if d.dialect, known = dialectOf(uri.str()); !known {
		d.note("/$schema", "is an unknown dialect; the schema is read as 2020-12")
	}
	return d
}

func (d *document) note(at, message string) {
	const most = 20
	if len(d.notes) < most {
		d.notes = append(d.notes, shortenText(at)+" "+message)
	}
}

// walk registers the schema at n and all its subschemas. Its recursion depth is the
// nesting of schemas.
func (w *walker) walk(n *node, p place) (*subschema, error) {
	if s, ok := w.of[n]; ok {
		return s, nil
	}
	s, err := w.admit(n, p)
	if err != nil {
		return nil, err
	}
	if n.kind != '{' {
		return s, nil
	}
	if err := w.identify(s); err != nil {
		return nil, err
	}
	if err := w.limit(s); err != nil {
		return nil, err
	}
	for i, key := range n.keys {
		if a, ok := applicators[key]; ok {
			below := place{at: s.at + "/" + key, depth: p.depth + 1, base: s.base, above: s, under: key}
			if err := w.enter(s, a, n.kids[i], below); err != nil {
				return nil, err
			}
		}
		if slices.Contains(references, key) && n.kids[i].kind != 'n' {
			if err := w.refer(s, key, n.kids[i]); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// admit registers a subschema unless a limit is reached.
func (w *walker) admit(n *node, p place) (*subschema, error) {
	switch {
	case p.depth > maxDepth:
		return nil,
			&VetError{Reason: "depth", Path: p.at, Message: fmt.Sprintf("has schemas nested deeper than %d", maxDepth)}
	case len(w.all) == maxSubschemas:
		return nil, &VetError{Reason: "subschemas", Path: p.at,
			Message: fmt.Sprintf("exceeds the limit of %d subschemas", maxSubschemas)}
	}
	// Pointers repeat the names above them. A name of 100 KiB above 1900 schemas would
	// take 190 MiB here, and the same in the library.
	if w.pointers += len(p.at); w.pointers > maxPointers {
		return nil, &VetError{Reason: "size", Path: p.at, Message: "is below names that are too long"}
	}
	s := &subschema{node: n, at: p.at, base: p.base, above: p.above, under: p.under}
	w.all = append(w.all, s)
	w.of[n] = s
	if s.base == nil {
		s.base = s
	}
	return s, nil
}

// enter walks the value of an applicator. It ignores values of the wrong shape, which
// the compiler reports.
func (w *walker) enter(s *subschema, a applicator, v *node, p place) error {
	shape := a.shape
	if shape == eitherWay {
		shape = single
		if v.kind == '[' {
			shape = listed
		}
	}
	switch {
	case shape == single && v.isSchema():
		return w.step(s, a, v, p)
	case shape == listed && v.kind == '[', shape == named && v.kind == '{':
		for i, kid := range v.kids {
			token := strconv.Itoa(i)
			if shape == named {
				token = escape(v.keys[i])
			}
			if !kid.isSchema() {
				continue // a list of names in dependencies, or an invalid value
			}
			below := p
			below.at += "/" + token
			if err := w.step(s, a, kid, below); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) step(s *subschema, a applicator, n *node, p place) error {
	to, err := w.walk(n, p)
	if err == nil && a.apply {
		s.edges = append(s.edges, edge{to, a.inPlace, a.strict})
	}
	return err
}

// limit checks the limits of keywords without schemas.
func (w *walker) limit(s *subschema) error {
	if v := s.node.get("enum"); v != nil && len(v.kids) > maxEnum {
		return &VetError{Reason: "enum", Path: s.at + "/enum", Message: fmt.Sprintf("has more than %d values", maxEnum)}
	}
	if v := s.node.get("required"); v != nil && len(v.kids) > maxRequired {
		return &VetError{Reason: "required", Path: s.at + "/required",
			Message: fmt.Sprintf("has more than %d names", maxRequired)}
	}
	if v := s.node.get("pattern"); v != nil && v.kind == '"' {
		if err := w.readPattern(v.text, s.at+"/pattern"); err != nil {
			return err
		}
	}
	if v := s.node.get("patternProperties"); v != nil && v.kind == '{' {
		for _, key := range v.keys {
			if err := w.readPattern(key, s.at+"/patternProperties"); err != nil {
				return err
			}
		}
	}
	return nil
}
