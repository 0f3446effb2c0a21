// Package tool builds MCP tools: one for each discovered command, and one for
// each tool block of the configuration.
//
// A [Tool] holds everything that package run needs to build an argument list:
// the words of the command and the exact spelling of every option. Nothing is
// derived from the tool's name.
//
// # Names
//
// The name of a tool is the words of its command, joined with "_": "git remote
// add" is remote_add. A program without sub-commands is one tool with the
// program's name. If two tools would have the same name, both get a short hash.
//
// The name of a property is the long option without its dashes, as the program
// spells it ("max-count", "dry_run"). An option with only a letter is opt_x. A
// positional has its name from the usage line. If a name is taken, a positional
// becomes arg_NAME and an option opt_NAME.
//
// Files, from the top: list.go, record.go, reject.go, fromblock.go, blockargv.go, blockargument.go,
// blockmap.go, blockfile.go, codetext.go, blockrules.go, inner.go, unused.go, make.go, offered.go,
// danger.go, stdin.go, access.go, choose.go, pattern.go, schema.go, expression.go, describe.go,
// name.go, place.go, value.go, blockbuilder.go, options.go, tool.go, template.go, block.go,
// runsettings.go, json.go.
//
// # Files
//
// make.go builds the tool of a discovered command: choose.go and offered.go choose its options,
// stdin.go and expression.go add other parameters. fromblock.go builds that of a tool block: the
// other files whose names begin with block are its parts, and blockbuilder.go has their state.
// danger.go, reject.go, codetext.go and inner.go apply the rules of package danger. name.go,
// describe.go, schema.go and json.go write what clients see, and list.go encodes it. record.go
// writes a discovered tool as a block, for "junctor wrap".
//
// # Use
//
// Package main of the plugin builds tools, and package run builds argument lists from them. A
// [Tool] does not change after [FromProgram] or [FromBlock] returns it, so concurrent calls share
// it. Options and the unexported builders are for one goroutine. Names, schemas and the JSON in
// _meta reach clients and "junctor wrap": keep them stable.
package tool

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// Names of properties that are reserved if the tool offers them.
const (
	StdinName = "stdin"
	FreeName  = "args"
)

// A Tool is an MCP tool: one command of the program or one tool block. It is immutable once built.
type Tool struct {
	Name        string
	Description string
	Access      Access
	Idempotent  bool

	// Command is the command that the tool runs. Its Path begins the argument
	// list, unless there is a Template.
	Command    *model.Command
	Parameters []Parameter // options in the order of the model, then positionals and slots
	Conflicts  [][]string  // sets of parameter names; a call may use one of each set

	// Template is the whole argument list of a tool from a tool block. It is
	// nil for a discovered tool.
	Template []Element
	Block    *Block // of a tool from a tool block

	Stdin         bool           // the tool has a parameter stdin
	StdinRequired bool           // every call must give it
	StdinAbout    string         // its description; empty for the usual one
	Writes        bool           // the program writes its result to a file, whose path it gets
	Free          *regexp.Regexp // if set, the tool has a parameter args whose elements match it completely

	Forced []string // arguments that every run begins with, such as --sandbox
	// Fixed are the arguments of the program in the configuration, before those of a tool
	// block. PairOptions are options with two values, and Operators words that are no
	// options and act like them, such as "!" of find.
	Fixed, PairOptions, Operators []string
	// The place of the program that the rules are about, and the element of the template behind it.
	start, from  int
	rules        *danger.Rules    // about the program
	Reading      Reading          // how the program reads its arguments
	Inner        []Inner          // programs that it runs
	NamesOnStdin bool             // the words of standard input are names of files
	Rejected     []danger.Value   // checks that reject dangerous values
	Banned       []string         // dangerous options that free arguments must not contain
	Unsafe       []danger.Finding // dangerous options that are not offered
	// Dangerous options that are offered because the configuration names them.
	Admitted []danger.Finding
	// Offered options for files that the program writes, which must be within the working directory.
	Written []string
	// Its options act in their order and the table does not know them, so they are not offered.
	Ordered  bool
	Confined bool // paths must stay within the working directory
	// The wall lets it change nothing, although it does not count as reading, because of its paths or a
	// dangerous option.
	ReadsOnly    bool
	NoTerminator bool  // "--" does not end the options
	NoEquals     bool  // the program does not accept --option=value
	Known        bool  // the table has the program
	DataCodes    []int // exit codes that are an answer and not an error

	Input json.RawMessage // the JSON Schema of the arguments

	Brief   bool     // descriptions are shortened
	LeftOut []string // options that could be offered but are not common enough
	Outer   []string // options of the whole program that could be offered
	note    string   // the sentence about LeftOut in the description
	others  string   // the sentence with the names of LeftOut
}

// A Role is the place of a parameter in the argument list.
type Role int

// MayChange reports whether a run may change files.
func (t *Tool) MayChange() bool { return t.Access.Kind != Read && !t.ReadsOnly }

// MayLeave reports whether the arguments may name files outside the working directory.
func (t *Tool) MayLeave() bool {
	return !t.Confined && (t.Stdin || t.Free != nil || len(t.Parameters) > 0)
}

// The roles.
const (
	OptionRole     Role = iota // after the command, with its spelling
	PositionalRole             // after the options
	SlotRole                   // in the template
	MappedRole                 // the arguments of its value, among the options
)

// A Parameter is one property of the tool's arguments.
type Parameter struct {
	Name        string
	Role        Role
	Spelling    string // of an option
	Negation    string // of an option; may be empty
	Description string
	Value       model.Value
	Required    bool
	Repeatable  bool
	// AfterTerminator is true for a positional that follows "--" in the usage.
	AfterTerminator bool

	Pattern *regexp.Regexp // every value must match it completely; may be nil

	Path    bool           // the value is a path, by its type or its name
	Writes  bool           // the value is a file that the program writes, by its name
	Content danger.Content // what the table of programs says about the value
	// File is set if the value goes into a file, whose path the program gets.
	File bool
	// Map has the fixed arguments that each value stands for. It is nil if values are
	// placed as they are.
	Map map[string][]string
	// OrStdin is true for a positional without which the program reads standard
	// input, although the tool has none. With an option of StdinUnless it does
	// not.
	OrStdin     bool
	StdinUnless []string
	// Unless has the arguments, and "stdin", of which a call must give one if it
	// does not give this argument. It is nil if nothing can take its place.
	Unless []string
	// Expression has the words of a value of kind expression.
	Expression *Expression
	// uses are the options whose values the slots hold, and "" for a positional.
	uses []string
}

// Several reports whether the property is a list.
func (p *Parameter) Several() bool {
	if !p.Value.Kind.TakesValue() || p.Value.Kind == model.Map {
		return false
	}
	return p.Repeatable || p.Value.Kind == model.List || p.Value.Kind == model.Expression || p.Tuple()
}

// MaxTuple bounds the number of values behind one option.
const MaxTuple = 8

// An Access is the effect of a tool, and where that knowledge comes from.
type Access struct {
	Kind string `json:"kind"` // read, write or destructive
	// From is "configuration", "table" (known about the program), "verb" (guessed
	// from the last word of the command), "danger" (a dangerous option, or
	// unconfined paths, override the rest) or "unknown", which counts as writing.
	// No guess makes a command read: with a reading verb that the table does not
	// confirm it is From "verb" and writes.
	From string `json:"from"`
}

// looksReading reports whether only the name of the command suggests that it
// reads.
func (a Access) looksReading() bool { return a.Kind == Write && a.From == FromVerb }

// Some values of From.
const (
	FromVerb   = "verb"
	FromTable  = "table"
	FromDanger = "danger"
)

// The kinds of access.
const (
	Read        = "read"
	Write       = "write"
	Destructive = "destructive"
)

// An Expression is the ordered list of words that a tool offers.
type Expression struct {
	*danger.Expression
	admitted map[string]bool // words that are left out by default, and that the configuration names
	only     []string        // the words of a tool block; empty for all
}

// An Inner is a program that another one runs, as behind -exec of find, with the elements of
// the template that are its arguments.
type Inner struct {
	Tool     *Tool
	From, To int // of the template
}

// A Reading is what the table says about the options of a program with a text in a small
// language, which tells its first positional from the values of options.
type Reading struct {
	Takes, Flags []string // options with a value in the next argument, and without a value
	Program      []string // options whose value is a program
	Source       []string // options whose value is the name of a file with a program
}

// Tuple reports whether an option is followed by a fixed number of values,
// Value.Arity: -win X Y WIDTH HEIGHT.
func (p *Parameter) Tuple() bool { return p.Value.Arity > 1 && p.Value.Kind != model.Map }

// No returns the spelling that switches an option off, or "". An option without
// a value that is on by default, as in programs written in Go, is switched off
// with "=false".
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

// spellings returns the options whose value the parameter is. Behind a cluster of letters it
// is that of the last one.
func (p *Parameter) spellings() []string {
	names := p.uses
	if p.Role == OptionRole {
		names = []string{p.Spelling}
	}
	var all []string
	for _, name := range names {
		if name == "" {
			continue
		}
		all = append(all, name)
		if len(name) > 2 && name[0] == '-' && name[1] != '-' && !strings.ContainsAny(name, "=:") {
			all = append(all, "-"+name[len(name)-1:])
		}
	}
	return all
}

// Parameter returns the parameter with a name, or nil.
func (t *Tool) Parameter(name string) *Parameter {
	for i := range t.Parameters {
		if t.Parameters[i].Name == name {
			return &t.Parameters[i]
		}
	}
	return nil
}

// Whole compiles a pattern that must match a text completely.
func Whole(pattern string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(pattern); err != nil { // this error shows the pattern as written
		return nil, err
	}
	return regexp.Compile(`\A(?:` + pattern + `)\z`)
}
