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

// A Block is a tool written by hand. Its argument list is fixed, except for its
// slots and the options that have an argument block.
type Block struct {
	Name        string     `hcl:"name,label" doc:"The tool's name."`
	Description string     `hcl:"description" doc:"What the tool does, for the model that has to choose."`
	Argv        []string   `hcl:"argv,optional" doc:"The arguments behind command, fixed. {NAME} is replaced by the value of an argument, as a whole element or a part of one; an element without a value is dropped. Options are inserted at \"{options}\", by default before \"--\" or before the slots at the end. A backslash before a brace makes it text."`
	Access      string     `hcl:"access" doc:"The effect of the tool." default:"write" enum:"read,write,destructive"`
	Idempotent  bool       `hcl:"idempotent" doc:"Whether running it twice is the same as running it once." default:"false"`
	Paths       string     `hcl:"paths,optional" doc:"Whether paths must stay within cwd, for this tool. The default is paths of the transport." enum:"cwd,any"`
	Stdin       bool       `hcl:"stdin" doc:"Whether the tool has a parameter stdin with the text of standard input." default:"false"`
	Arguments   []Argument `hcl:"argument,block" doc:"One argument of the tool. It has a slot in argv or a flag."`
}

// An Argument is one argument of a [Block].
type Argument struct {
	Name        string   `hcl:"name,label" doc:"The argument's name."`
	Type        string   `hcl:"type" doc:"The type of its value." default:"string" enum:"bool,count,string,integer,number,enum,list,map,path,duration"`
	Flag        string   `hcl:"flag,optional" doc:"The option for the argument, as the program spells it, such as \"--all\"."`
	Negation    string   `hcl:"negation,optional" doc:"The option that switches it off, such as \"--no-all\"; for type bool, and for a flag whose value is optional."`
	Values      []string `hcl:"values,optional" doc:"The values allowed; for type enum."`
	Default     string   `hcl:"default,optional" doc:"For a slot: the value if none is given. For a flag: the program's own default, which is only shown to the model."`
	Required    bool     `hcl:"required" doc:"Whether it must be given." default:"false"`
	Repeat      bool     `hcl:"repeat" doc:"Whether it is a list. Each element becomes an element of the argument list, or an option of its own." default:"false"`
	Separator   string   `hcl:"separator,optional" doc:"The text that joins the elements of a list or a map into one value."`
	Optional    bool     `hcl:"optional_value" doc:"Whether the flag may be given without its value." default:"false"`
	Equals      bool     `hcl:"equals" doc:"Whether flag and value are one element, joined by an equals sign." default:"false"`
	Glued       bool     `hcl:"glued" doc:"Whether flag and value are one element with nothing between them." default:"false"`
	Pattern     string   `hcl:"pattern,optional" doc:"A regular expression that the whole value must match."`
	Minimum     *float64 `hcl:"minimum" doc:"The least number allowed."`
	Maximum     *float64 `hcl:"maximum" doc:"The greatest number allowed."`
	Description string   `hcl:"description,optional" doc:"The purpose of the argument, for the model."`
	Conflicts   []string `hcl:"conflicts,optional" doc:"Names of arguments that cannot be given together with it."`
}

var (
	toolName     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	propertyName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,63}$`)
)

// CheckBlocks returns every problem with tool blocks. The errors have paths
// that begin with tool[0] for the first block.
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

// FromBlocks returns the tools of blocks that passed CheckBlocks.
func FromBlocks(blocks []Block, o Options) []*Tool {
	var tools []*Tool
	for i := range blocks {
		t, _ := fromBlock(&blocks[i], "")
		t.restrict(&o, &blocks[i])
		tools = append(tools, t)
	}
	return tools
}

// fromBlock returns the tool of a block and the problems with the block.
func fromBlock(b *Block, path string) (*Tool, []error) {
	c := &blockBuilder{path: path, t: &Tool{
		Name: b.Name, Description: sentence(oneLine(b.Description)), Idempotent: b.Idempotent, Stdin: b.Stdin,
		Access: Access{Kind: b.Access, From: "configuration"}, Template: parseTemplate(b.Argv),
		Command: &model.Command{Summary: b.Description, Runnable: true, Source: "config", Confidence: 1},
	}}
	if b.Description == "" {
		c.failf("description", "is empty; the model needs it to choose a tool")
	}
	c.arguments(b.Arguments)
	c.slots(b)
	c.conflicts(b.Arguments)
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

// arguments adds the parameters.
func (c *blockBuilder) arguments(arguments []Argument) {
	for i := range arguments {
		a, at := &arguments[i], fmt.Sprintf("argument[%d].", i)
		switch {
		case !propertyName.MatchString(a.Name):
			c.failf(at+"name", "an argument's name begins with a letter and has at most 64 letters, digits, dots, dashes and underscores")
		case a.Name == "options" || a.Name == StdinName && c.t.Stdin:
			c.failf(at+"name", "the name %q is reserved", a.Name)
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
				c.failf(at+"pattern", "is not a regular expression: %v", err)
			}
		}
		c.t.Parameters = append(c.t.Parameters, p)
		c.record(&p)
	}
}

// record adds an argument to the model, for clients that request it.
func (c *blockBuilder) record(p *Parameter) {
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

// slots checks the slots of argv against the parameters.
func (c *blockBuilder) slots(b *Block) {
	used := map[string]bool{}
	places, terminated := 0, false
	for i, text := range b.Argv {
		e, where := parseElement(text), fmt.Sprintf("argv[%d]", i)
		if e.Options {
			if places++; places > 1 || terminated {
				c.failf(where, "{options} may occur once, before \"--\"")
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

// check checks that the attributes of an argument fit together.
func (c *blockBuilder) check(a *Argument, at string) {
	kind := model.Kind(a.Type)
	c.checkFlag(a, at, kind)
	if kind == model.Enum && len(a.Values) == 0 {
		c.failf(at+"values", "an enum needs its values")
	}
	if len(a.Values) > 0 && kind != model.Enum && kind != model.List {
		c.failf(at+"values", "only an enum or a list has values")
	}
	number := kind == model.Integer || kind == model.Number
	if a.Minimum != nil && !number {
		c.failf(at+"minimum", "only an integer or a number has a minimum")
	}
	if a.Maximum != nil && !number {
		c.failf(at+"maximum", "only an integer or a number has a maximum")
	}
	if a.Minimum != nil && a.Maximum != nil && *a.Minimum > *a.Maximum {
		c.failf(at+"maximum", "is below the minimum")
	}
	if a.Pattern != "" && (number || !kind.TakesValue()) {
		c.failf(at+"pattern", "only text has a pattern, not a value of type %s", kind)
	}
	if a.Repeat && kind == model.Map {
		c.failf(at+"repeat", "a map holds several values already")
	}
	if a.Separator != "" && !a.Repeat && kind != model.List && kind != model.Map {
		c.failf(at+"separator", "joins the elements of a list or a map, and this is neither")
	}
	c.checkDefault(a, at, kind)
}

// checkFlag checks the attributes about the flag.
func (c *blockBuilder) checkFlag(a *Argument, at string, kind model.Kind) {
	if a.Flag == "" {
		if !kind.TakesValue() {
			c.failf(at+"flag", "an argument of type %s needs one: it has no value to put into a slot", kind)
		}
		for _, only := range []struct {
			name string
			set  bool
		}{{"negation", a.Negation != ""}, {"equals", a.Equals}, {"glued", a.Glued}, {"optional_value", a.Optional}} {
			if only.set {
				c.failf(at+only.name, "needs a flag beside it")
			}
		}
		return
	}
	c.checkSpelling(a.Flag, at+"flag")
	if a.Negation != "" {
		c.checkSpelling(a.Negation, at+"negation")
		if kind != model.Bool && !a.Optional {
			c.failf(at+"negation", "only a bool, or an option whose value is optional, has a negation")
		}
	}
	switch {
	case a.Equals && a.Glued:
		c.failf(at+"glued", "a value is joined by an equals sign or by nothing, not both")
	case a.Equals && !kind.TakesValue():
		c.failf(at+"equals", "a value of type %s is not written", kind)
	case a.Glued && !kind.TakesValue():
		c.failf(at+"glued", "a value of type %s is not written", kind)
	case a.Optional && !kind.TakesValue():
		c.failf(at+"optional_value", "a value of type %s is not written", kind)
	}
}

// checkSpelling rejects a flag that ends the options or contains a value.
func (c *blockBuilder) checkSpelling(flag, at string) {
	if strings.Trim(flag, "-+") == "" || !strings.ContainsRune("-+", rune(flag[0])) || strings.ContainsAny(flag, " \t\r\n\x00=") {
		c.failf(at, "must be the spelling of one option, such as \"--all\", without a value")
	}
}

// checkDefault checks the default of a slot against the type.
func (c *blockBuilder) checkDefault(a *Argument, at string, kind model.Kind) {
	switch {
	case a.Default == "" || a.Flag != "":
		return
	case a.Required:
		c.failf(at+"default", "a required argument cannot have a default")
	case a.Repeat || kind == model.List || kind == model.Map:
		c.failf(at+"default", "a list cannot have a default")
	case kind.TakesValue():
		p := Parameter{Name: a.Name, Value: model.Value{Kind: kind, Choices: a.Values, Minimum: a.Minimum, Maximum: a.Maximum}}
		if a.Pattern != "" {
			p.Pattern, _ = Whole(a.Pattern) // reported elsewhere
		}
		if err := p.Fits(a.Default); err != nil {
			c.failf(at+"default", "%v", err)
		}
	}
}
