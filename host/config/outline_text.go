package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// written is the source text of an expression, in one line.
func (o *outliner) written(e hclsyntax.Expression) string {
	r := e.Range()
	s := o.byName[r.Filename]
	if s == nil || r.End.Byte > len(s.text) || r.Start.Byte > r.End.Byte {
		return "…"
	}
	return visible(strings.Join(strings.Fields(string(s.text[r.Start.Byte:r.End.Byte])), " "))
}

// visible is text in which whatever is no visible character is escaped, so that
// nothing can be hidden from a person who reads it on a terminal. Many spaces
// become their number. A password in a URL is left out.
func visible(text string) string {
	var b strings.Builder
	for _, r := range plainLogin.ReplaceAllString(text, "://"+masked+"@") {
		if r == ' ' || unicode.IsPrint(r) && r != unicode.ReplacementChar && !unicode.In(r, unicode.Mn, unicode.Me) && !strings.ContainsRune(fillers, r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return manySpaces.ReplaceAllStringFunc(b.String(), func(spaces string) string { return fmt.Sprintf(" (%d spaces) ", len(spaces)) })
}

// fillers are the characters that count as letters or symbols and show nothing.
const fillers = "\u115f\u1160\u3164\uffa0\u2800"

var manySpaces = regexp.MustCompile(` {4,}`)

// plainLogin finds the user name and the password in a URL. Unlike login it takes
// nothing for one that a shell could run.
var plainLogin = regexp.MustCompile(`://[\w.~%!*+,=:-]*@`)
