package languageserver

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/language"
)

// A completion is a text that may be written at a place. It replaces the text between two
// places, which are on one line.
type completion struct {
	label    string
	kind     completionKind
	detail   string // a few words
	doc      string // Markdown
	text     string
	snippet  string // the text with places to fill in; empty: none
	from, to int
}

// complete returns what may be written at a place, sorted.
func (v *view) complete(ctx context.Context, path string, offset int) []completion {
	s := v.sketches[path]
	if s == nil || offset < 0 || offset > len(s.text) || inComment(s, offset) {
		return nil
	}
	c := completer{view: v, ctx: ctx, s: s, offset: offset, at: s.at(offset)}
	switch {
	case c.at.header != nil && c.at.label >= 0:
		c.labels()
	case c.at.attribute != nil:
		c.expression()
	default:
		c.items()
	}
	slices.SortFunc(c.all, func(a, b completion) int { return strings.Compare(a.label, b.label) })
	return slices.CompactFunc(c.all, func(a, b completion) bool { return a.label == b.label })
}

// inComment reports whether a place is inside a comment.
func inComment(s *sketch, offset int) bool {
	return slices.ContainsFunc(s.tokens, func(tok hclsyntax.Token) bool {
		end := tok.Range.End.Byte
		if bytes.HasSuffix(tok.Bytes, []byte("\n")) {
			end--
		}
		return tok.Type == hclsyntax.TokenComment && tok.Range.Start.Byte < offset && offset <= end
	})
}

// A completer collects the completions at one place.
type completer struct {
	*view
	ctx    context.Context
	s      *sketch
	offset int
	at     sketchPlace
	all    []completion
}

// wordBefore returns the offset where the word before the place begins.
func (c *completer) wordBefore() int {
	from := c.offset
	for from > 0 && isWordByte(c.s.text[from-1]) {
		from--
	}
	return from
}

func isWordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b == '-'
}

// wordEnd returns the offset where the word at the place ends.
func (c *completer) wordEnd() int {
	to := c.offset
	for to < len(c.s.text) && isWordByte(c.s.text[to]) {
		to++
	}
	return to
}

// items offers the attributes and blocks of a body, where one can begin.
func (c *completer) items() {
	from := c.wordBefore()
	before := bytes.TrimRight(c.s.text[:from], " \t")
	if len(before) > 0 && !bytes.ContainsRune([]byte("\n{}"), rune(before[len(before)-1])) {
		return
	}
	f := c.formOf(c.ctx, c.at.block)
	if f == nil {
		return
	}
	to := c.wordEnd()
	for _, e := range f.Entries {
		if set := c.at.block.attribute(e.Name); set != nil && !set.name.holds(c.offset) {
			continue
		}
		c.all = append(c.all, completion{label: e.Name, kind: completesAttribute, detail: language.PlainDoc(e.Values.Accepts), doc: language.PlainDoc(e.Text()),
			text: e.Name + " = ", snippet: e.Name + " = " + valueSnippet(e.Values.Schema), from: from, to: to})
	}
	for name, sh := range f.Blocks {
		used := slices.ContainsFunc(c.at.block.blocks, func(b *sketchBlock) bool { return b.kind.text == name && !b.kind.holds(c.offset) })
		if used && !sh.Many {
			continue
		}
		labels, snippet := "", ""
		for i := range sh.Labels {
			labels += ` ""`
			snippet += fmt.Sprintf(` "${%d}"`, i+1)
		}
		c.all = append(c.all, completion{label: name, kind: completesBlock, detail: "block" + sh.Example(), doc: language.PlainDoc(sh.Doc),
			text: name + labels + " {\n}", snippet: name + snippet + " {\n\t$0\n}", from: from, to: to})
	}
}

// valueSnippet returns a place for a value of a schema.
func valueSnippet(schema map[string]any) string {
	if words, ok := schema["enum"].([]string); ok {
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, `"`+w+`"`)
		}
		return "${1|" + strings.Join(quoted, ",") + "|}"
	}
	if list, ok := schema["anyOf"].([]any); ok {
		return valueSnippet(list[0].(map[string]any))
	}
	switch schema["type"] {
	case "string":
		return `"$1"`
	case "boolean":
		return "${1|true,false|}"
	case "array":
		return "[$1]"
	case "object":
		return "{ $1 }"
	}
	return "$1"
}

// offer adds the completions of a place where from to to is replaced.
func (c *completer) offer(kind completionKind, from, to int, text, detail, doc string) {
	c.all = append(c.all, completion{label: text, kind: kind, detail: detail, doc: doc, text: text, from: from, to: to})
}

// labels offers what a label may name.
func (c *completer) labels() {
	b, label := c.at.header, c.at.header.labels[c.at.label]
	sh, known := c.shapeOf(c.ctx, b)
	switch {
	case !known:
	case sh.Kinds != nil || sh.Role != nil:
		for _, kind := range slices.Sorted(maps.Keys(sh.Kinds)) {
			c.offer(completesName, label.from, label.to, kind, b.kind.text, "")
		}
		if sh.Role != nil {
			c.components(sh.Role, label)
		}
	case b.parent.parent == nil && b.kind.text == "plugin":
		for _, name := range slices.Sorted(maps.Keys(c.plugins)) {
			c.offer(completesName, label.from, label.to, name, "plugin", "")
		}
	case sh.Refers != "" && c.at.label == 0:
		c.names(sh.Refers, label)
	}
}

// components offers the plugins of a role.
func (c *completer) components(as *language.Role, label sketchWord) {
	for _, name := range slices.Sorted(maps.Keys(c.plugins)) {
		found := c.componentsFor(c.ctx, as, name)
		for _, one := range found {
			c.offer(completesName, label.from, label.to, one.Label, as.Noun, one.Schema.Description)
		}
		if foreign := !slices.Contains(config.Bundled(), name); len(found) == 0 && (foreign && !c.isDescribed(name) || slices.Contains(as.Bundled, name)) {
			c.offer(completesName, label.from, label.to, name, as.Noun, "")
		}
	}
}

// isDescribed reports whether the manifest of a plugin is known.
func (c *completer) isDescribed(name string) bool {
	p := c.plugins[name]
	if p.Source == "" {
		return false
	}
	_, err := c.describe(c.ctx, p)
	return err == nil
}

// names offers the names of what an attribute or a label refers to.
func (c *completer) names(refers string, w sketchWord) {
	for _, n := range c.namesOf(refers) {
		text := n.text
		if n.each {
			text += "_*"
		}
		if refers == language.RefersServerTool {
			text += "/*"
		}
		c.offer(completesName, w.from, w.to, text, strings.TrimSuffix(refers, language.RefersToolSuffix), "")
	}
}

// entryAt returns the entry of the attribute at the place, or nil.
func (c *completer) entryAt() *language.Entry {
	f := c.formOf(c.ctx, c.at.block)
	if f == nil {
		return nil
	}
	return f.Entry(c.at.attribute.name.text)
}

// expression offers values, names and functions.
func (c *completer) expression() {
	e := c.entryAt()
	w, bare := inString(c.at.attribute.tokens, c.offset, c.at.attribute.to)
	if !bare {
		if e == nil {
			return
		}
		for _, word := range e.Values.Words {
			c.offer(completesValue, w.from, w.to, word, language.PlainDoc(e.Values.Accepts), "")
		}
		c.names(e.Refers, w)
		return
	}
	from, to := c.wordBefore(), c.wordEnd()
	if root := c.rootBefore(from); root != "" {
		c.members(root, from, to)
		return
	}
	if e != nil {
		c.bareWords(*e, from, to)
	}
	for _, root := range []string{"local", "var"} {
		for _, n := range c.values(root) {
			c.offer(completesName, from, to, root+"."+n.text, "value", "")
		}
	}
	for name, help := range functionHelp {
		c.all = append(c.all, completion{label: name, kind: completesFunction, detail: help[0], doc: help[1], text: name + "(", snippet: name + "($1)", from: from, to: to})
	}
}

// bareWords offers the values of an attribute outside of a string.
func (c *completer) bareWords(e language.Entry, from, to int) {
	quoted := func(words []string) {
		for _, word := range words {
			c.offer(completesValue, from, to, `"`+word+`"`, language.PlainDoc(e.Values.Accepts), "")
		}
	}
	switch {
	case e.Values.Schema["type"] == "boolean":
		c.offer(completesValue, from, to, "true", "", "")
		c.offer(completesValue, from, to, "false", "", "")
	default:
		quoted(e.Values.Words)
	}
	for _, n := range c.namesOf(e.Refers) {
		quoted([]string{n.text})
	}
	if e.Name != "when" {
		return
	}
	for root := range condition.Roots {
		c.offer(completesName, from, to, root, "of the condition", "")
	}
	for name, usage := range condition.Functions() {
		c.all = append(c.all, completion{label: name, kind: completesFunction, detail: usage, text: name + "(", snippet: name + "($1)", from: from, to: to})
	}
}

// rootBefore returns NAME if "NAME." precedes an offset.
func (c *completer) rootBefore(at int) string {
	if at == 0 || c.s.text[at-1] != '.' {
		return ""
	}
	from := at - 1
	for from > 0 && isWordByte(c.s.text[from-1]) {
		from--
	}
	return string(c.s.text[from : at-1])
}

// members offers the members of local, var, each, and of the roots of conditions.
func (c *completer) members(root string, from, to int) {
	switch root {
	case "local", "var":
		for _, n := range c.values(root) {
			c.offer(completesName, from, to, n.text, root, "")
		}
	case "each":
		c.offer(completesName, from, to, "key", "of for_each", "")
		c.offer(completesName, from, to, "value", "of for_each", "")
	default:
		for _, name := range condition.Roots[root] {
			c.offer(completesName, from, to, name, "of "+root, "")
		}
	}
}
