package help

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A call is one parsed usage.
type call struct {
	options     []model.Option
	conflicts   [][]string
	positionals []model.Positional
	terminator  bool
	literal     string   // the first plain word, if it may be the name of a command
	before      int      // number of options before that word
	keywords    int      // number of keywords such as "[ mtu MTU ]"
	maybe       string   // a plain word at the start of a bracket: "[push [-p] ...]"
	literals    []string // the words of "{add,rm} ..."
	choices     []string // the words of "{on | off} name" at the start
	command     string   // the placeholder for a command
	needed      bool     // that placeholder is not in square brackets
	later       bool     // options follow that placeholder
	odd         []string // parts that were not understood

	arguments int  // number of positionals before the first option
	optional  bool // the usage has options
}

// optionsBegin records that the options of the usage begin here.
func (c *call) optionsBegin() {
	if !c.optional {
		c.optional, c.arguments = true, len(c.positionals)
	}
}

// A walker interprets the nodes of a usage.
type walker struct {
	table map[string]*model.Option // the options that the tables of the text describe
	call  call
}

// A place describes the context of a node in a usage.
type place struct {
	optional bool
	repeat   bool
	choice   bool // one of several alternatives
	first    bool // the first of several nodes in a bracket
}

// below removes the program and its path from the start of a usage. It reports
// whether the last word of the path was there.
func below(nodes []node, path []string) ([]node, bool) {
	found := len(path) == 0
	if len(nodes) > 0 && nodes[0].plain() {
		found = found || nodes[0].text == path[len(path)-1]
		nodes = nodes[1:]
	}
	for i, word := range path {
		at := slices.IndexFunc(nodes, func(n node) bool { return n.begins(word) })
		if at < 0 {
			continue
		}
		rest := nodes[at+1:]
		if nodes[at].open != 0 { // "prog [push [-k]]"
			rest = append(slices.Clone(nodes[at].alts[0][1:]), rest...)
		}
		nodes, found = rest, i == len(path)-1
	}
	return nodes, found
}

// whole reports whether a usage is that of the program as a whole, with a sub-command among
// its arguments.
func (c *call) whole() bool {
	return slices.ContainsFunc(c.positionals,
		func(p model.Positional) bool { return p.Name == "command" || p.Name == "subcommand" })
}

// begins reports whether n is the word, or a group that begins with it.
func (n node) begins(word string) bool {
	if n.open == '[' && len(n.alts) == 1 && len(n.alts[0]) > 1 {
		n = n.alts[0][0]
	}
	return n.plain() && n.text == word
}

// walk interprets a sequence of nodes.
func (w *walker) walk(nodes []node, at place) {
	if last := len(nodes) - 1; last > 0 && omitted(nodes[last].text) &&
		!slices.ContainsFunc(nodes, func(n node) bool { return !n.plain() }) {
		return // "[global options]"
	}
	for i := 0; i < len(nodes); i++ {
		n := nodes[i]
		switch {
		case n.text == "--":
			w.call.terminator = true
		case n.option():
			i += w.option(nodes, i, at)
		case strings.EqualFold(n.text, "or") && i > 0:
			i++ // the next word has the same meaning
			if last := len(w.call.positionals) - 1; last >= 0 && i < len(nodes) &&
				strings.EqualFold(nodes[i].text, "none") {
				w.call.positionals[last].Required = false
			}
		case n.prefix() && i+1 < len(nodes) && begunBy(nodes, i+1): // "[NAMESPACE:]FILE"
		case n.open == 0 && n.glued && i > 0 && !begunBy(nodes, i): // "TYPE[.GROUP]/NAME" is one argument
		case n.open == 0:
			at.first = at.optional && i == 0 && len(nodes) > 1
			w.word(n, at)
		default:
			i += w.group(nodes, i, at)
		}
	}
}

// option reads the option at i. It returns the number of following nodes that
// are its value.
func (w *walker) option(nodes []node, i int, at place) (used int) {
	n := nodes[i]
	if omitted(strings.TrimLeft(n.text, "-")) && !strings.HasPrefix(n.text, "--") {
		w.call.later = w.call.later || w.call.command != ""
		w.call.optionsBegin()
		return 0 // "[-options]"
	}
	letters := cluster(n.text)
	if letters == "" && w.lettered(n.text) {
		letters = n.text[1:]
	}
	if letters != "" && w.table[n.text] == nil && !w.valued(nodes, i) {
		for _, c := range letters {
			w.add(model.Option{Names: []string{"-" + string(c)}, Value: model.Value{Kind: model.Bool}})
		}
		return 0
	}
	text := n.text
	repeat := at.repeat || n.repeat
	for !nodes[i+used].repeat && i+used+1 < len(nodes) && nodes[i+used+1].glued {
		used++
		text += nodes[i+used].string()
		repeat = repeat || nodes[i+used].repeat
	}
	sp, left, ok := readSpec(text, true)
	if !ok || left != "" {
		w.notUnderstood(text)
		return used
	}
	if !sp.taken {
		if v, more := w.operand(nodes, i+used, at, sp); more {
			used++
			repeat = repeat || nodes[i+used].repeat
			sp.value, sp.taken = v, true
			for sp.optional = nodes[i+used].open == '['; i+used+1 < len(nodes) && nodes[i+used+1].glued; used++ {
				sp.optional = false
			}
		}
	}
	o := build(sp, "")
	o.Repeatable = o.Repeatable || repeat
	o.Required = !at.optional && !at.choice
	w.add(o)
	return used
}

// operand returns the value of an option from the following node.
func (w *walker) operand(nodes []node, i int, at place, sp spec) (string, bool) {
	if i+1 >= len(nodes) {
		return "", false
	}
	next := nodes[i+1]
	if next.open == '[' && i+2 < len(nodes) && nodes[i+2].glued {
		return next.string() + nodes[i+2].string(), nodes[i+2].plain()
	}
	if o := w.table[sp.names[0]]; o != nil {
		if !o.Value.Kind.TakesValue() && !at.optional ||
			next.open == '[' && o.Value.Kind.TakesValue() && !o.Value.Optional {
			return "", false
		}
	}
	switch {
	case next.plain():
		return next.text, !omitted(next.text) || sp.names[0] == "-o" || at.optional && i+2 == len(nodes) &&
			!strings.HasSuffix(next.text, "s")
	case next.open == '{', next.open == '(':
		return next.string(), at.optional && len(next.alts) > 0 && len(next.alts[0]) > 0 && next.alts[0][0].plain()
	case next.open == '[' && i+2 == len(nodes) && at.optional:
		inner := next.alts[0]
		return next.string(), len(next.alts) == 1 && len(inner) == 1 && inner[0].plain() && !omitted(inner[0].text)
	}
	return "", false
}

// add records an option, or merges it with the same option.
func (w *walker) add(o model.Option) {
	w.call.optionsBegin()
	for i := range w.call.options {
		if have := &w.call.options[i]; slices.Contains(have.Names, o.Names[0]) {
			have.Repeatable = have.Repeatable || o.Repeatable
			have.Required = have.Required || o.Required
			if !have.Value.Kind.TakesValue() {
				have.Value = o.Value
			}
			return
		}
	}
	w.call.options = append(w.call.options, o)
}

// group reads the group at i. It returns the number of following nodes that
// belong to it.
func (w *walker) group(nodes []node, i int, at place) (used int) {
	n := nodes[i]
	in := place{optional: at.optional || n.open == '[', repeat: at.repeat || n.repeat,
		choice: at.choice || len(n.alts) > 1}
	if n.glued && n.open == '[' && len(n.alts) == 1 && len(n.alts[0]) > 0 && n.alts[0][0].plain() {
		if last := len(w.call.positionals) - 1; last >= 0 && n.repeat {
			w.call.positionals[last].Repeatable = true
		}
		return 0 // "[.zip]" belongs to the preceding word
	}
	if w.more(n) || w.values(n, in) || w.phrase(n, in) {
		return 0
	}
	n.alts = valueChoices(n.alts)
	if keyword(n) {
		w.call.keywords++
	}
	if w.list(n, in) || w.alternatives(n, in) {
		return 0
	}
	// In "[-o json|yaml]" the words after the bar belong to the value.
	if len(n.alts) > 1 && len(n.alts[0]) > 1 && !n.alts[0][0].plain() &&
		!slices.ContainsFunc(n.alts[1:], func(a []node) bool { return len(a) != 1 || !a[0].plain() }) {
		w.walk(joinAlternatives(n.alts), in)
		return 0
	}
	before := len(w.call.options)
	first := make([]string, 0, len(n.alts))
	for _, alt := range n.alts {
		if len(alt) > 0 && alt[0].option() && len(first) < 64 {
			first = append(first, alt[0].text)
		}
		w.walk(alt, in)
	}
	if len(n.alts) > 1 && len(first) == len(n.alts) {
		if v := i + 1; v < len(nodes) && nodes[v].plain() && (at.optional || n.open == '(') &&
			!omitted(nodes[v].text) && w.bare(before) {
			w.give(before, nodes[v].text)
			used = 1
		}
		w.together(first)
	}
	return used
}

// notUnderstood records a part of the usage.
func (w *walker) notUnderstood(text string) {
	if len(w.call.odd) < maxUnparsed {
		w.call.odd = append(w.call.odd, text)
	}
}

// maxChoices bounds the choices of a value in a usage, in bytes.
const maxChoices = 4 << 10

// valueChoices joins words after a bar to the value before them: in
// "[--recursive=FALSE|TRUE]" TRUE is no argument.
func valueChoices(alts [][]node) [][]node {
	var all [][]node
	for _, alt := range alts {
		if last := len(all) - 1; last >= 0 && len(alt) == 1 && alt[0].plain() && len(all[last]) == 1 &&
			all[last][0].option() && strings.Contains(all[last][0].text, "=") {
			if joined := all[last][0]; len(joined.text) < maxChoices {
				joined.text += "|" + alt[0].text
				all[last] = []node{joined}
			}
			continue
		}
		all = append(all, alt)
	}
	return all
}

// word reads the placeholder of an argument, or the name of a command.
func (w *walker) word(n node, at place) {
	text := n.text
	if strings.HasPrefix(text, "+") || omitted(text) {
		w.call.later = w.call.later || w.call.command != ""
		w.call.optionsBegin()
		return
	}
	name := lower(text)
	if name == "" {
		return
	}
	if !isPlaceholder(text) {
		w.notUnderstood(text)
		return
	}
	if commandName(name) && w.call.command == "" {
		w.call.command, w.call.needed = name, !at.optional
	}
	if text == name && at.first {
		if w.call.maybe = name; w.call.literal == "" {
			w.call.before = len(w.call.options)
		}
	}
	if text == name && !at.optional && !at.choice && w.call.literal == "" && len(w.call.positionals) == 0 {
		w.call.literal, w.call.before = name, len(w.call.options)
	}
	v := shape(text)
	if v.Kind == model.Enum && strings.Contains(text, "|") {
		name = "choice"
	}
	w.positional(model.Positional{Name: name, Value: v, Required: !at.optional && !at.choice,
		Repeatable: at.repeat || n.repeat || strings.Contains(text, "]...") || strings.HasSuffix(bare(text), "(s)")})
}

// positional records a positional argument.
func (w *walker) positional(p model.Positional) {
	p.AfterTerminator = w.call.terminator
	for i := range w.call.positionals {
		// "TYPE NAME | TYPE/NAME ..." shows the same argument twice.
		if have := &w.call.positionals[i]; have.Name == p.Name || strings.HasPrefix(p.Name, have.Name+"/") {
			have.Repeatable = true
			return
		}
	}
	if len(w.call.positionals) < 32 {
		w.call.positionals = append(w.call.positionals, p)
	}
}

// lower returns the name of a positional for a placeholder.
func lower(text string) string {
	name := strings.ToLower(strings.Trim(bare(strings.ReplaceAll(text, "(s)", "")), " .,;:\"'`"))
	if strings.HasPrefix(name, "[") { // "<[ADDRESS]... | [-]>"
		name, _, _ = strings.Cut(name[1:], "]")
	}
	name = strings.Join(strings.Fields(strings.NewReplacer("<", "", ">", "").Replace(name)), "-")
	if strings.Trim(name, "-./_|=:") == "" {
		return ""
	}
	return name
}

func commandName(name string) bool {
	switch name {
	case "command", "subcommand", "sub-command", "cmd", "sub_command", "verb", "action", "commands", "applet",
		"operation":
		return true
	}
	return false
}

// omitted reports whether a word is a placeholder for options.
func omitted(text string) bool {
	name := strings.ToLower(strings.Trim(strings.ReplaceAll(text, "(s)", "s"), "[]<>{}().:, "))
	for _, w := range []string{"option", "options", "flag", "flags", "opts", "switches"} {
		if name == w || strings.HasSuffix(name, "-"+w) || strings.HasSuffix(name, " "+w) ||
			strings.HasSuffix(name, "_"+w) {
			return true
		}
	}
	return strings.Trim(name, ".") == ""
}

// lettered reports whether text consists of the letters of known options.
func (w *walker) lettered(text string) bool {
	for _, c := range text[1:] {
		if w.table["-"+string(c)] == nil {
			return false
		}
	}
	return len(text) > 2
}
