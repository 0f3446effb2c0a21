package config

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// Messages of HCL and of its functions contain values in quotes only: redactQuotes
// masks those. Messages of a plugin may contain its settings anywhere: scrub masks
// known secrets. The messages of this package need neither.

// quoteRule matches the quoted texts in a message.
var quoteRule = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)

// redactQuotes masks the quoted texts in a message that may be secret: texts from
// env() and file(), and the literals that snippets of the source mask.
func (l *loader) redactQuotes(s *source, message string) string {
	return quoteRule.ReplaceAllStringFunc(message, func(quote string) string {
		text := unescaped(quote[1 : len(quote)-1])
		if l.mayBeSecret(s, text) {
			return `"` + masked + `"`
		}
		return quote
	})
}

// mayBeSecret reports whether a quoted text may be a secret or part of one.
func (l *loader) mayBeSecret(s *source, text string) bool {
	switch {
	case fixedWords()[text]:
		return false
	case holds(text, l.secrets):
		return true
	case s == nil:
		return partOf(text, l.secrets)
	}
	snip := s.prepare()
	return !snip.readable[text] && (holds(text, snip.literals) || partOf(text, snip.literals) || partOf(text, l.secrets))
}

// fixedWords are the quoted words of HCL's own messages: names of parameters, and
// keywords.
var fixedWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{"true": true, "false": true, "if": true, "for": true, "name": true, "fallback": true, "path": true}
	for name, f := range functions {
		if name == "env" || name == "file" || name == "keyring" {
			continue // their parameters are in the list above
		}
		if f.VarParam() != nil {
			words[f.VarParam().Name] = true
		}
		for _, p := range f.Params() {
			words[p.Name] = true
		}
	}
	return words
})

// tooShort is the length of texts that are not masked inside other texts, because
// they occur in ordinary words.
const tooShort = 3

// holds reports whether a text equals or contains one of the words.
func holds(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return w == text && w != "" || len(w) > tooShort && strings.Contains(text, w)
	})
}

// partOf reports whether one of the words contains a text.
func partOf(text string, words []string) bool {
	return len(text) > tooShort && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, text) })
}

// unescaped removes the escapes of a quoted text of HCL or Go. HCL has the escapes of
// Go, and $${ and %%{ for ${ and %{.
func unescaped(text string) string {
	if plain, err := strconv.Unquote(`"` + text + `"`); err == nil {
		text = plain
	}
	return strings.NewReplacer("$${", "${", "%%{", "%{").Replace(text)
}

// Conceal masks every secret of the configuration in a text, such as a plugin's log.
// Secrets are the texts that env() and file() returned, tokens, and the values of
// sensitive settings.
func (c *Config) Conceal(text string) string { return c.secrets.Replace(text) }

// HasSecret reports whether a text has a secret of the configuration that is no short word.
func (c *Config) HasSecret(text string) bool { return c.secrets.Finds(text) }

// stringOf returns the text of a known string, and "" for any other value. v
// must not be marked.
func stringOf(v cty.Value) string {
	if v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
		return ""
	}
	return v.AsString()
}

// textsIn lists the texts in the values. The values may be marked.
func textsIn(values ...cty.Value) []string {
	var texts []string
	for _, v := range values {
		v, _ = v.UnmarkDeep()
		_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) {
			if text := stringOf(v); text != "" {
				texts = append(texts, text)
			}
			return true, nil
		})
	}
	return texts
}

// collectEnvSecrets adds the values of all variables that calls of env() name
// literally. Not all calls are evaluated: not those in wrong and disabled blocks, nor
// in blocks of a plugin without a manifest. A plugin may know the variable all the
// same, and print it.
func (l *loader) collectEnvSecrets() {
	for _, s := range l.sources {
		_ = hclsyntax.VisitAll(s.body, func(n hclsyntax.Node) hcl.Diagnostics {
			call, ok := n.(*hclsyntax.FunctionCallExpr)
			if !ok || call.Name != "env" || len(call.Args) == 0 {
				return nil
			}
			name, ok := literalText(call.Args[0])
			if text, set := l.lookup(name); ok && set && !isPublic(name, text) {
				l.secrets = append(l.secrets, text)
			}
			return nil
		})
	}
}

// literalText returns the text of a string literal.
func literalText(e hclsyntax.Expression) (string, bool) {
	if t, ok := e.(*hclsyntax.TemplateExpr); ok && t.IsStringLiteral() {
		e = t.Parts[0]
	}
	v, ok := e.(*hclsyntax.LiteralValueExpr)
	if !ok || v.Val.IsNull() || v.Val.Type() != cty.String {
		return "", false
	}
	return v.Val.AsString(), true
}
