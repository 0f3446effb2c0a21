// Package model describes a command-line program: its commands, their options
// and their positional arguments, with the exact spelling that the program
// expects.
//
// Discovery fills the model from the program's own help; tool blocks of the
// configuration fill it by hand. Tools and argument lists are built from the
// model alone. Caches hold it as JSON and "junctor wrap" reads that JSON, so
// fields may be added but not renamed or removed.
package model

// A Program describes one program.
type Program struct {
	Name    string   `json:"name"`              // as users call it, such as "git"
	Version string   `json:"version,omitempty"` // the first line of its version output; may be empty
	Digest  string   `json:"digest,omitempty"`  // hex sha256 of the executable
	Root    *Command `json:"root,omitempty"`
	// Incomplete lists why parts are missing, one sentence each, such as a time
	// limit that was reached. It is empty if nothing is missing.
	Incomplete []string `json:"incomplete,omitempty"`
	// Failure describes how the program failed when it was asked for help. It is
	// empty if the program did not fail.
	Failure string `json:"failure,omitempty"`
	// Short is true if the time was over before every command was asked. There may
	// be more commands then.
	Short bool `json:"short,omitempty"`
	// Commands is the number of known commands. Explained is the number of
	// commands that need no further question.
	Commands  int `json:"commands,omitempty"`
	Explained int `json:"explained,omitempty"`
}

// A Command is a command of the program. The root command is the program
// itself.
type Command struct {
	// After the program and its fixed arguments; empty for the root.
	Path        []string     `json:"path"`
	Aliases     []string     `json:"aliases,omitempty"`     // other spellings of the last word of Path
	Summary     string       `json:"summary,omitempty"`     // one line
	Description string       `json:"description,omitempty"` // longer than the summary; empty if there is nothing more
	Options     []Option     `json:"options,omitempty"`
	Positionals []Positional `json:"positionals,omitempty"`
	Commands    []*Command   `json:"commands,omitempty"` // sub-commands, in the order of the help

	// Rest is what the usage has behind the placeholder of a command, "prog COMMAND
	// [options] DEVICE". A command without help of its own takes it, and the options
	// of this one if RestOptions is true.
	Rest        []Positional `json:"rest,omitempty"`
	RestOptions bool         `json:"rest_options,omitempty"`
	RestLeads   bool         `json:"rest_leads,omitempty"` // Rest comes before the options

	// Leading is the number of positionals that the usage has before the options.
	Leading int `json:"leading,omitempty"`
	// NoUsage is true if the help has no usage, so that the positionals are unknown.
	NoUsage bool `json:"no_usage,omitempty"`

	// Runnable is false if the command only groups others and prints its help when
	// run alone.
	Runnable bool `json:"runnable"`
	// Terminator is true if "--" ends the options.
	Terminator bool `json:"terminator,omitempty"`
	// Numbered is true if a dash with a number is an option, such as -5 of head.
	Numbered bool `json:"numbered,omitempty"`
	// Stdin is true if the help says that the command reads data from standard input.
	Stdin bool `json:"stdin,omitempty"`
	// Conflicts are sets of option names. A call may use at most one option of
	// each set.
	Conflicts [][]string `json:"conflicts,omitempty"`

	// Unasked is true if there was no time to ask the command for its help.
	Unasked bool `json:"unasked,omitempty"`

	// Origin of the data: "cobra", "click", "clap", "help", "man", "config", …
	Source     string  `json:"source,omitempty"`
	Confidence float64 `json:"confidence,omitempty"` // 0 to 1: the share of the help that the parser understood
	// Lines that look like options or commands but were not understood; at most 20.
	Unparsed []string `json:"unparsed,omitempty"`
}

// An Option is an argument that begins with a dash.
type Option struct {
	// Names are the exact spellings. The first one is used in calls: the first
	// long spelling, if there is one: "--output", "-o".
	Names []string `json:"names"`
	// The spelling that switches it off, such as "--no-color"; may be empty.
	Negation    string `json:"negation,omitempty"`
	Description string `json:"description,omitempty"`
	Value       Value  `json:"value"`
	Repeatable  bool   `json:"repeatable,omitempty"` // may be given more than once
	Required    bool   `json:"required,omitempty"`
	// Inherited is true for an option that belongs to a parent command but is
	// accepted here as well.
	Inherited bool `json:"inherited,omitempty"`
	// Shown is true if a usage line or an example has the option. Mentions is
	// the number of lines of the help that name it.
	Shown    bool `json:"shown,omitempty"`
	Mentions int  `json:"mentions,omitempty"`
	// Env is the environment variable with the same meaning; may be empty.
	Env string `json:"env,omitempty"`
}

// A Positional is an argument without an option name.
type Positional struct {
	Name        string `json:"name"` // from the usage line, in lower case: "file"
	Description string `json:"description,omitempty"`
	Value       Value  `json:"value"`
	Required    bool   `json:"required,omitempty"`
	Repeatable  bool   `json:"repeatable,omitempty"` // takes all remaining arguments
	// AfterTerminator is true if the usage has a "--" before it.
	AfterTerminator bool `json:"after_terminator,omitempty"`
}

// A Value describes the value of an option or a positional.
type Value struct {
	Kind        Kind     `json:"kind"`
	Placeholder string   `json:"placeholder,omitempty"` // as printed, without brackets: "FILE"
	Choices     []string `json:"choices,omitempty"`     // of an Enum, with exact spelling
	Default     string   `json:"default,omitempty"`     // as printed; empty if unknown
	// Optional is true if the value may be left out: --color[=WHEN].
	Optional bool `json:"optional,omitempty"`
	// Equals is true if the value must be joined with "=" instead of being the
	// next argument. An optional value is always joined.
	Equals bool `json:"equals,omitempty"`
	// Glued is true if the value must follow directly: -j4.
	Glued bool `json:"glued,omitempty"`
	// Arity is the number of arguments that follow the option, if there are
	// several: --arg NAME VALUE. Only a Map of Arity 2 can be offered.
	Arity int `json:"arity,omitempty"`
	// Separator joins the elements of a List or Map into one argument, such as
	// ",". If it is empty the option is repeated for each element.
	Separator string `json:"separator,omitempty"`
	// Pattern is a regular expression that the whole value must match. Only
	// tool blocks set it.
	Pattern string `json:"pattern,omitempty"`
	// Minimum and Maximum bound numbers. Only tool blocks set them.
	Minimum *float64 `json:"minimum,omitempty"`
	Maximum *float64 `json:"maximum,omitempty"`
}

// A Kind is the type of a value.
type Kind string

// The kinds.
const (
	Bool     Kind = "bool"  // takes no value
	Count    Kind = "count" // takes no value; repeating it raises its level: -vvv
	String   Kind = "string"
	Integer  Kind = "integer"
	Number   Kind = "number"
	Enum     Kind = "enum"
	List     Kind = "list"     // of strings
	Map      Kind = "map"      // key=value
	Path     Kind = "path"     // of a file or directory
	Duration Kind = "duration" // such as 30s

	Expression Kind = "expression" // an ordered list of words and their values, as that of find
)

// TakesValue reports whether options of this kind have a value.
func (k Kind) TakesValue() bool { return k != Bool && k != Count }
