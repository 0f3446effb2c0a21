package clientimport

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A part is a literal text, or an expression. It is a value.
type part struct {
	text       string
	expression bool
	reference  bool // it is, or stands for, a reference of the client
}

// join writes parts as one expression. Literals are escaped as they stand together: the end of
// one and the beginning of the next may make a template.
func join(all []part) string {
	if len(all) == 1 && all[0].expression {
		return all[0].text
	}
	var b, literal strings.Builder
	b.WriteByte('"')
	for _, p := range all {
		if !p.expression {
			literal.WriteString(p.text)
			continue
		}
		text := literal.String()
		fixed := strings.TrimRight(text, "$%")
		b.WriteString(escape(fixed) + markers(text[len(fixed):]) + "${" + p.text + "}")
		literal.Reset()
	}
	return b.String() + escape(literal.String()) + `"`
}

// markers writes the characters that begin a template, where one may follow.
func markers(run string) string {
	if run == "" {
		return ""
	}
	return `${"` + run + `"}`
}

func quote(text string) string { return `"` + escape(text) + `"` }

// escape returns a text as it stands between the quotes of HCL.
func escape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if run := templateRun(text[i:]); run != "" {
			b.WriteString(run.written())
			i += len(run)
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// A run is a sequence of $ and %.
type run string

// templateRun returns the run that a text begins with if a brace follows it, else "".
func templateRun(text string) run {
	rest := strings.TrimLeft(text, "$%")
	if n := len(text) - len(rest); n > 0 && strings.HasPrefix(rest, "{") {
		return run(text[:n])
	}
	return ""
}

// written returns a run before a brace: doubled, as people write it, or as an expression,
// because $$ and a third $ begin a template.
func (r run) written() string {
	if len(r) == 1 {
		return string(r) + string(r)
	}
	return markers(string(r))
}

var identifier = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// key returns a name as the key of an object.
func key(name string) string {
	if identifier.MatchString(name) && !slices.Contains([]string{"null", "true", "false", "for"}, name) {
		return name
	}
	return quote(name)
}

func list(all []string) string {
	words := make([]string, len(all))
	for i, s := range all {
		words[i] = quote(s)
	}
	return "[" + strings.Join(words, ", ") + "]"
}
