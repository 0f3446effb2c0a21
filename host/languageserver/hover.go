package languageserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/condition"
	"github.com/junctor-mcp/junctor/host/config/expression"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/secretname"
)

// hover returns what the word at a place means, in Markdown, and the place of the word. ok is
// false if the word has no meaning of its own. It runs on the goroutine of the answer.
func (v *view) hover(ctx context.Context, path string, offset int) (text string, at place, ok bool) {
	_, p, ok := v.at(path, offset)
	if !ok {
		return "", at, false
	}
	var w sketchWord
	switch {
	case p.header != nil:
		text, w = v.hoverHeader(ctx, p)
	case p.attribute != nil:
		text, w = v.hoverExpression(p, offset)
	default:
		text, w = v.hoverAttribute(ctx, p, offset)
	}
	return text, place{path, w.from, w.to}, text != ""
}

// hoverHeader describes the kind of a block, or what its label names.
func (v *view) hoverHeader(ctx context.Context, p sketchPlace) (string, sketchWord) {
	sh, known := v.shapeOf(ctx, p.header)
	if !known {
		return "", p.header.kind
	}
	if p.label < 0 {
		return fmt.Sprintf("**%s%s**\n\n%s", p.header.kind.text, sh.Example(), language.PlainDoc(sh.Doc)), p.header.kind
	}
	label := p.header.labels[p.label]
	if sh.Role != nil {
		if c, found := v.component(ctx, sh.Role, label.text); found && c.Schema.Description != "" {
			return fmt.Sprintf("**%s** (%s)\n\n%s", label.text, sh.Role.Noun, c.Schema.Description), label
		}
	}
	return "", label
}

// hoverAttribute describes the attribute whose name is at the place.
func (v *view) hoverAttribute(ctx context.Context, p sketchPlace, offset int) (string, sketchWord) {
	i := slices.IndexFunc(p.block.attributes, func(a *sketchAttribute) bool { return a.name.holds(offset) })
	f := v.formOf(ctx, p.block)
	if i < 0 || f == nil {
		return "", sketchWord{}
	}
	name := p.block.attributes[i].name
	if known := f.Entry(name.text); known != nil {
		return known.Help(), name
	}
	if f.Open != "" {
		return fmt.Sprintf("**%s**\n\n%s", name.text, language.PlainDoc(f.Open)), name
	}
	return "", name
}

// hoverExpression describes a function, or shows the value that a name stands for.
func (v *view) hoverExpression(p sketchPlace, offset int) (string, sketchWord) {
	tokens := p.attribute.tokens
	i := identifierAt(tokens, offset)
	if i < 0 {
		return "", sketchWord{}
	}
	w := wordOf(tokens[i])
	if i+1 < len(tokens) && tokens[i+1].Type == hclsyntax.TokenOParen {
		usage, known := expression.FunctionHelp[w.text]
		if condition, has := condition.Functions()[w.text]; p.attribute.name.text == "when" && has {
			usage[0] = condition
		}
		if known || usage[0] != "" {
			return fmt.Sprintf("```\n%s\n```\n%s", usage[0], usage[1]), w
		}
		return "", w
	}
	root, name, ok := referenceAt(tokens, i)
	if !ok {
		return "", w
	}
	whole := sketchWord{name.text, name.from - len(root) - 1, name.to}
	for _, defined := range v.values(root) {
		if defined.text == name.text && whole.from <= offset {
			return v.definitionText(root, defined), whole
		}
	}
	return "", name
}

// maxShown bounds the bytes of an expression in a hover.
const maxShown = 500

// definitionText shows the definition of a local or a variable. A literal that sounds like a
// secret is left out: a hover may be on a shared screen.
func (v *view) definitionText(root string, n sketchName) string {
	s := v.sketches[n.path]
	var a *sketchAttribute
	note := ""
	for _, b := range s.root.blocks {
		switch {
		case root == "local" && b.kind.text == "locals" && b.attribute(n.text) != nil:
			a = b.attribute(n.text)
		case root == "var" && b.kind.text == "variable" && b.label() == n.text:
			a = b.attribute("default")
			note = "\n\nThe environment variable `" + expression.VariablePrefix + n.text + "` sets it."
			if d := b.attribute("description"); d != nil {
				note = "\n\n" + literalIn(d.tokens) + note
			}
		}
	}
	if a == nil || secretname.Sounds(n.text) {
		return fmt.Sprintf("**%s.%s**%s", root, n.text, note)
	}
	text := strings.TrimSpace(string(s.text[a.from:a.to]))
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return fmt.Sprintf("```hcl\n%s.%s = %s\n```%s", root, n.text, text, note)
}
