package help

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A commandTree collects commands, each once.
type commandTree struct {
	path   []string
	all    []*model.Command
	byName map[string]*model.Command
}

func (t *commandTree) add(c *listedCommand, group bool) {
	name := c.words[0]
	path := append(slices.Clone(t.path), name)
	summary, aliases := summarise(c)
	have := t.byName[name]
	if have == nil {
		if len(t.all) == maxCommands {
			return
		}
		have = &model.Command{Path: path, Runnable: true}
		t.all, t.byName[name] = append(t.all, have), have
	}
	if group && len(c.words) > 1 {
		t.nest(have, c, summary, aliases)
		return
	}
	if have.Summary == "" {
		have.Summary = summary
	}
	for _, a := range aliases {
		if a != name && !slices.Contains(have.Aliases, a) {
			have.Aliases = append(have.Aliases, a)
		}
	}
}

// nest puts a command that was listed with its whole path below its group.
func (t *commandTree) nest(parent *model.Command, c *listedCommand, summary string, aliases []string) {
	name := c.words[1]
	for _, k := range parent.Commands {
		if k.Path[len(k.Path)-1] == name {
			return
		}
	}
	if parent.Summary == "" {
		parent.Runnable = false
	}
	parent.Commands = append(parent.Commands, &model.Command{Path: append(slices.Clone(parent.Path), name), Summary: summary, Aliases: aliases, Runnable: true})
}

// summarise makes one line of a description, and reads the aliases in it.
func summarise(c *listedCommand) (string, []string) {
	s := strings.Join(strings.Fields(strings.Join(c.desc, " ")), " ")
	aliases := slices.Clone(c.aliases)
	if m := aliasNote.FindStringSubmatchIndex(s); m != nil {
		for a := range strings.FieldsFuncSeq(s[m[2]:m[3]], func(r rune) bool { return r == ',' || r == ' ' }) {
			if nameForm.MatchString(a) {
				aliases = append(aliases, a)
			}
		}
		s = strings.TrimSpace(s[:m[0]] + s[m[1]:])
	}
	if len(s) > 300 {
		s = strings.TrimSpace(s[:300])
	}
	return strings.ToValidUTF8(s, ""), aliases
}

// alias says whether a command has name as another spelling.
func (t *commandTree) alias(name string) bool {
	return slices.ContainsFunc(t.all, func(c *model.Command) bool { return slices.Contains(c.Aliases, name) })
}

// adopt makes "b  alias: build" another spelling of build.
func (t *commandTree) adopt() {
	t.all = slices.DeleteFunc(t.all, func(c *model.Command) bool {
		m := aliasOf.FindStringSubmatch(c.Summary)
		if m == nil {
			return false
		}
		name := c.Path[len(c.Path)-1]
		of := t.byName[m[1]]
		if of == nil || of == c || aliasOf.MatchString(of.Summary) {
			return false
		}
		of.Aliases = append(of.Aliases, name)
		return true
	})
}
