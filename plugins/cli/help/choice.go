package help

import (
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// valued reports whether a value follows the spelling at i within the same
// bracket.
func (w *walker) valued(nodes []node, i int) bool {
	return i+1 < len(nodes) && (nodes[i+1].plain() || nodes[i+1].glued)
}

// cluster returns the letters of "[-abcXYZ]", or "" if the text is one option
// with a long name. The letters of a cluster are ASCII and sorted.
func cluster(text string) string {
	s := text[1:]
	if len(s) < 2 || s[0] == '-' || strings.ContainsAny(s, "-_=.:<()") || strings.ContainsFunc(s, special) {
		return ""
	}
	low := strings.ToLower(s)
	mixed := low != s && strings.ToUpper(s) != s || strings.ContainsAny(s, "0123456789")
	plainOrder, folded := 0, 0
	for i := 1; i < len(s); i++ {
		if s[i] < s[i-1] {
			plainOrder++
		}
		if low[i] < low[i-1] {
			folded++
		}
	}
	bad := min(plainOrder, folded)
	if mixed && (bad == 0 || bad*4 <= len(s)) || bad == 0 && len(s) > 3 || bad == 0 && strings.Trim(s, "aeiou") == s {
		return s
	}
	return ""
}

// joinAlternatives moves the words after the bars to the value of the option
// before the first bar: "-t rsa | dsa".
func joinAlternatives(alts [][]node) []node {
	nodes := slices.Clone(alts[0])
	if len(nodes) != 2 || !nodes[0].option() || !nodes[1].plain() {
		return nodes[:1]
	}
	for _, a := range alts[1:] {
		nodes[1].text += "|" + a[0].text
	}
	return nodes
}

// bare reports whether no option since index since has a value.
func (w *walker) bare(since int) bool {
	for _, o := range w.call.options[min(since, len(w.call.options)):] {
		if o.Value.Kind.TakesValue() {
			return false
		}
	}
	return since < len(w.call.options)
}

// give sets the value of the options since index since.
func (w *walker) give(since int, value string) {
	for i := range w.call.options[since:] {
		w.call.options[since+i].Value = shape(value)
	}
}

// together handles options between bars: they are either spellings of one
// option or exclude each other.
func (w *walker) together(names []string) {
	var set []string
	for _, n := range names {
		sp, _, ok := readSpec(n, true)
		if !ok {
			continue
		}
		name := sp.names[0]
		if len(set) > 0 && w.same(set[len(set)-1], name, len(names) == 2) {
			continue
		}
		set = append(set, name)
	}
	if len(set) > 1 {
		w.call.conflicts = append(w.call.conflicts, set)
	}
}

// same merges two spellings of one option: "-v | --verbose".
func (w *walker) same(short, long string, alone bool) bool {
	if len(short) != 2 || !strings.HasPrefix(long, "--") || w.table[short] != nil || w.table[long] != nil {
		return false
	}
	word := strings.TrimPrefix(strings.TrimLeft(long, "-"), "no-")
	if word == "" || !alone && !strings.EqualFold(word[:1], short[1:]) {
		return false
	}
	var at, other = -1, -1
	for i, o := range w.call.options {
		if o.Names[0] == short {
			at = i
		}
		if o.Names[0] == long {
			other = i
		}
	}
	if at < 0 || other < 0 {
		return false
	}
	w.call.options[other].Names = append(w.call.options[other].Names, short)
	w.call.options = slices.Delete(w.call.options, at, at+1)
	return true
}

// keyword reports whether n is "[ mtu MTU ]": a literal word and its value.
func keyword(n node) bool {
	if n.open != '[' || len(n.alts) != 1 || len(n.alts[0]) != 2 {
		return false
	}
	word, value := n.alts[0][0], n.alts[0][1]
	return word.plain() && value.plain() && lowerForm.MatchString(word.text) &&
		(shouted(value.text) || wrapped(value.text, '<', '>'))
}

// collapseKeywords replaces the positionals by one list if a usage consists of
// keywords, because their order and number follow a language of their own.
func (c *call) collapseKeywords() {
	if c.keywords < 2 {
		return
	}
	all := c.positionals[:0:0]
	if len(c.positionals) > 0 && c.positionals[0].Name == c.literal {
		all = append(all, c.positionals[0])
	}
	c.positionals = append(all,
		model.Positional{Name: "args", Value: model.Value{Kind: model.String}, Repeatable: true})
}

// alternatives reads "{show pkg... | stats | dump}": several literal words,
// some of them with arguments, are commands.
func (w *walker) alternatives(n node, in place) bool {
	var names []string
	var rest [][]node
	more := false
	for _, alt := range n.alts {
		found := []string(nil)
		switch {
		case len(alt) == 0:
		case alt[0].plain():
			if !lowerForm.MatchString(alt[0].text) {
				return false
			}
			found = []string{alt[0].text}
		case alt[0].open != 0:
			found = literals(alt[0])
		}
		if found == nil {
			rest = append(rest, alt)
			continue
		}
		names, more = append(names, found...), more || len(alt) > 1
	}
	puts := 0 // words that are placeholders
	for _, name := range names {
		if placeholderWords[name] {
			puts++
		}
	}
	if len(names) < 2 || 2*puts >= len(names) || !more || in.optional || len(w.call.positionals) > 0 {
		return false
	}
	for _, alt := range rest {
		w.walk(alt, place{optional: true, choice: true})
	}
	w.call.literals = append(w.call.literals, names...)
	w.call.command, w.call.needed = "command", !in.optional
	return true
}

// choiceName returns the name of an argument that is one of some words. Other words make
// another argument.
func (w *walker) choiceName(words []string) string {
	name := "choice"
	for n := 2; ; n++ {
		at := slices.IndexFunc(w.call.positionals, func(p model.Positional) bool { return p.Name == name })
		if at < 0 || slices.Equal(w.call.positionals[at].Value.Choices, words) {
			return name
		}
		name = "choice" + strconv.Itoa(n)
	}
}

// literals returns the words of a group that contains only literal words, else
// nil.
func literals(n node) []string {
	var names []string
	for _, alt := range n.alts {
		if len(alt) != 1 || !alt[0].plain() || !lowerForm.MatchString(alt[0].text) || placeholderWords[alt[0].text] {
			return nil
		}
		names = append(names, alt[0].text)
	}
	return names
}

// list reads a group of plain words: "{add,rm} ..." are commands,
// "(start|stop)" are the choices of one argument.
func (w *walker) list(n node, in place) bool {
	var all []string
	paths, camel := true, false
	for _, alt := range n.alts {
		if len(alt) != 1 || !alt[0].plain() {
			return false
		}
		all = append(all, alt[0].text)
		in.repeat = in.repeat || alt[0].repeat && len(n.alts) > 1
		paths, camel = paths && shape(alt[0].text).Kind == model.Path, camel || camelCase(alt[0].text)
	}
	text := strings.Join(all, "|")
	if len(all) == 1 {
		text = all[0]
		if n.open != '{' || !strings.Contains(text, ",") {
			return false
		}
		if n.repeat {
			w.call.literals, w.call.command, w.call.needed = strings.Split(text, ","), "command", !in.optional
			return true
		}
	}
	// "(POD | TYPE/NAME)" are placeholders.
	puts := len(all) > 1 && n.open != '{' && (shouted(text) || camel)
	if c := choices(text); c != nil && !puts && !strings.ContainsAny(text, "<>") {
		if n.bare && w.call.literal == "" && len(w.call.positionals) == 0 {
			w.call.literal, w.call.before = c[0], len(w.call.options) // "prog install|remove PACKAGE"
		} else if !n.bare {
			w.call.choices = append(w.call.choices, c...)
		}
		w.positional(model.Positional{Name: w.choiceName(c),
			Value: model.Value{Kind: model.Enum, Choices: c, Placeholder: text}, Required: !in.optional,
			Repeatable: in.repeat})
		return true
	}
	if name := lower(all[0]); name != "" && len(all) > 1 && !slices.ContainsFunc(all, omitted) {
		v := model.Value{Kind: model.String, Placeholder: text}
		if paths {
			v.Kind = model.Path
		}
		w.positional(model.Positional{Name: name, Value: v, Required: !in.optional, Repeatable: in.repeat})
		return true
	}
	return false
}
