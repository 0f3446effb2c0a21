package review

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/command"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// link returns a note with the target of a symbolic link that a setting names, if the
// target is outside of the configuration's directory. The digest covers the target. The outliner
// calls it.
func (o *outliner) link(e hclsyntax.Expression) string { return o.links(o.source.Dir, e) }

// links is link for a text or the texts of a list, as seen from dir. Of an option with a
// value, the value counts, too.
func (o *outliner) links(dir string, e hclsyntax.Expression) string {
	texts := []hclsyntax.Expression{e}
	if list, ok := language.Plain(e).(*hclsyntax.TupleConsExpr); ok {
		texts = list.Exprs
	}
	var notes []string
	for _, e := range texts {
		text, ok := language.Literal(e)
		if !ok {
			continue
		}
		_, value, _ := strings.Cut(text, "=")
		for _, name := range []string{text, value} {
			if link := o.target(dir, name); link != "" && len(texts) == 1 {
				notes = append(notes, "which leads to "+source.Visible(link))
			} else if link != "" {
				notes = append(notes, source.Visible(name)+" leads to "+source.Visible(link))
			}
		}
	}
	if len(notes) == 0 {
		return ""
	}
	return ", " + strings.Join(slices.Compact(notes), ", ")
}

// target returns what a path leads to, as seen from dir, if links below dir lead out of the
// configuration's directory, and "" otherwise.
func (o *outliner) target(dir, name string) string {
	path := source.AbsoluteIn(dir, filepath.FromSlash(name))
	if name == "" || len(name) > command.MaxText || strings.ContainsRune(name, 0) ||
		source.IsRemote(path, o.content.Root) {
		return ""
	}
	link := o.content.leadsOut(path)
	if link == "" || linksOn(path) <= linksOn(dir) {
		return ""
	}
	o.content.links[path] = link
	return link
}

// linksOn returns the number of symbolic links that a path leads through.
func linksOn(path string) int {
	_, links, _ := sandbox.Walk(path)
	return len(links)
}
