package tool

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// A Block is a tool that somebody wrote by hand. It is a cage: the argument list
// is fixed but for its slots and the options that have an argument here.
type Block struct {
	Name        string     `hcl:"name,label" doc:"The tool's name."`
	Description string     `hcl:"description" doc:"What the tool does, for the model that has to choose."`
	Argv        []string   `hcl:"argv,optional" doc:"The arguments behind command, fixed. {NAME} stands for the value of an argument, as a whole element or a part of one; an element whose argument is left out is dropped. \"{options}\" is where options are inserted, by default before \"--\" or before the slots at the end. A backslash before a brace makes it text."`
	Access      string     `hcl:"access" doc:"What the tool does to the world." default:"write" enum:"read,write,destructive"`
	Idempotent  bool       `hcl:"idempotent" doc:"Whether running it twice is the same as running it once." default:"false"`
	Paths       string     `hcl:"paths,optional" doc:"Whether paths stay within cwd, for this tool; what the transport says if not given." enum:"cwd,any"`
	Stdin       bool       `hcl:"stdin" doc:"Whether the tool has a parameter stdin, which the program reads from its standard input." default:"false"`
	Arguments   []Argument `hcl:"argument,block" doc:"One argument of the tool. It has a slot in argv, or a flag."`
}

// An Argument is one argument of a [Block].
type Argument struct {
	Name        string   `hcl:"name,label" doc:"The argument's name."`
	Type        string   `hcl:"type" doc:"The type of its value." default:"string" enum:"bool,count,string,integer,number,enum,list,map,path,duration"`
	Flag        string   `hcl:"flag,optional" doc:"The option that it is, spelled as the program wants it, such as \"--all\"."`
	Negation    string   `hcl:"negation,optional" doc:"The option that says no, such as \"--no-all\"; for type bool, and for a flag whose value is optional."`
	Values      []string `hcl:"values,optional" doc:"The values allowed; for type enum."`
	Default     string   `hcl:"default,optional" doc:"For a slot: the value where none is given. For a flag: what the program does then, which only the model is told."`
	Required    bool     `hcl:"required" doc:"Whether it must be given." default:"false"`
	Repeat      bool     `hcl:"repeat" doc:"Whether it is a list. Each element becomes an element of the argument list, or an option of its own." default:"false"`
	Separator   string   `hcl:"separator,optional" doc:"What joins the elements of a list or a map into one value."`
	Optional    bool     `hcl:"optional_value" doc:"Whether the flag may stand without its value." default:"false"`
	Equals      bool     `hcl:"equals" doc:"Whether flag and value are one element, joined by an equals sign." default:"false"`
	Glued       bool     `hcl:"glued" doc:"Whether flag and value are one element with nothing between them." default:"false"`
	Pattern     string   `hcl:"pattern,optional" doc:"A regular expression that the whole value must match."`
	Minimum     *float64 `hcl:"minimum" doc:"The least number allowed."`
	Maximum     *float64 `hcl:"maximum" doc:"The greatest number allowed."`
	Description string   `hcl:"description,optional" doc:"What it is for."`
	Conflicts   []string `hcl:"conflicts,optional" doc:"Names of arguments that cannot be given beside it."`
}

var (
	toolName     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	propertyName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)
)

// CheckBlocks says everything that is wrong with tool blocks; at is the path of
// the first, as in tool[0].
func CheckBlocks(blocks []Block) error {
	var errs []error
	names := map[string]bool{}
	for i := range blocks {
		b, path := &blocks[i], fmt.Sprintf("tool[%d]", i)
		switch {
		case !toolName.MatchString(b.Name):
			errs = append(errs, sdk.AttrErrorf(path+".name", "a tool's name has at most 64 letters, digits, dashes and underscores"))
		case names[b.Name]:
			errs = append(errs, sdk.AttrErrorf(path+".name", "there is another tool %q", b.Name))
		}
		names[b.Name] = true
		_, problems := fromBlock(b, path)
		errs = append(errs, problems...)
	}
	return errors.Join(errs...)
}

// FromBlocks makes the tools of blocks that CheckBlocks has no complaint about.
func FromBlocks(blocks []Block, o Options) []*Tool {
	var tools []*Tool
	for i := range blocks {
		t, _ := fromBlock(&blocks[i], "")
		t.restrict(&o, &blocks[i])
		tools = append(tools, t)
	}
	return tools
}

// fromBlock makes a tool and says what is wrong with its block.
func fromBlock(b *Block, path string) (*Tool, []error) {
	c := &caged{path: path, t: &Tool{
		Name: b.Name, Description: sentence(oneLine(b.Description)), Idempotent: b.Idempotent, Stdin: b.Stdin,
		Access: Access{Kind: b.Access, From: "configuration"}, Template: parseTemplate(b.Argv),
		Command: &model.Command{Summary: b.Description, Runnable: true, Source: "config", Confidence: 1},
	}}
	if b.Description == "" {
		c.failf("description", "is empty; a model chooses by it")
	}
	c.arguments(b.Arguments)
	c.slots(b)
	c.conflicts(b.Arguments)
	c.t.Description += exclusive(c.t.Conflicts)
	c.t.finish()
	return c.t, c.errs
}

// A caged is a tool on its way from a block.
type caged struct {
	t    *Tool
	path string
	errs []error
}

func (c *caged) failf(at, format string, args ...any) {
	c.errs = append(c.errs, sdk.AttrErrorf(c.path+"."+at, format, args...))
}

// arguments makes the parameters.
func (c *caged) arguments(arguments []Argument) {
	for i := range arguments {
		a, at := &arguments[i], fmt.Sprintf("argument[%d].", i)
		switch {
		case !propertyName.MatchString(a.Name):
			c.failf(at+"name", "an argument's name begins with a letter and has at most 64 letters, digits, dots, dashes and underscores")
		case a.Name == "options" || a.Name == StdinName && c.t.Stdin:
			c.failf(at+"name", "%q has a meaning of its own", a.Name)
		case c.t.Parameter(a.Name) != nil:
			c.failf(at+"name", "there is another argument %q", a.Name)
		}
		c.check(a, at)
		p := Parameter{
			Name: a.Name, Role: SlotRole, Spelling: a.Flag, Negation: a.Negation, Description: a.Description,
			Required: a.Required, Repeatable: a.Repeat, Path: a.Type == string(model.Path),
			Value: model.Value{
				Kind: model.Kind(a.Type), Choices: a.Values, Default: a.Default, Optional: a.Optional, Equals: a.Equals, Glued: a.Glued,
				Separator: a.Separator, Pattern: a.Pattern, Minimum: a.Minimum, Maximum: a.Maximum,
			},
		}
		if a.Flag != "" {
			p.Role = OptionRole
			if p.Repeatable && p.Value.Kind == model.Bool {
				p.Value.Kind = model.Count
			}
		}
		if a.Pattern != "" {
			var err error
			if p.Pattern, err = Whole(a.Pattern); err != nil {
				c.failf(at+"pattern", "is no regular expression: %v", err)
			}
		}
		c.t.Parameters = append(c.t.Parameters, p)
		c.record(&p)
	}
}

// record puts an argument into the model, for who reads that.
func (c *caged) record(p *Parameter) {
	if p.Role == OptionRole {
		c.t.Command.Options = append(c.t.Command.Options, model.Option{
			Names: []string{p.Spelling}, Negation: p.Negation, Description: p.Description, Value: p.Value, Repeatable: p.Repeatable, Required: p.Required,
		})
		return
	}
	c.t.Command.Positionals = append(c.t.Command.Positionals, model.Positional{
		Name: p.Name, Description: p.Description, Value: p.Value, Required: p.Required, Repeatable: p.Repeatable,
	})
}

// slots joins the template with the parameters.
func (c *caged) slots(b *Block) {
	used := map[string]bool{}
	places, terminated := 0, false
	for i, text := range b.Argv {
		e, where := parseElement(text), fmt.Sprintf("argv[%d]", i)
		if e.Options {
			if places++; places > 1 || terminated {
				c.failf(where, "options are inserted in one place, before \"--\"")
			}
			continue
		}
		terminated = terminated || e.Terminates()
		if strings.ContainsRune(text, 0) {
			c.failf(where, "contains NUL")
		}
		lists := 0
		for _, name := range e.Slots() {
			used[name] = true
			p := c.t.Parameter(name)
			switch {
			case p == nil:
				c.failf(where, "there is no argument %q", name)
			case p.Role == OptionRole:
				c.failf(where, "the argument %q has a flag, so it has no slot", name)
			case p.Several() || p.Value.Kind == model.Map:
				lists++
			}
		}
		if lists > 0 && len(e.Slots()) > 1 {
			c.failf(where, "a list cannot share an element with another argument")
		}
	}
	for i, p := range c.t.Parameters {
		if p.Role == SlotRole && !used[p.Name] {
			c.failf(fmt.Sprintf("argument[%d].name", i), "has neither a slot {%s} in argv nor a flag", p.Name)
		}
	}
}

// conflicts makes sets of the pairs that arguments name.
func (c *caged) conflicts(arguments []Argument) {
	for i, a := range arguments {
		for j, other := range a.Conflicts {
			at := fmt.Sprintf("argument[%d].conflicts[%d]", i, j)
			switch {
			case other == a.Name:
				c.failf(at, "an argument cannot be in its own way")
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
