package run

import (
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// A builder assembles an argument list. Prepare makes one for each call.
type builder struct {
	*decoder
	all  map[string]*argument
	argv []string
	call *Call

	origins []origin // of each element of argv
	now     origin   // of the elements that are added
}

// An origin says where an element of the argument list is from.
type origin struct {
	element int    // of the template
	path    string // of the value in the arguments; empty for a fixed text
	option  bool   // an argument with a flag, whose option and values are known
}

func (b *builder) add(elements ...string) {
	b.argv = append(b.argv, elements...)
	for range elements {
		b.origins = append(b.origins, b.now)
	}
}

// addValue adds the text of a value.
func (b *builder) addValue(v value) {
	b.now.path = v.path
	b.add(v.text)
	b.now.path = ""
}

// positionals places values that no "--" precedes. It rejects values that begin
// with a dash, except numbers that cannot be an option, and "-" for standard input.
func (b *builder) positionals(values []value) {
	for _, v := range values {
		switch {
		case slices.Contains(b.tool.Operators, v.text):
			b.failf(v.path, "must not be %q, which the program takes for an operator", v.text)
		case !strings.HasPrefix(v.text, "-"), v.stdin, v.number && numbersAreValues(b.tool):
			b.addValue(v)
		case b.tool.Template != nil && b.tool.NoTerminator:
			b.failf(v.path, `must not begin with a dash: the program would take it for an option, also behind "--"`)
		case b.tool.Template != nil:
			b.failf(v.path, `must not begin with a dash: the program would take it for an option; with "--" before its slot in argv, or as "--option={slot}", it may`)
		default:
			b.failf(v.path, "must not begin with a dash: the program would take it for an option")
		}
	}
}

// numbersAreValues reports whether the program cannot take a negative number for
// an option: its help was read, and no option begins with a digit.
func numbersAreValues(t *tool.Tool) bool {
	c := t.Command
	if t.Template != nil || c.Numbered || c.Source == "list" || c.Source == "none" || c.Confidence < understood {
		return false
	}
	for i := range c.Options {
		for _, name := range c.Options[i].Names {
			if letters := strings.TrimLeft(name, "-+"); letters == "" || letters[0] >= '0' && letters[0] <= '9' {
				return false
			}
		}
	}
	return true
}

// understood is the share of a help that must have been read to know that no
// option begins with a digit.
const understood = 0.9

// place places values as they are.
func (b *builder) place(values []value) {
	for _, v := range values {
		b.addValue(v)
	}
}

// options places all given options.
func (b *builder) options() {
	b.now.option = true
	defer func() { b.now.option = false }()
	for i := range b.tool.Parameters {
		p := &b.tool.Parameters[i]
		switch g := b.all[p.Name]; {
		case p.Role == tool.MappedRole:
			b.mapped(p, b.slot(p.Name))
		case g != nil && p.Role == tool.OptionRole:
			b.option(g)
		}
	}
}

// mapped places the arguments that values stand for.
func (b *builder) mapped(p *tool.Parameter, values []value) {
	for _, v := range values {
		b.add(p.Map[v.text]...)
	}
}

func (b *builder) option(g *argument) {
	p := g.param
	switch {
	case p.Value.Kind == model.Bool && g.flag:
		b.add(p.Spelling)
	case p.Value.Kind == model.Bool && p.No() != "":
		b.add(p.No())
	case p.Value.Kind == model.Count:
		for range g.times {
			b.add(p.Spelling)
		}
	}
	if p.Tuple() {
		b.tuple(p, g.values)
		return
	}
	for _, v := range g.values {
		if p.Pairs() {
			key, text, _ := strings.Cut(v.text, "=")
			b.add(p.Spelling, key, text)
			continue
		}
		b.valued(p, v)
	}
}

// tuple places an option with its values. A number may begin with a dash.
func (b *builder) tuple(p *tool.Parameter, values []value) {
	b.add(p.Spelling)
	for _, v := range values {
		_, err := strconv.ParseFloat(v.text, 64)
		// A block says how many values follow.
		number := err == nil && numbersAreValues(b.tool) || v.number && b.tool.Template != nil
		if strings.HasPrefix(v.text, "-") && !number {
			b.failf(v.path, "must not begin with a dash: the program could take it for an option")
			return
		}
		b.add(v.text)
	}
}

// valued places an option with its value.
func (b *builder) valued(p *tool.Parameter, v value) {
	long := strings.HasPrefix(p.Spelling, "--")
	switch {
	case v.negated:
		b.add(p.No())
	case v.bare:
		b.add(p.Spelling)
	case p.Value.Glued, p.Value.Optional && !p.Value.Equals && short(p.Spelling):
		if v.text == "" {
			b.failf(v.path, "must not be empty: it follows its option directly")
			return
		}
		b.add(p.Spelling + v.text)
	case p.Value.Equals, p.Value.Optional:
		b.add(p.Spelling + "=" + v.text)
	case !strings.HasPrefix(v.text, "-"), v.stdin,
		v.text == "-" && (p.Writes || p.Path && !b.gives(tool.StdinName)) && b.tool.Template == nil && !b.tool.Known:
		b.add(p.Spelling, v.text) // "-" alone is no option
	case long && !b.tool.NoEquals:
		b.add(p.Spelling + "=" + v.text)
	case v.number && numbersAreValues(b.tool):
		b.add(p.Spelling, v.text)
	case b.tool.Template != nil:
		b.failf(v.path, "must not begin with a dash: the program could take it for an option; with equals = true or glued = true for its flag it may")
	default:
		b.failf(v.path, "must not begin with a dash: the program could take it for an option")
	}
}

// short reports whether an option is a dash and one byte.
func short(spelling string) bool { return len(spelling) == 2 && spelling[0] == '-' }

// slotAt returns the values of a slot, or that of a list at an index that is not negative.
func (b *builder) slotAt(name string, index int) []value {
	values := b.slot(name)
	if index >= 0 && len(values) > 1 {
		return values[index : index+1]
	}
	return values
}

// slot returns the values of a slot, or its default. A bool with a map has none if its value
// stands for no arguments.
func (b *builder) slot(name string) []value {
	p, g := b.tool.Parameter(name), b.all[name]
	if p == nil {
		return nil
	}
	text := p.Value.Default
	if g != nil && p.Value.Kind != model.Bool {
		return g.values
	}
	if g != nil {
		text = strconv.FormatBool(g.flag)
	}
	if _, ok := p.Map[text]; text == "" || p.Map != nil && !ok {
		return nil
	}
	return []value{{text: text, path: name}}
}
