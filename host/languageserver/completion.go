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
	"github.com/junctor-mcp/junctor/host/config/expression"
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
	s, at, ok := v.at(path, offset)
	if !ok || inComment(s, offset) {
		return nil
	}
	c := completer{view: v, ctx: ctx, s: s, offset: offset, at: at}
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

// word returns the place of the word around the place of the question.
func (c *completer) word() (w sketchWord) {
	w.from, w.to = wordStart(c.s.text, c.offset), c.offset
	for w.to < len(c.s.text) && isWordByte(c.s.text[w.to]) {
		w.to++
	}
	return w
}

// wordStart returns the offset where the word before an offset begins.
func wordStart(text []byte, offset int) int {
	for offset > 0 && isWordByte(text[offset-1]) {
		offset--
	}
	return offset
}

func isWordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b == '-'
}

// items offers the attributes and blocks of a body, where one can begin.
func (c *completer) items() {
	w := c.word()
	before := bytes.TrimRight(c.s.text[:w.from], " \t")
	if len(before) > 0 && !bytes.ContainsRune([]byte("\n{}"), rune(before[len(before)-1])) {
		return
	}
	f := c.formOf(c.ctx, c.at.block)
	if f == nil {
		return
	}
	for _, e := range f.Entries {
		set := c.at.block.attribute(e.Name)
		if set == nil || set.name.holds(c.offset) {
			c.all = append(c.all, completion{
				label: e.Name, kind: completesAttribute,
				detail: language.PlainDoc(e.Values.Accepts), doc: language.PlainDoc(e.Text()),
				text: e.Name + " = ", snippet: e.Name + " = " + valueSnippet(e.Values.Schema), from: w.from, to: w.to,
			})
		}
	}
	for name, sh := range f.Blocks {
		used := slices.ContainsFunc(c.at.block.blocks, func(b *sketchBlock) bool {
			return b.kind.text == name && !b.kind.holds(c.offset)
		})
		if !used || sh.Many {
			c.block(name, sh, w)
		}
	}
}

// block offers a block in place of a word.
func (c *completer) block(name string, sh language.Shape, w sketchWord) {
	labels, snippet := "", ""
	for i := range sh.Labels {
		labels += ` ""`
		snippet += fmt.Sprintf(` "${%d}"`, i+1)
	}
	c.all = append(c.all, completion{
		label: name, kind: completesBlock, detail: "block" + sh.Example(), doc: language.PlainDoc(sh.Doc),
		text: name + labels + " {\n}", snippet: name + snippet + " {\n\t$0\n}", from: w.from, to: w.to,
	})
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

// offer adds a text in place of a word.
func (c *completer) offer(kind completionKind, w sketchWord, text, detail, doc string) {
	c.all = append(c.all, completion{
		label: text, kind: kind, detail: detail, doc: doc, text: text, from: w.from, to: w.to,
	})
}

// function offers a call of a function in place of a word.
func (c *completer) function(w sketchWord, name, usage, doc string) {
	c.all = append(c.all, completion{
		label: name, kind: completesFunction, detail: usage, doc: doc,
		text: name + "(", snippet: name + "($1)", from: w.from, to: w.to,
	})
}

// labels offers what a label may name.
func (c *completer) labels() {
	b, label := c.at.header, c.at.header.labels[c.at.label]
	sh, known := c.shapeOf(c.ctx, b)
	switch {
	case !known:
	case sh.Kinds != nil || sh.Role != nil:
		for _, kind := range slices.Sorted(maps.Keys(sh.Kinds)) {
			c.offer(completesName, label, kind, b.kind.text, "")
		}
		if sh.Role != nil {
			c.components(sh.Role, label)
		}
	case b.parent.parent == nil && b.kind.text == "plugin":
		for _, name := range slices.Sorted(maps.Keys(c.plugins)) {
			c.offer(completesName, label, name, "plugin", "")
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
			c.offer(completesName, label, one.Label, as.Noun, one.Schema.Description)
		}
		if len(found) > 0 {
			continue
		}
		foreign := !slices.Contains(config.Bundled(), name)
		if foreign && !c.isDescribed(name) || slices.Contains(as.Bundled, name) {
			c.offer(completesName, label, name, as.Noun, "")
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
		c.offer(completesName, w, text, strings.TrimSuffix(refers, language.RefersToolSuffix), "")
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
			c.offer(completesValue, w, word, language.PlainDoc(e.Values.Accepts), "")
		}
		c.names(e.Refers, w)
		return
	}
	w = c.word()
	if root := c.rootBefore(w.from); root != "" {
		c.members(root, w)
		return
	}
	if e != nil {
		c.bareWords(*e, w)
	}
	for _, root := range []string{"local", "var"} {
		for _, n := range c.values(root) {
			c.offer(completesName, w, root+"."+n.text, "value", "")
		}
	}
	for name, help := range expression.FunctionHelp {
		c.function(w, name, help[0], help[1])
	}
}

// bareWords offers the values of an attribute outside of a string.
func (c *completer) bareWords(e language.Entry, w sketchWord) {
	quoted := func(words []string) {
		for _, word := range words {
			c.offer(completesValue, w, `"`+word+`"`, language.PlainDoc(e.Values.Accepts), "")
		}
	}
	switch {
	case e.Values.Schema["type"] == "boolean":
		c.offer(completesValue, w, "true", "", "")
		c.offer(completesValue, w, "false", "", "")
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
		c.offer(completesName, w, root, "of the condition", "")
	}
	for name, usage := range condition.Functions() {
		c.function(w, name, usage, "")
	}
}

// rootBefore returns NAME if "NAME." precedes an offset.
func (c *completer) rootBefore(at int) string {
	if at == 0 || c.s.text[at-1] != '.' {
		return ""
	}
	return string(c.s.text[wordStart(c.s.text, at-1) : at-1])
}

// members offers the members of local, var, each, and of the roots of conditions.
func (c *completer) members(root string, w sketchWord) {
	switch root {
	case "local", "var":
		for _, n := range c.values(root) {
			c.offer(completesName, w, n.text, root, "")
		}
	case "each":
		c.offer(completesName, w, "key", "of for_each", "")
		c.offer(completesName, w, "value", "of for_each", "")
	default:
		for _, name := range condition.Roots[root] {
			c.offer(completesName, w, name, "of "+root, "")
		}
	}
}
