package schema

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Schema is a vetted, compiled schema. It may be used concurrently.
type Schema struct {
	// Notes say what of the schema is ignored, one sentence each that begins
	// with a JSON pointer. They quote the schema, that is a stranger.
	Notes []string

	full *jsonschema.Schema
	// verdict is full, twice negated: below not the library builds no errors,
	// which is where the memory goes when an instance is large.
	verdict *jsonschema.Schema
	quick   *quick

	origin      map[string]string
	known       map[string][]string
	unevaluated bool
}

const resource = "urn:junctor:schema"

// Compile vets a schema and compiles it. Nothing is loaded from anywhere.
// Errors are *VetError, also for a schema that passed the vetter and that the
// compiler does not take: that has the Reason "invalid", or "pattern" when a
// pattern cannot be matched and may not be ignored.
func Compile(raw []byte) (s *Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil, &VetError{Reason: "invalid", Message: "made the compiler panic: " + cut(fmt.Sprint(r))}
		}
	}()
	doc, err := vet(raw)
	if err != nil {
		return nil, err
	}
	n, root, err := doc.normalise()
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(refuser{})
	c.UseRegexpEngine(doc.engine)
	if err := c.AddResource(resource, root); err != nil {
		return nil, invalid(n, err)
	}
	full, err := c.Compile(resource)
	if err != nil {
		return nil, invalid(n, err)
	}
	return &Schema{
		Notes:       doc.notes,
		full:        full,
		verdict:     &jsonschema.Schema{DraftVersion: 2020, Not: &jsonschema.Schema{DraftVersion: 2020, Not: full}},
		quick:       newQuick(full),
		origin:      n.origin,
		known:       n.known,
		unevaluated: n.unevaluated,
	}, nil
}

// A refuser loads nothing. The library's own loader reads local files.
type refuser struct{}

func (refuser) Load(url string) (any, error) {
	return nil, fmt.Errorf("%q is not loaded", cut(url))
}

// invalid says where the compiler found a mistake; what it says about it would
// quote the schema at any length.
func invalid(n *normal, err error) error {
	var meta *jsonschema.SchemaValidationError
	if !errors.As(err, &meta) {
		return &VetError{Reason: "invalid", Message: "does not compile: " + cut(err.Error())}
	}
	var verr *jsonschema.ValidationError
	if !errors.As(meta.Err, &verr) {
		return &VetError{Reason: "invalid", Message: "is not valid"}
	}
	// The library's order is that of its maps; ours is by place.
	x := explainer{schema: &Schema{}}
	first := slices.MinFunc(x.findings(verr), func(a, b finding) int {
		return cmp.Or(slices.CompareFunc(a.loc, b.loc, compareTokens), cmp.Compare(a.message, b.message))
	})
	pointer := ""
	for _, token := range first.loc {
		pointer += "/" + escape(token)
	}
	return &VetError{Reason: "invalid", Path: original(n.origin, pointer), Message: first.message}
}

// original maps a pointer into the normal document to the one that was given.
func original(origin map[string]string, pointer string) string {
	for cut := pointer; ; {
		if at, ok := origin[cut]; ok {
			return at + pointer[len(cut):]
		}
		i := strings.LastIndexByte(cut, '/')
		if i < 0 {
			return pointer
		}
		cut = cut[:i]
	}
}

// pointerOf returns the pointer in a location of the library.
func pointerOf(location string) string {
	_, fragment, _ := strings.Cut(location, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return ""
	}
	return pointer
}
