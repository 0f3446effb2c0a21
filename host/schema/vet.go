package schema

import "fmt"

// What a schema may be. The numbers are far above what tools have and far
// below what hurts.
const (
	maxSize       = 128 << 10 // bytes
	maxNesting    = 64        // of JSON values; a schema in a schema costs one to three
	maxDepth      = 32        // of schemas in schemas
	maxSubschemas = 2000
	maxChain      = 64     // schemas that apply to the same value, one through the other
	maxCost       = 10_000 // schemas that apply to the same value, counted as often as they do
	maxPattern    = 1 << 10
	maxProgram    = 50_000  // instructions of all patterns together, roughly
	maxPointers   = 1 << 20 // bytes of the JSON pointers of all subschemas together
	maxEnum       = 4096
	maxRequired   = 2000
	maxDigits     = 400 // of one number
)

// A VetError says why a schema is not used.
type VetError struct {
	// Reason is one of these words, which never change their meaning: size,
	// syntax, duplicate, depth, number, type, subschemas, ref, cycle, cost,
	// pattern, enum, required, invalid, elicitation.
	Reason  string
	Path    string // JSON pointer into the schema; "" is its root
	Message string // goes on after the path: "is nested deeper than 32"
}

func (e *VetError) Error() string {
	at := "the schema"
	if e.Path != "" {
		at = "the schema at " + cut(e.Path)
	}
	return at + " " + e.Message
}

// Vet checks a schema before any compiler sees it. It takes linear time, never
// recurses deeper than its own limits and never panics. Errors are *VetError.
//
// What passes is safe to compile; whether it means anything is a question for
// [Compile].
func Vet(raw []byte) error {
	_, err := vet(raw)
	return err
}

func vet(raw []byte) (*document, error) {
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
	if doc.root, err = doc.walk(tree, place{}); err != nil {
		return nil, err
	}
	if err := doc.resolve(); err != nil {
		return nil, err
	}
	if err := doc.bound(); err != nil {
		return nil, err
	}
	doc.markStrict()
	return doc, nil
}
