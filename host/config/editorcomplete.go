package config

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/config/language"
)

// A CompletionKind says what a completion is.
type CompletionKind string

// The kinds of completions.
const (
	CompletesBlock     CompletionKind = "block"
	CompletesAttribute CompletionKind = "attribute"
	CompletesValue     CompletionKind = "value"
	CompletesName      CompletionKind = "name"
	CompletesFunction  CompletionKind = "function"
)

// A Completion is a text that may be written at a place. It replaces the text from From to To,
// which are on one line.
type Completion struct {
	Label    string
	Kind     CompletionKind
	Detail   string // a few words
	Doc      string // Markdown
	Text     string
	Snippet  string // Text with places to fill in, in the syntax of the Language Server Protocol; empty: none
	From, To int
}

// Complete returns what may be written at a place, sorted.
func (e *Editor) Complete(ctx context.Context, path string, offset int) []Completion {
	s := e.sketches[path]
	if s == nil || offset < 0 || offset > len(s.text) || inComment(s, offset) {
		return nil
	}
	c := completer{Editor: e, ctx: ctx, s: s, offset: offset, at: s.at(offset)}
	switch {
	case c.at.header != nil && c.at.label >= 0:
		c.labels()
	case c.at.attribute != nil:
		c.expression()
	default:
		c.items()
	}
	slices.SortFunc(c.all, func(a, b Completion) int { return strings.Compare(a.Label, b.Label) })
	return slices.CompactFunc(c.all, func(a, b Completion) bool { return a.Label == b.Label })
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
	*Editor
	ctx    context.Context
	s      *sketch
	offset int
	at     sketchPlace
	all    []Completion
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
		c.all = append(c.all, Completion{Label: e.Name, Kind: CompletesAttribute, Detail: language.PlainDoc(e.Values.Accepts), Doc: language.PlainDoc(e.Text()),
			Text: e.Name + " = ", Snippet: e.Name + " = " + valueSnippet(e.Values.Schema), From: from, To: to})
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
		c.all = append(c.all, Completion{Label: name, Kind: CompletesBlock, Detail: "block" + sh.Example(), Doc: language.PlainDoc(sh.Doc),
			Text: name + labels + " {\n}", Snippet: name + snippet + " {\n\t$0\n}", From: from, To: to})
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
func (c *completer) offer(kind CompletionKind, from, to int, text, detail, doc string) {
	c.all = append(c.all, Completion{Label: text, Kind: kind, Detail: detail, Doc: doc, Text: text, From: from, To: to})
}

// labels offers what a label may name.
func (c *completer) labels() {
	b, label := c.at.header, c.at.header.labels[c.at.label]
	sh, known := c.shapeOf(c.ctx, b)
	switch {
	case !known:
	case sh.Kinds != nil || sh.Role != nil:
		for _, kind := range slices.Sorted(maps.Keys(sh.Kinds)) {
			c.offer(CompletesName, label.from, label.to, kind, b.kind.text, "")
		}
		if sh.Role != nil {
			c.components(sh.Role, label)
		}
	case b.parent.parent == nil && b.kind.text == "plugin":
		for _, name := range slices.Sorted(maps.Keys(c.plugins)) {
			c.offer(CompletesName, label.from, label.to, name, "plugin", "")
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
			c.offer(CompletesName, label.from, label.to, one.Label, as.Noun, one.Schema.Description)
		}
		if foreign := !slices.Contains(bundled, name); len(found) == 0 && (foreign && !c.isDescribed(name) || slices.Contains(as.Bundled, name)) {
			c.offer(CompletesName, label.from, label.to, name, as.Noun, "")
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
		c.offer(CompletesName, w.from, w.to, text, strings.TrimSuffix(refers, language.RefersToolSuffix), "")
	}
}

// namesOf returns the names that an attribute or a label may refer to.
func (e *Editor) namesOf(refers string) []sketchName {
	switch refers {
	case language.RefersServer, language.RefersServerTool:
		return e.servers()
	case language.RefersRole:
		return e.roles()
	case language.RefersPlugin:
		var all []sketchName
		for _, name := range slices.Sorted(maps.Keys(e.plugins)) {
			all = append(all, sketchName{sketchWord: sketchWord{text: name}})
		}
		return all
	}
	return nil
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
			c.offer(CompletesValue, w.from, w.to, word, language.PlainDoc(e.Values.Accepts), "")
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
			c.offer(CompletesName, from, to, root+"."+n.text, "value", "")
		}
	}
	for name, help := range functionHelp {
		c.all = append(c.all, Completion{Label: name, Kind: CompletesFunction, Detail: help[0], Doc: help[1], Text: name + "(", Snippet: name + "($1)", From: from, To: to})
	}
}

// bareWords offers the values of an attribute outside of a string.
func (c *completer) bareWords(e language.Entry, from, to int) {
	quoted := func(words []string) {
		for _, word := range words {
			c.offer(CompletesValue, from, to, `"`+word+`"`, language.PlainDoc(e.Values.Accepts), "")
		}
	}
	switch {
	case e.Values.Schema["type"] == "boolean":
		c.offer(CompletesValue, from, to, "true", "", "")
		c.offer(CompletesValue, from, to, "false", "", "")
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
		c.offer(CompletesName, from, to, root, "of the condition", "")
	}
	for name, usage := range condition.Functions() {
		c.all = append(c.all, Completion{Label: name, Kind: CompletesFunction, Detail: usage, Text: name + "(", Snippet: name + "($1)", From: from, To: to})
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
			c.offer(CompletesName, from, to, n.text, root, "")
		}
	case "each":
		c.offer(CompletesName, from, to, "key", "of for_each", "")
		c.offer(CompletesName, from, to, "value", "of for_each", "")
	default:
		for _, name := range condition.Roots[root] {
			c.offer(CompletesName, from, to, name, "of "+root, "")
		}
	}
}
