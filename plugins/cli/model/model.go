// Package model says what a command-line program can be asked to do: its
// commands, their options and their positional arguments, with the exact
// spelling that the program expects.
//
// Discovery makes it from what the program prints about itself, the
// configuration's tool blocks make it by hand; tools and argument lists are
// made from it and from nothing else.
package model

// A Program is what is known about one program.
type Program struct {
	Name    string // as people call it, such as "git"
	Version string // the first line of what it says of its version; may be empty
	Digest  string // hex sha256 of the executable
	Root    *Command
	// Incomplete says why parts are missing, one sentence each, such as a limit
	// of time that was reached. Empty: everything was looked at.
	Incomplete []string
}

// A Command is one thing that the program can be asked to do. The root stands
// for the program itself.
type Command struct {
	Path        []string // after the program and its fixed arguments; empty for the root
	Aliases     []string // other spellings of the last word of Path
	Summary     string   // one line
	Description string   // more than the summary, where there is more
	Options     []Option
	Positionals []Positional
	Commands    []*Command // sub-commands, in the program's own order

	// Runnable is false where the command only groups others: run alone it
	// prints its help.
	Runnable bool
	// Terminator is true where "--" ends the options.
	Terminator bool
	// Conflicts are sets of options, by name, of which only one may be given.
	Conflicts [][]string

	Source     string   // where this was learnt: "cobra", "click", "clap", "help", "man", "config", …
	Confidence float64  // 0 to 1: how much of what was printed was understood
	Unparsed   []string // lines that look like options or commands and were not understood; at most 20
}

// An Option is what begins with a dash.
type Option struct {
	// Names are the exact spellings; the one to use comes first, which is a
	// long one where there is one: "--output", "-o".
	Names       []string
	Negation    string // the spelling that says no, such as "--no-color"; empty: none
	Description string
	Value       Value
	Repeatable  bool // may be given more than once
	Required    bool
	// Inherited is true for an option that belongs to a command above and is
	// understood here as well.
	Inherited bool
	// Env is the environment variable that stands in for it; may be empty.
	Env string
}

// A Positional is an argument without a name of its own.
type Positional struct {
	Name        string // as in the usage line, in lower case: "file"
	Description string
	Value       Value
	Required    bool
	Repeatable  bool // takes all that follow
	// AfterTerminator is true for one that stands behind a "--" in the usage.
	AfterTerminator bool
}

// A Value is what an option or a positional takes.
type Value struct {
	Kind        Kind
	Placeholder string   // as printed, without brackets: "FILE"
	Choices     []string // of an Enum, exact spelling
	Default     string   // as printed; empty: none was said
	// Optional is true where the value may be left out: --color[=WHEN].
	Optional bool
	// Equals is true where the value must be joined with "=", not given as the
	// next argument. A value that is optional is always joined.
	Equals bool
	// Glued is true where the value must follow without anything between: -j4.
	Glued bool
	// Separator joins the elements of a List or Map into one argument where the
	// program wants that, such as ","; empty: the option is given again.
	Separator string
	// Pattern is a regular expression that the whole value matches; only tool
	// blocks set it.
	Pattern string
	// Minimum and Maximum bound numbers; only tool blocks set them.
	Minimum, Maximum *float64
}

// A Kind is the type of a value.
type Kind string

// The kinds.
const (
	Bool     Kind = "bool"  // takes no value
	Count    Kind = "count" // takes no value; given several times it means more: -vvv
	String   Kind = "string"
	Integer  Kind = "integer"
	Number   Kind = "number"
	Enum     Kind = "enum"
	List     Kind = "list"     // of strings
	Map      Kind = "map"      // key=value
	Path     Kind = "path"     // of a file or directory
	Duration Kind = "duration" // such as 30s
)

// TakesValue says whether something follows the option's name.
func (k Kind) TakesValue() bool { return k != Bool && k != Count }
