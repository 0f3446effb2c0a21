package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// A Block is a tool written by hand. Its argument list is fixed, except for its
// slots and the options that have an argument block.
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

// CheckBlocks returns every problem with tool blocks. The errors have paths
// that begin with tool[0] for the first block. command and dangerous are those of the
// transport.
func CheckBlocks(blocks []Block, command []string, dangerous ...string) error {
	var errs []error
	names := map[string]bool{}
	for i := range blocks {
		b, path := &blocks[i], BlockPath(i)
		switch {
		case !toolName.MatchString(b.Name):
			errs = append(errs, sdk.AttrErrorf(path+".name", "a tool's name has at most 64 letters, digits, dashes and underscores"))
		case names[b.Name]:
			errs = append(errs, sdk.AttrErrorf(path+".name", "there is another tool %q", b.Name))
		}
		names[b.Name] = true
		run := b.run()
		errs = append(errs, run.Check(path+".")...)
		t, problems := fromBlock(b, path)
		if errs = append(errs, problems...); len(problems) == 0 {
			errs = append(errs, b.check(t, command, dangerous, path)...)
		}
	}
	return errors.Join(errs...)
}

// check returns the problems of a tool block with its program. It is about a tool that has no
// other problems.
func (b *Block) check(t *Tool, command, dangerous []string, path string) []error {
	if b.Command != nil {
		command = b.Command
	}
	o := Options{Command: command, Dangerous: dangerous, Rules: danger.ForBlock(command, words(t.Template), "")}
	errs := checkExpressions(t, o.Rules, path)
	if len(errs) == 0 {
		t.restrict(&o, b)
		errs = checkPrograms(t, &o, path)
	}
	return errs
}

// FromBlock returns the tool of a block that passed CheckBlocks. The options are about
// the program of the block.
func FromBlock(b *Block, o Options) *Tool {
	t, _ := fromBlock(b, "")
	t.Block = b
	if o.Command != nil {
		o.Rules = danger.ForBlock(o.Command, words(t.Template), o.Executable)
	}
	t.restrict(&o, b)
	return t
}

// fromBlock returns the tool of a block and the problems with the block.
func fromBlock(b *Block, path string) (*Tool, []error) {
	c := &blockBuilder{path: path, t: &Tool{
		Name: b.Name, Description: sentence(oneLine(b.Description)), Idempotent: b.Idempotent,
		Stdin: b.Stdin, StdinRequired: b.StdinRequired, StdinAbout: oneLine(b.StdinDescription),
		Access:  Access{Kind: b.Access, From: "configuration"},
		Command: &model.Command{Summary: b.Description, Runnable: true, Source: "config", Confidence: 1},
	}}
	if b.StdinRequired && !b.Stdin {
		c.failf("stdin_required", "needs stdin = true beside it")
	}
	if b.StdinDescription != "" && !b.Stdin {
		c.failf("stdin_description", "needs stdin = true beside it")
	}
	if b.Description == "" {
		c.failf("description", "is empty; the model needs it to choose a tool")
	}
	c.arguments(b.Arguments)
	c.argv(b.Argv)
	c.slots()
	c.t.Template = placeOptions(c.t.Template)
	c.conflicts(b.Arguments)
	c.unless(b.Arguments)
	c.t.Description += exclusive(c.t.Conflicts)
	c.t.finish()
	return c.t, c.errs
}

// A blockBuilder builds the tool of a block.
type blockBuilder struct {
	t    *Tool
	path string
	errs []error
}

func (c *blockBuilder) failf(at, format string, args ...any) {
	c.errs = append(c.errs, sdk.AttrErrorf(c.path+"."+at, format, args...))
}

// conflicts adds the pairs that arguments name.
func (c *blockBuilder) conflicts(arguments []Argument) {
	for i, a := range arguments {
		for j, other := range a.Conflicts {
			at := fmt.Sprintf("argument[%d].conflicts[%d]", i, j)
			switch {
			case other == a.Name:
				c.failf(at, "an argument cannot exclude itself")
			case c.t.Parameter(other) == nil:
				c.failf(at, "there is no argument %q", other)
			default:
				pair := []string{a.Name, other}
				slices.Sort(pair)
				if !slices.ContainsFunc(c.t.Conflicts, func(set []string) bool { return slices.Equal(set, pair) }) {
					c.t.Conflicts = append(c.t.Conflicts, pair)
				}
			}
		}
	}
}

// unless reads required_unless of the arguments.
func (c *blockBuilder) unless(arguments []Argument) {
	for i, a := range arguments {
		p := c.t.Parameter(a.Name)
		if p == nil || len(a.Unless) == 0 {
			continue
		}
		at := fmt.Sprintf("argument[%d].required_unless", i)
		if a.Required {
			c.failf(at, "cannot be set together with required = true")
		}
		for j, other := range a.Unless {
			switch {
			case other == a.Name:
				c.failf(fmt.Sprintf("%s[%d]", at, j), "an argument cannot take its own place")
			case other == StdinName && c.t.Stdin:
			case c.t.Parameter(other) == nil:
				c.failf(fmt.Sprintf("%s[%d]", at, j), "there is no argument %q", other)
			}
		}
		p.Unless = a.Unless
	}
}
