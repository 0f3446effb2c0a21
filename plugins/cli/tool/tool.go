package tool

import (
	"encoding/json"
	"regexp"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// The properties that no option and no positional can have where they are
// offered.
const (
	StdinName = "stdin"
	FreeName  = "args"
)

// A Tool is one thing that a model may ask for.
type Tool struct {
	Name        string
	Description string
	Access      Access
	Idempotent  bool

	// Command is what the tool does. Its Path is what stands first in the
	// argument list, unless there is a Template.
	Command    *model.Command
	Parameters []Parameter // options, in the model's order, then positionals and slots
	Conflicts  [][]string  // names of parameters of which one call has at most one

	// Template is the whole argument list of a tool that was written by hand,
	// nil for one that was discovered.
	Template []Element

	Stdin bool           // offers the parameter stdin
	Free  *regexp.Regexp // when set, offers args; each element matches it whole

	Forced    []string         // arguments that every run begins with, such as --sandbox
	Refused   []danger.Value   // values that are refused
	Banned    []string         // dangerous options, which free arguments may not hold
	Unsafe    []danger.Finding // dangerous options that are not offered
	Admitted  []danger.Finding // and those that are, because the configuration names them
	Ordered   bool             // its expression acts in the order of its parts, so that it is not offered
	Confined  bool             // paths stay within the working directory
	NoEquals  bool             // the program does not take --option=value
	DataCodes []int            // exit codes that are an answer

	Input json.RawMessage // the JSON schema of the arguments

	Brief   bool     // descriptions are cut to what a model needs to choose
	LeftOut []string // options of the command that it does not offer, though it could
	note    string   // about these, for the description
}

// A Role is where a parameter goes in an argument list.
type Role int

// The roles.
const (
	OptionRole     Role = iota // behind the words, with its spelling
	PositionalRole             // behind the options
	SlotRole                   // where the template says
)

// A Parameter is one property of a tool's arguments.
type Parameter struct {
	Name        string
	Role        Role
	Spelling    string // of an option
	Negation    string // of an option; may be empty
	Description string
	Value       model.Value
	Required    bool
	Repeatable  bool
	// AfterTerminator is true for a positional that stands behind a "--" in
	// the usage.
	AfterTerminator bool

	Pattern *regexp.Regexp // that every value matches whole; may be nil

	Path bool // the value is a path, by its type or by its name
	// ValueOf is the option that the value of a slot belongs to; may be empty.
	ValueOf string
}

// Several reports whether the argument is a list.
func (p *Parameter) Several() bool {
	if !p.Value.Kind.TakesValue() || p.Value.Kind == model.Map {
		return false
	}
	return p.Repeatable || p.Value.Kind == model.List
}

// No is the spelling that says no to an option, empty where there is none. One
// that needs no value and is on by itself, as programs in Go have them, is
// switched off by the value false, or it would be of no use.
func (p *Parameter) No() string {
	plain := p.Value.Kind == model.Bool
	switch {
	case p.Role != OptionRole || p.Value.Default == "false":
		return ""
	case p.Negation != "" && (plain || p.Value.Kind.TakesValue() && p.Value.Optional && !p.Several()):
		return p.Negation
	case p.Negation == "" && plain && p.Value.Default == "true" && len(p.Spelling) > 2:
		return p.Spelling + "=false"
	}
	return ""
}

// Parameter returns the parameter of a name, or nil.
func (t *Tool) Parameter(name string) *Parameter {
	for i := range t.Parameters {
		if t.Parameters[i].Name == name {
			return &t.Parameters[i]
		}
	}
	return nil
}

// Whole compiles a pattern that must match from the beginning to the end.
func Whole(pattern string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(pattern); err != nil { // whose message shows what was written
		return nil, err
	}
	return regexp.Compile(`\A(?:` + pattern + `)\z`)
}
