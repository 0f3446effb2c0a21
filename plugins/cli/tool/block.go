package tool

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"
)

// A Block is a tool written by hand. Its argument list is fixed, except for its
// slots and the options that have an argument block. It is part of the settings, and is not
// changed after they are decoded.
type Block struct {
	Name        string            `hcl:"name,label" doc:"The tool's name."`
	Description string            `hcl:"description" doc:"What the tool does, for the model that has to choose."`
	Argv        []json.RawMessage `hcl:"argv,optional" doc:"The arguments behind command, fixed: texts, or lists of texts. {NAME} is replaced by the value of an argument, as a whole element or a part of one; an element without a value is left out, and a list in the list as a whole, such as [\"-to\", \"{end}\"]. {file:NAME} is the path of a file with the value, and {out:png} that of the file which the program writes as its result. Options are inserted at \"{options}\", by default before \"--\" or before the slots at the end. A backslash before a brace makes it text."`
	Access      string            `hcl:"access" doc:"The effect of the tool." default:"write" enum:"read,write,destructive"`
	Idempotent  bool              `hcl:"idempotent" doc:"Whether running it twice is the same as running it once." default:"false"`
	Paths       string            `hcl:"paths,optional" doc:"Whether paths must stay within cwd, for this tool. The default is paths of the transport." enum:"cwd,any"`
	Output      string            `hcl:"output,optional" doc:"How standard output is read, for this tool. The default is output of the transport." enum:"auto,text,json,jsonl,lines,tsv,table,image,audio,binary"`
	Select      string            `hcl:"select,optional" doc:"The part of JSON output that is the result, such as \".items[].name\", for this tool. The default is select of the transport, unless the tool has an output of its own."`
	Timeout     *time.Duration    `hcl:"timeout" doc:"How long one run may take, for this tool."`
	MaxOutput   *int              `hcl:"max_output" doc:"How many bytes of standard output are kept, for this tool."`
	OKCodes     []int             `hcl:"ok_codes,optional" doc:"The exit codes that mean success, for this tool."`
	DataCodes   []int             `hcl:"data_codes,optional" doc:"Further exit codes that are an answer and not an error, for this tool."`

	Command []string          `hcl:"command,optional" doc:"The program and its fixed arguments, for this tool. A relative path is relative to its cwd."`
	Cwd     string            `hcl:"cwd,optional" doc:"The working directory, for this tool. A relative path is relative to the configuration file's directory. The default is cwd of the transport."`
	Env     map[string]string `hcl:"env,optional" doc:"Environment variables for this tool, added to those of the transport." sensitive:"true"`
	Limits  *Limits           `hcl:"limits,block" doc:"Resource limits for each process of a run of this tool, in place of those of the transport."`

	Stdin            bool       `hcl:"stdin" doc:"Whether the tool has a parameter stdin with the text of standard input." default:"false"`
	StdinRequired    bool       `hcl:"stdin_required,optional" doc:"Whether the parameter stdin must be given." requires:"stdin"`
	StdinDescription string     `hcl:"stdin_description,optional" doc:"The purpose of the parameter stdin, for the model." requires:"stdin"`
	Arguments        []Argument `hcl:"argument,block" doc:"One argument of the tool. It has a slot in argv or a flag."`
}

// An Argument is one argument of a [Block].
type Argument struct {
	Name        string              `hcl:"name,label" doc:"The argument's name."`
	Type        string              `hcl:"type" doc:"The type of its value." default:"string" enum:"bool,count,string,integer,number,enum,list,map,path,duration,expression"`
	Flag        string              `hcl:"flag,optional" doc:"The option for the argument, as the program spells it, such as \"--all\"."`
	Negation    string              `hcl:"negation,optional" doc:"The option that switches it off, such as \"--no-all\"; for type bool, and for a flag whose value is optional."`
	Values      []string            `hcl:"values,optional" doc:"The values allowed; for type enum."`
	Default     string              `hcl:"default,optional" doc:"For a slot: the value if none is given. For a flag: the program's own default, which is only shown to the model."`
	Required    bool                `hcl:"required" doc:"Whether it must be given." default:"false"`
	Repeat      bool                `hcl:"repeat" doc:"Whether it is a list. Each element becomes an element of the argument list, or an option of its own." default:"false"`
	Separator   string              `hcl:"separator,optional" doc:"The text that joins the elements of a list or a map into one value."`
	Optional    bool                `hcl:"optional_value" doc:"Whether the flag may be given without its value." default:"false"`
	Equals      bool                `hcl:"equals" doc:"Whether flag and value are one element, joined by an equals sign." default:"false"`
	Glued       bool                `hcl:"glued" doc:"Whether flag and value are one element with nothing between them." default:"false"`
	Pair        bool                `hcl:"pair" doc:"For type map: whether flag, key and value are three elements, as --arg NAME VALUE of jq." default:"false"`
	Count       int                 `hcl:"count,optional" doc:"The number of values behind the flag, as 4 for -win X Y WIDTH HEIGHT. The argument is then a list of so many."`
	Words       []string            `hcl:"words,optional" doc:"For type expression: the words allowed. The default is all words of the table for the program."`
	Pattern     string              `hcl:"pattern,optional" doc:"A regular expression that the whole value must match."`
	Minimum     *float64            `hcl:"minimum" doc:"The least number allowed."`
	Maximum     *float64            `hcl:"maximum" doc:"The greatest number allowed."`
	Description string              `hcl:"description,optional" doc:"The purpose of the argument, for the model."`
	Map         map[string][]string `hcl:"map,optional" doc:"For type enum or bool, without a flag: the fixed arguments that each value stands for, such as { fast = [\"-preset\", \"ultrafast\"] } or { true = [\"--now\"] }. They take the place of the slot, or of the options if there is none."`
	Conflicts   []string            `hcl:"conflicts,optional" doc:"Names of arguments that cannot be given together with it."`
	Unless      []string            `hcl:"required_unless,optional" doc:"Names of arguments, or \"stdin\". A call without one of them must give this argument, as for a program that reads standard input if it gets no file."`
}

var (
	toolName     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	propertyName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)
)

// BlockPath returns the path of a tool block in the settings.
func BlockPath(i int) string { return fmt.Sprintf("tool[%d]", i) }
