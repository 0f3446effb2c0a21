// Package model says what a command-line program can be asked to do: its
// commands, their options and their positional arguments, with the exact
// spelling that the program expects.
//
// Discovery makes it from what the program prints about itself, the
// configuration's tool blocks make it by hand; tools and argument lists are
// made from it and from nothing else. Its JSON is what caches hold and what
// "junctor wrap" reads: names in it only grow.
package model

// A Program is what is known about one program.
type Program struct {
	Name    string   `json:"name"`              // as people call it, such as "git"
	Version string   `json:"version,omitempty"` // the first line of what it says of its version; may be empty
	Digest  string   `json:"digest,omitempty"`  // hex sha256 of the executable
	Root    *Command `json:"root,omitempty"`
	// Incomplete says why parts are missing, one sentence each, such as a limit
	// of time that was reached. Empty: everything was looked at.
	Incomplete []string `json:"incomplete,omitempty"`
	// Failure says how the program failed when it was asked for help; empty: it
	// did not.
	Failure string `json:"failure,omitempty"`
	// Short is true when the time was over before every command was asked, so
	// that there may be more.
	Short bool `json:"short,omitempty"`
	// Commands is how many commands are known to exist, Explained how many of
	// them need no further question.
	Commands  int `json:"commands,omitempty"`
	Explained int `json:"explained,omitempty"`
}

// A Command is one thing that the program can be asked to do. The root stands
// for the program itself.
type Command struct {
	Path        []string     `json:"path"`                  // after the program and its fixed arguments; empty for the root
	Aliases     []string     `json:"aliases,omitempty"`     // other spellings of the last word of Path
	Summary     string       `json:"summary,omitempty"`     // one line
	Description string       `json:"description,omitempty"` // more than the summary, where there is more
	Options     []Option     `json:"options,omitempty"`
	Positionals []Positional `json:"positionals,omitempty"`
	Commands    []*Command   `json:"commands,omitempty"` // sub-commands, in the program's own order

	// Runnable is false where the command only groups others: run alone it
	// prints its help.
	Runnable bool `json:"runnable"`
	// Terminator is true where "--" ends the options.
	Terminator bool `json:"terminator,omitempty"`
	// Conflicts are sets of options, by name, of which only one may be given.
	Conflicts [][]string `json:"conflicts,omitempty"`

	// Unasked is true where there was no time to ask the command for its help.
	Unasked bool `json:"unasked,omitempty"`

	Source     string   `json:"source,omitempty"`     // where this was learnt: "cobra", "click", "clap", "help", "man", "config", …
	Confidence float64  `json:"confidence,omitempty"` // 0 to 1: how much of what was printed was understood
	Unparsed   []string `json:"unparsed,omitempty"`   // lines that look like options or commands and were not understood; at most 20
}

// An Option is what begins with a dash.
type Option struct {
	// Names are the exact spellings; the one to use comes first, which is a
	// long one where there is one: "--output", "-o".
	Names       []string `json:"names"`
	Negation    string   `json:"negation,omitempty"` // the spelling that says no, such as "--no-color"; empty: none
	Description string   `json:"description,omitempty"`
	Value       Value    `json:"value"`
	Repeatable  bool     `json:"repeatable,omitempty"` // may be given more than once
	Required    bool     `json:"required,omitempty"`
	// Inherited is true for an option that belongs to a command above and is
	// understood here as well.
	Inherited bool `json:"inherited,omitempty"`
	// Shown is true where a usage line or an example has the option, and Mentions
	// is how many lines of the help name it.
	Shown    bool `json:"shown,omitempty"`
	Mentions int  `json:"mentions,omitempty"`
	// Env is the environment variable that stands in for it; may be empty.
	Env string `json:"env,omitempty"`
}

// A Positional is an argument without a name of its own.
type Positional struct {
	Name        string `json:"name"` // as in the usage line, in lower case: "file"
	Description string `json:"description,omitempty"`
	Value       Value  `json:"value"`
	Required    bool   `json:"required,omitempty"`
	Repeatable  bool   `json:"repeatable,omitempty"` // takes all that follow
	// AfterTerminator is true for one that stands behind a "--" in the usage.
	AfterTerminator bool `json:"after_terminator,omitempty"`
}

// A Value is what an option or a positional takes.
type Value struct {
	Kind        Kind     `json:"kind"`
	Placeholder string   `json:"placeholder,omitempty"` // as printed, without brackets: "FILE"
	Choices     []string `json:"choices,omitempty"`     // of an Enum, exact spelling
	Default     string   `json:"default,omitempty"`     // as printed; empty: none was said
	// Optional is true where the value may be left out: --color[=WHEN].
	Optional bool `json:"optional,omitempty"`
	// Equals is true where the value must be joined with "=", not given as the
	// next argument. A value that is optional is always joined.
	Equals bool `json:"equals,omitempty"`
	// Glued is true where the value must follow without anything between: -j4.
	Glued bool `json:"glued,omitempty"`
	// Arity is how many arguments follow the option, where that is more than
	// one: --arg NAME VALUE. Such an option cannot be offered.
	Arity int `json:"arity,omitempty"`
	// Separator joins the elements of a List or Map into one argument where the
	// program wants that, such as ","; empty: the option is given again.
	Separator string `json:"separator,omitempty"`
	// Pattern is a regular expression that the whole value matches; only tool
	// blocks set it.
	Pattern string `json:"pattern,omitempty"`
	// Minimum and Maximum bound numbers; only tool blocks set them.
	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`
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
