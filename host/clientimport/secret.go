package clientimport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A Secret is a value that was left out of the blocks. The verb import stores it, or tells the
// user to.
type Secret struct {
	Name     string // in keyring(); empty: env() is in its place
	Variable string // in env(); a setting such as url takes none from keyring()
	Server   string
	Where    string // in the client's file, such as env.GITHUB_TOKEN
	Value    string // the value that was left out; empty if Asked
	Asked    bool   // the client asks for it; its file does not have it
}

// identity returns what makes two secrets one.
func (s Secret) identity() Secret { return Secret{Server: s.Server, Where: s.Where, Value: s.Value} }

// notSecretName matches what a generated name of a secret does not contain.
var notSecretName = lazyregexp.New(`[^a-z0-9]+`)

// secret leaves a value out and returns the expression in its place. The value is empty if
// the client asks for it.
func (c *converter) secret(name, where, value string) string {
	stored := strings.Trim(notSecretName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if !strings.HasPrefix(stored, strings.ToLower(c.name)+"-") {
		stored = c.name + "-" + stored
	}
	stored = strings.Trim(stored[:min(len(stored), 100)], "-")
	found := Secret{Name: stored, Server: c.name, Where: where, Value: value, Asked: value == ""}
	for n := 2; ; n++ {
		other, taken := c.named[found.Name]
		if !taken {
			break
		}
		if other == found.identity() {
			return c.secretExpression(found.Name)
		}
		found.Name = fmt.Sprintf("%s-%d", stored, n)
	}
	if c.named == nil {
		c.named = map[string]Secret{}
	}
	c.named[found.Name] = found.identity()
	name = found.Name
	if c.visible {
		found.Name, found.Variable = "", variableOf(name)
	}
	c.Secrets = append(c.Secrets, found)
	return c.secretExpression(name)
}

// secretExpression returns what stands in the place of a secret.
func (c *converter) secretExpression(name string) string {
	if c.visible {
		return c.needs.variable(variableOf(name))
	}
	return fmt.Sprintf("keyring(%s)", quote(name))
}

// variableOf returns the environment variable for a secret that the store cannot hold.
func variableOf(name string) string {
	return strings.ToUpper(strings.Trim(notVariable.ReplaceAllString(name, "_"), "_"))
}

// A scanned is a text whose references are marks.
type scanned struct {
	text       string
	references []part // those of the marks, in order
}

// scan converts the references of a text.
func (c *converter) scan(text string) (s scanned) {
	var b strings.Builder
	for _, p := range c.parts(text) {
		if p.reference {
			s.references = append(s.references, p)
			p.text = mark
		}
		b.WriteString(p.text)
	}
	s.text = b.String()
	return s
}

// write writes a text with expressions in the places of its references and secrets. where is
// its place in the client's file.
func (c *converter) write(s scanned, secrets []span, where string) string {
	var all []part
	literal := func(text string) {
		for i, run := range strings.Split(text, mark) {
			if i > 0 {
				all = append(all, s.references[0])
				s.references = s.references[1:]
			}
			if run != "" {
				all = append(all, part{text: run})
			}
		}
	}
	at := 0
	for _, secret := range secrets {
		literal(s.text[at:secret.from])
		all = append(all, part{text: c.leftOut(secret.name, cmp.Or(secret.where, where), s.text[secret.from:secret.to]),
			expression: true})
		at = secret.to
	}
	literal(s.text[at:])
	return join(all)
}

// leftOut leaves a secret out. A placeholder is not kept: the secret is asked for.
func (c *converter) leftOut(name, where, value string) string {
	if placeholder.MatchString(value) {
		c.note("%s has a placeholder in the place of a secret", where)
		value = ""
	}
	return c.secret(name, where, value)
}

// schemes are those of headers, before a secret.
var schemes = []string{"bearer", "basic", "token"}

// value writes the value of a variable or a header.
func (c *converter) value(where, name, text string) string {
	c.where = where
	s := c.scan(text)
	if !isSecret(name, s.text) {
		return c.write(s, withoutOverlap(append(c.inText(s.text), besideReferences(name, s.text)...)), where)
	}
	return c.write(s, []span{wholeSecret(name, s.text)}, where)
}

// wholeSecret returns a value that is a secret, without a scheme before it.
func wholeSecret(name, text string) span {
	s := span{to: len(text), name: name}
	scheme, rest, ok := strings.Cut(text, " ")
	if ok && slices.Contains(schemes, strings.ToLower(scheme)) && rest != "" {
		s.from = len(scheme) + 1
	}
	return s
}

// inText returns the secrets in a text that is none as a whole, and reports one that is a
// placeholder.
func (c *converter) inText(text string) []span {
	isExample := placeholder.MatchString(text) && strings.HasPrefix(text, "<") || example.MatchString(text)
	if isExample && !slices.Contains(c.needs.stuck, c.where) {
		c.needs.stuck = append(c.needs.stuck, c.where)
		c.note("%s is a placeholder: %s", c.where, shortened(text))
	}
	return secretsIn(text)
}
