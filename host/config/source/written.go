package source

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/redact"
)

// Written returns the source text of an expression in a file of the set on one line.
func (s *Set) Written(e hclsyntax.Expression) string {
	r := e.Range()
	f := s.File(r.Filename)
	if f == nil || r.End.Byte > len(f.Text) || r.Start.Byte > r.End.Byte {
		return "…"
	}
	return Visible(strings.Join(strings.Fields(string(f.Text[r.Start.Byte:r.End.Byte])), " "))
}

// Visible escapes the invisible characters of a text, so that a terminal shows all of
// it. It replaces four or more spaces by their number, and masks a login in a URL.
func Visible(text string) string {
	var b strings.Builder
	for _, r := range plainLogin.ReplaceAllString(text, "://"+redact.Mask+"@") {
		if r == ' ' || unicode.IsPrint(r) && r != unicode.ReplacementChar && !unicode.In(r, unicode.Mn, unicode.Me) &&
			!strings.ContainsRune(fillers, r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return manySpaces.ReplaceAllStringFunc(b.String(),
		func(spaces string) string { return fmt.Sprintf(" (%d spaces) ", len(spaces)) })
}

// fillers are invisible characters that Unicode classifies as letters or symbols.
const fillers = "\u115f\u1160\u3164\uffa0\u2800"

var manySpaces = lazyregexp.New(` {4,}`)

// plainLogin matches the user name and the password in a URL. Unlike login it does not
// match special characters of a shell, because an outline must not mask commands.
var plainLogin = lazyregexp.New(`://[\w.~%!*+,=:-]*@`)
