package expression

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/junctor-mcp/junctor/host/config/source"
)

// ForEach is the attribute of a block that stands for one block for each element of a value.
const ForEach = "for_each"

// Inputs are what expressions may read.
type Inputs struct {
	// Lookup reads the environment.
	Lookup func(name string) (string, bool)

	// Read reads a file for file().
	Read func(path string) ([]byte, error)

	// Static: nothing but literals is evaluated.
	Static bool

	// Absent: an input that fails is a warning, and a placeholder takes its place.
	Absent bool

	// Foreign returns a hint for the name of an attribute or a block of another program; see
	// [language.Host].
	Foreign func(block, name string, known []string) string
}

// An Evaluator evaluates the expressions of one configuration. It is for one goroutine.
type Evaluator struct {
	Files     *source.Set
	inputs    Inputs
	Keyring   *Keyring
	functions map[string]function.Function

	deferring   bool         // env() and file() return placeholders; see absent.go
	inspections []inspection // of placeholders, by the expression being evaluated

	included []string // absolute paths of the files that file() has read
	named    []string // absolute paths in attributes of the host's blocks
	skipped  int      // expressions that were not evaluated
}

// New returns an evaluator for the files of a set.
func New(files *source.Set, in Inputs) *Evaluator {
	ev := &Evaluator{Files: files, inputs: in, Keyring: newKeyring()}
	ev.functions = ev.hostFunctions()
	return ev
}

// Included returns the absolute paths of the files that file() has read.
func (ev *Evaluator) Included() []string { return ev.included }

// Named returns the absolute paths in attributes of the host's blocks.
func (ev *Evaluator) Named() []string { return ev.named }

// Skipped returns how many expressions were not evaluated.
func (ev *Evaluator) Skipped() int { return ev.skipped }

// An inspection is an operand that contains a placeholder and is inspected.
type inspection struct {
	at hcl.Range
	by string // the inspecting construct: "upper()", "an operator"
}
