package schema

import "fmt"

// Limits of a schema. Real tools are far below them.
const (
	maxSize       = 128 << 10 // bytes
	maxNesting    = 64        // nesting of JSON values; a nested schema uses one to three levels
	maxDepth      = 32        // nesting of schemas
	maxSubschemas = 2000
	maxChain      = 64      // length of a chain of schemas that apply to the same value
	maxCost       = 10_000  // applications of schemas to the same value
	maxPattern    = 1 << 10 // bytes
	maxProgram    = 50_000  // approximate instructions of all patterns
	maxPointers   = 1 << 20 // bytes of all JSON pointers of subschemas
	maxEnum       = 4096
	maxRequired   = 2000
	maxDigits     = 400 // digits of a number
)

// A VetError explains why a schema is rejected.
type VetError struct {
	// Reason is one of these words, whose meaning never changes: size, syntax,
	// duplicate, depth, number, type, subschemas, ref, cycle, cost, pattern, enum,
	// required, invalid, elicitation.
	Reason  string
	Path    string // JSON pointer into the schema; "" for the root
	Message string // continues after the path: "is nested deeper than 32"

	dangling bool // a reference has no target in the schema
}

func (e *VetError) Error() string {
	at := "the schema"
	if e.Path != "" {
		at = "the schema at " + shortenText(e.Path)
	}
	return at + " " + e.Message
}

// vet validates a schema before it is compiled. It takes linear time, bounds its
// recursion and never panics. Errors are *VetError.
//
// A schema that passes is safe to compile; [Compile] checks its meaning. The document is the
// caller's own. Every function of the package that takes a raw schema calls it first; it may be
// called concurrently.
func vet(raw []byte) (*document, error) {
	doc, err := vetExceptDangling(raw)
	if err == nil && len(doc.dangling) > 0 {
		return nil, doc.dangling[0].missing
	}
	return doc, err
}

// vetExceptDangling is vet, but leaves the references without a target to the caller.
func vetExceptDangling(raw []byte) (*document, error) {
	if len(raw) > maxSize {
		return nil, &VetError{Reason: "size", Message: fmt.Sprintf("is larger than %d KiB", maxSize>>10)}
	}
	tree, err := parse(raw)
	if err != nil {
		return nil, err
	}
	if !tree.isSchema() {
		return nil, &VetError{Reason: "type", Message: "is neither an object nor a boolean"}
	}
	doc := newDocument(tree)
	w := walker{document: doc, anchors: map[anchor]*subschema{}}
	if doc.root, err = w.walk(tree, place{}); err != nil {
		return nil, err
	}
	if err := w.resolve(); err != nil {
		return nil, err
	}
	if err := w.bound(); err != nil {
		return nil, err
	}
	w.markStrict()
	return doc, nil
}
