package help

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A definition says what a word of the usage stands for:
// "OBJECT := { link | route }".
type definition struct {
	name string
	is   node
}

const maxDefinitions = 64

var (
	defined = regexp.MustCompile(`^(?:where +)?([A-Z][A-Z_-]*) +:= *(.*)$`)
	// shortened is how a spelling is shown of which the end may be left out.
	shortened = regexp.MustCompile(`^(--?[A-Za-z]+)\[([a-z-]+)\](.*)$`)
)

// definitions takes the definitions out of the text.
func definitions(lines []line) []definition {
	var all []definition
	name, text := "", ""
	flush := func() {
		if nodes := parseUsage(text); name != "" && len(nodes) == 1 && len(all) < maxDefinitions {
			all = append(all, definition{name, nodes[0]})
		}
		name, text = "", ""
	}
	for i, l := range lines {
		if l.blank() {
			flush()
			continue
		}
		if m := defined.FindStringSubmatch(l.body()); m != nil {
			flush()
			name, text = m[1], m[2]
		} else if name == "" {
			continue
		} else if len(text) < maxUsageLen {
			text += " " + l.body()
		}
		lines[i] = line{}
	}
	flush()
	return all
}

// define adds the options and the commands of the definitions. The first word of
// a usage that is defined as a row of words stands for a command.
func (p *parser) define(all []definition) {
	for _, d := range all {
		words := literals(d.is)
		for _, c := range p.calls {
			at := slices.IndexFunc(c.positionals, func(a model.Positional) bool { return a.Value.Placeholder == d.name })
			if at < 0 || len(words) < 2 {
				continue
			}
			if at > 0 || len(c.positionals) == 1 {
				c.positionals[at].Value = shape(strings.Join(words, "|"))
				continue
			}
			c.command, c.needed = c.positionals[0].Name, c.positionals[0].Required
			for _, w := range words {
				p.tree.add(&listedCommand{words: []string{w}}, false)
			}
		}
		for _, alt := range d.is.alts {
			p.defineOption(alt)
		}
	}
}

// defineOption reads one option of a definition: "-f[amily] { inet | link }".
func (p *parser) defineOption(alt []node) {
	if len(alt) == 0 || !alt[0].option() {
		return
	}
	head := node{open: '(', alts: [][]node{alt}}.string()
	head = head[1 : len(head)-1]
	if m := shortened.FindStringSubmatch(head); m != nil {
		head = m[1] + ", " + m[1] + m[2] + m[3]
	}
	if sp, left, ok := readSpec(head, true); ok && left == "" {
		p.table.fill(build(sp, ""))
		p.read++
	}
}
