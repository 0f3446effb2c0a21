package run

import (
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// A builder assembles an argument list.
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

// command builds the list for a discovered command.
func (b *builder) command(free []string) {
	b.add(b.tool.Command.Path...)
	b.add(b.tool.Forced...)
	leading, first := leadingValues(b.tool, b.all)
	b.positionals(first)
	b.options()
	if anyDashed(free) {
		b.add(free...) // the pattern in the configuration admits these options
		free = nil
	}
	var before, after, listed []value
	for i := range b.tool.Parameters {
		p := &b.tool.Parameters[i]
		g := b.all[p.Name]
		switch {
		case p.Role != tool.PositionalRole || g == nil || slices.Contains(leading, p.Name):
		case p.Expression != nil:
			listed = g.values
		case p.AfterTerminator:
			after = append(after, g.values...)
		default:
			before = append(before, g.values...)
		}
	}
	b.first(slices.Concat(first, before, after))
	if len(after) > 0 {
		// The usage has its own place for "--", so no "--" can precede the
		// values in before.
		b.positionals(before)
		b.add("--")
		b.place(after)
	} else {
		if b.tool.Command.Terminator && anyDashedValue(before) && !separates(b.tool) {
			b.add("--")
			b.place(before)
		} else {
			b.positionals(before)
		}
	}
	b.add(free...)
	b.place(listed)
}

// leadingValues returns the names of the positionals that the usage has before the options, and
// their values.
func leadingValues(t *tool.Tool, all map[string]*argument) (names []string, values []value) {
	for i := range t.Parameters {
		p := &t.Parameters[i]
		if p.Role != tool.PositionalRole || p.Expression != nil || p.AfterTerminator {
			continue
		}
		if len(names) == t.Command.Leading {
			break
		}
		names = append(names, p.Name)
		if g := all[p.Name]; g != nil {
			values = append(values, g.values...)
		}
	}
	return names, values
}

// first checks the first positional, which is a program for awk and jq. Without it, as
// after another problem, the next positional is no program.
func (b *builder) first(values []value) {
	if len(values) == 0 || len(b.problems) > 0 {
		return
	}
	given := func(options []string) bool { return b.tool.Gives(options, b.given) }
	if reason := b.tool.FirstRejection(values[0].text, given); reason != "" {
		b.failf(values[0].path, "%s", reason)
	}
}

// separates reports whether the program gives "--" another meaning than the end of
// the options.
func separates(t *tool.Tool) bool {
	for i := range t.Parameters {
		if t.Parameters[i].AfterTerminator {
			return true
		}
	}
	return false
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
	case !strings.HasPrefix(v.text, "-"), v.stdin, v.text == "-" && (p.Writes || p.Path && !b.gives(tool.StdinName)) && b.tool.Template == nil && !b.tool.Known:
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

// anyDashedValue reports whether a value begins with a dash.
func anyDashedValue(values []value) bool {
	for _, v := range values {
		if strings.HasPrefix(v.text, "-") {
			return true
		}
	}
	return false
}

func anyDashed(elements []string) bool {
	for _, e := range elements {
		if strings.HasPrefix(e, "-") {
			return true
		}
	}
	return false
}

// template builds the list for a tool from a tool block.
func (b *builder) template() {
	_, from := b.tool.Arguments()
	protected := false
	b.add(b.tool.Forced...)
	for i, n := 0, 1; i < len(b.tool.Template); i += n {
		e := b.tool.Template[i]
		n = 1
		switch {
		case e.Options:
			b.now.element = i
			b.options()
		case e.Group == 0:
			b.element(i, protected, -1)
			protected = protected || i >= from && e.Terminates() && !b.tool.NoTerminator
		default:
			for i+n < len(b.tool.Template) && b.tool.Template[i+n].Group == e.Group {
				n++
			}
			protected = b.group(i, n, protected)
		}
	}
	if len(b.problems) == 0 {
		b.readPrograms(b.tool, 0, len(b.tool.Template))
	}
}

// group places the elements of a group once for each value of its list, or once if
// it has none, or not at all if one of its slots is empty. It reports whether "--"
// precedes what follows.
func (b *builder) group(first, n int, protected bool) bool {
	elements, times := b.tool.Template[first:first+n], 1
	for i := range elements {
		for _, name := range elements[i].Slots() {
			n := len(b.slot(name))
			if n == 0 {
				return protected
			}
			times = max(times, n)
		}
	}
	for value := range times {
		for i := range elements {
			b.element(first+i, protected, value)
			protected = protected || elements[i].Terminates() && !b.tool.NoTerminator
		}
	}
	return protected
}

// element fills the slots of one element of the template and places it. An element with a slot
// without a value is left out. An element with a list is placed once for each
// value, or with its value at an index only.
func (b *builder) element(i int, protected bool, index int) {
	e := b.tool.Template[i]
	b.now.element = i
	if p := b.tool.Parameter(e.Parts[0].Slot); p != nil && p.Map != nil {
		b.mapped(p, b.slotAt(p.Name, index))
		return
	}
	filled := []value{{}}
	for _, part := range e.Parts {
		if part.Slot == "" {
			text := part.Text
			if part.Out {
				text = b.call.out(part.Ext)
			}
			for i := range filled {
				filled[i].text += text
			}
			continue
		}
		values := b.slotAt(part.Slot, index)
		if part.File {
			values = b.call.addFiles(part, values)
		}
		var next []value
		for _, f := range filled {
			for _, v := range values {
				next = append(next, value{text: f.text + v.text, path: v.path})
			}
		}
		filled = next
	}
	b.whole(&e, filled)
	if p := b.tool.Parameter(e.Parts[0].Slot); p != nil && p.Expression != nil {
		b.place(filled)
		return
	}
	if e.Parts[0].Slot != "" && !e.Parts[0].File && !protected {
		b.positionals(filled)
		return
	}
	b.place(filled)
}

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
