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

// A Schema is a vetted, compiled schema. It may be used concurrently. It is immutable after
// build.
type Schema struct {
	// Notes list the ignored parts of the schema. Each note is a sentence that begins
	// with a JSON pointer. Notes quote the untrusted schema.
	Notes []string

	full *jsonschema.Schema
	// verdict is full, negated twice. Below not the library builds no errors, which
	// use most of the memory for a large instance.
	verdict *jsonschema.Schema
	quick   *quick

	origin      map[string]string
	known       map[string][]string
	unevaluated bool
	result      bool // instances are results; see CheckResult
}

const resource = "urn:junctor:schema"

// Compile vets and compiles a schema without loading other documents. An error is a
// *VetError. Its Reason is "invalid" if the schema passes the vetter and not the
// compiler. It is "pattern" if a pattern is unsupported and cannot be ignored.
func Compile(raw []byte) (*Schema, error) { return build(raw, false) }

// CompileArguments is [Compile] for the schema of the arguments of a tool. A property with
// a default need not be there, although required names it: see [document.mayBeAbsent].
func CompileArguments(raw []byte) (*Schema, error) { return build(raw, true) }

func build(raw []byte, arguments bool) (s *Schema, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, err = nil,
				&VetError{Reason: "invalid", Message: "caused a panic of the compiler: " + shortenText(fmt.Sprint(r))}
		}
	}()
	doc, err := vet(raw)
	if err != nil {
		return nil, err
	}
	n, root, err := doc.normalise(arguments)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
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

// A noLoader is a loader that always fails. The library's own loader reads local files.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("loading %q is not allowed", shortenText(url))
}

// invalid returns the first error of the compiler. The compiler's own message would
// quote an unbounded part of the schema.
func invalid(n *normal, err error) error {
	var meta *jsonschema.SchemaValidationError
	if !errors.As(err, &meta) {
		return &VetError{Reason: "invalid", Message: "does not compile: " + shortenText(err.Error())}
	}
	var verr *jsonschema.ValidationError
	if !errors.As(meta.Err, &verr) {
		return &VetError{Reason: "invalid", Message: "is not valid"}
	}
	// The library's order is random, because it ranges over maps.
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

// original maps a pointer into the normal document to one into the given schema.
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

// pointerOf returns the JSON pointer in a location of the library.
func pointerOf(location string) string {
	_, fragment, _ := strings.Cut(location, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return ""
	}
	return pointer
}
