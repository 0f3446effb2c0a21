package help

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// more reads "[...]": the argument before it may be repeated.
func (w *walker) more(n node) bool {
	if n.open != '[' || len(n.alts) != 1 || len(n.alts[0]) != 1 || n.alts[0][0].open != 0 ||
		strings.Trim(n.alts[0][0].text, ".") != "" {
		return false
	}
	if last := len(w.call.positionals) - 1; last >= 0 {
		w.call.positionals[last].Repeatable = true
	}
	return true
}

// values reads an option with several values, "[-win xoff yoff xsize ysize]", or
// with words about its value, "[-c size in kb]". None of these words is an
// argument of the program.
func (w *walker) values(n node, at place) bool {
	if n.open != '[' || len(n.alts) != 1 || len(n.alts[0]) < 2 || !n.alts[0][0].option() || n.alts[0][0].repeat {
		return false
	}
	var words []string
	most := 0 // words that may follow
	for _, k := range n.alts[0][1:] {
		switch {
		case k.option() || k.open == 0 && omitted(k.text):
			return false
		case k.glued:
		case k.plain():
			words = append(words, k.text)
		case k.open == '[' && k.plainWords() >= 0:
			most += k.plainWords()
		default:
			return false
		}
	}
	sp, left, ok := readSpec(n.alts[0][0].text, true)
	if !ok || left != "" || sp.taken || len(words) < 2 && (len(words) > 0 || most < 2) {
		return false
	}
	if known := w.table[sp.names[0]]; known != nil && !known.Value.Kind.TakesValue() {
		return false
	}
	sp.value, sp.taken = strings.Join(words, " "), len(words) > 0
	o := build(sp, "")
	o.Repeatable = o.Repeatable || at.repeat
	w.add(o)
	return true
}

// plainWords returns the number of words in a group, or 0 if it has an option.
func (n node) plainWords() int {
	if n.open == 0 {
		if n.option() {
			return -1
		}
		return 1
	}
	all := 0
	for _, alt := range n.alts {
		for _, k := range alt {
			found := k.plainWords()
			if found < 0 {
				return -1
			}
			all += found
		}
	}
	return all
}

var numberedForm = regexp.MustCompile(`^([a-z]+[_-]?)([1-9])((?:\.[a-z]+)?)$`)

// numberedNames makes one argument of a row of names with numbers whose last one
// is repeated: "file1 file2 ...".
func (c *call) numberedNames() {
	for i := 0; i+1 < len(c.positionals); i++ {
		stem, ending, first := numberedName(c.positionals[i].Name)
		end := i + 1
		for end < len(c.positionals) {
			next, tail, n := numberedName(c.positionals[end].Name)
			if next != stem || tail != ending || n != max(first, 1)+end-i {
				break
			}
			end++
		}
		if end == i+1 || !c.positionals[end-1].Repeatable {
			continue
		}
		p := &c.positionals[i]
		p.Name, p.Repeatable = strings.Trim(stem, "_-")+ending, true
		p.Value = shape(p.Name)
		c.positionals = slices.Delete(c.positionals, i+1, end)
	}
}

// numberedName splits "file2.csv" into "file", ".csv" and 2. The number of a
// name without one is 0.
func numberedName(name string) (stem, ending string, n int) {
	if m := numberedForm.FindStringSubmatch(name); m != nil {
		return m[1], m[3], int(m[2][0] - '0')
	}
	if at := strings.IndexByte(name, '.'); at > 0 {
		return name[:at], name[at:], 0
	}
	return name, "", 0
}

// plurals are last words of a placeholder that stand for several arguments.
var plurals = []string{"files", "filenames", "paths", "dirs", "directories", "folders", "names", "urls", "classes",
	"packages", "hosts", "objects", "images", "archives", "documents"}

// isPlural reports whether a placeholder such as "<input files>" stands for
// several arguments.
func isPlural(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(bare(text)),
		func(r rune) bool { return r == ' ' || r == '-' || r == '_' })
	return len(words) > 0 && slices.Contains(plurals, words[len(words)-1])
}

// pluralEnd makes a list of the last argument if its name is a plural: "<input
// files>".
func (c *call) pluralEnd() {
	if last := len(c.positionals) - 1; last >= 0 && isPlural(c.positionals[last].Value.Placeholder) {
		c.positionals[last].Repeatable = true
	}
}

// prepositions are words of a placeholder that is a phrase: "[list of files to
// print]".
var prepositions = []string{"of", "to", "for", "in", "from", "with", "on"}

// phrase reads a group that says in words what there may be.
func (w *walker) phrase(n node, at place) bool {
	if n.open != '[' || len(n.alts) != 1 || len(n.alts[0]) < 4 {
		return false
	}
	name, found := "", false
	for i, k := range n.alts[0] {
		if !k.plain() || !allLower(k.text) {
			return false
		}
		if slices.Contains(prepositions, k.text) {
			if !found && i > 0 {
				name = n.alts[0][i-1].text
			}
			if k.text == "of" && i+1 < len(n.alts[0]) {
				name = n.alts[0][i+1].text
			}
			found = true
		}
	}
	if !found {
		return false
	}
	w.positional(model.Positional{Name: name, Value: shape(name), Required: !at.optional,
		Repeatable: at.repeat || n.repeat || isPlural(name)})
	return true
}
