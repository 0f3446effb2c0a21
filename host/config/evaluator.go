package config

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/junctor-mcp/junctor/host/config/source"
)

// Inputs are what expressions may read.
type inputs struct {
	// lookup reads the environment.
	lookup func(name string) (string, bool)

	// read reads a file for file().
	read func(path string) ([]byte, error)

	// static: nothing but literals is evaluated.
	static bool

	// absent: an input that fails is a warning, and a placeholder takes its place.
	absent bool

	// foreign returns a hint for the name of an attribute or a block of another program; see
	// [language.Host].
	foreign func(block, name string, known []string) string
}

// An evaluator evaluates the expressions of one configuration. It is for one goroutine.
type evaluator struct {
	files     *source.Set
	inputs    inputs
	keyring   *keyring
	functions map[string]function.Function

	deferring   bool         // env() and file() return placeholders; see absent.go
	inspections []inspection // of placeholders, by the expression being evaluated

	included []string // absolute paths of the files that file() has read
	named    []string // absolute paths in attributes of the host's blocks
	skipped  int      // expressions that were not evaluated
}

// newEvaluator returns an evaluator for the files of a set.
func newEvaluator(files *source.Set, in inputs) *evaluator {
	ev := &evaluator{files: files, inputs: in, keyring: newKeyring()}
	ev.functions = ev.hostFunctions()
	return ev
}

// Included returns the absolute paths of the files that file() has read.
func (ev *evaluator) includedFiles() []string { return ev.included }

// namedPaths returns the absolute paths in attributes of the host's blocks.
func (ev *evaluator) namedPaths() []string { return ev.named }

// skippedExpressions returns how many expressions were not evaluated.
func (ev *evaluator) skippedExpressions() int { return ev.skipped }

// A nameTable is the locals and variables of one part of a configuration.
type nameTable struct {
	locals         map[string]*local
	localValues    cty.Value
	variables      map[string]*variable
	variableValues cty.Value
}

// newNameTable returns a part without locals and variables.
func newNameTable() *nameTable {
	return &nameTable{
		locals: map[string]*local{}, localValues: cty.EmptyObjectVal,
		variables: map[string]*variable{}, variableValues: cty.EmptyObjectVal,
	}
}
