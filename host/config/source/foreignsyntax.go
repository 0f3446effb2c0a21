package source

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A foreignSyntax is a syntax error that comes from another notation. The entries change summaries
// and hints of errors only.
type foreignSyntax struct {
	of      string                      // the summary of HCL
	found   func(s *File, i int) bool   // whether token i, at which HCL reports it, is of this notation; nil: always
	summary string                      // empty: that of HCL
	hint    string                      // what to write
	hintFor func(s *File, i int) string // in place of hint
	whole   bool                        // the whole file is in the other notation: one diagnostic is enough
}

const (
	needsDefinition = "Argument or block definition required"
	needsNewline    = "Missing newline after argument"
	badCharacter    = "Invalid character"
	afterReference  = "Extra characters after interpolation expression"

	blockExample = `write a block server "NAME" for each server, and in it transport "stdio" { command = ["PROGRAM"] }`
)

// foreignSyntaxes lists notations of other languages. The first entry that matches wins.
//
// To add a habit, add an entry here and a fixture in testdata/config/habits.txtar.
var foreignSyntaxes = []foreignSyntax{
	{of: needsDefinition,
		found: tokens(hclsyntax.TokenIdent, hclsyntax.TokenColon, hclsyntax.TokenNewline), whole: true,
		summary: "this looks like YAML, and a configuration is written in HCL", hint: blockExample},
	{of: needsDefinition, found: tokens(hclsyntax.TokenOBrack), whole: true,
		summary: "this looks like TOML, and a configuration is written in HCL", hint: blockExample},
	{of: needsDefinition, found: tokens(hclsyntax.TokenIdent, hclsyntax.TokenColon),
		summary: "an attribute needs an equals sign, not a colon", hint: "write NAME = VALUE"},
	{of: needsDefinition, found: tokens(hclsyntax.TokenMinus, hclsyntax.TokenMinus),
		summary: "-- does not begin a comment", hint: "write # in place of --"},
	{of: needsDefinition, found: tokens(hclsyntax.TokenMinus), whole: true,
		summary: "this looks like YAML, and a configuration is written in HCL", hint: blockExample},
	{of: needsDefinition, found: tokens(hclsyntax.TokenIdent, hclsyntax.TokenIdent),
		hint: "write NAME = VALUE for an attribute, and TYPE \"NAME\" { ... } for a block"},
	{of: needsDefinition, found: tokens(hclsyntax.TokenIdent, hclsyntax.TokenNumberLit),
		hint: "write NAME = VALUE, with an equals sign"},
	{of: needsDefinition, found: tokens(hclsyntax.TokenIdent, hclsyntax.TokenOBrack),
		hint: "write NAME = [...], with an equals sign"},

	{of: "Invalid argument name", summary: "the name of an attribute is written without quotes",
		hint: "write NAME = VALUE"},
	{of: "Unexpected comma after argument", summary: "attributes are separated by newlines, not commas",
		hint: commaHint},
	{of: "Missing newline after block definition", found: tokens(hclsyntax.TokenComma),
		summary: "blocks are separated by newlines, not commas", hint: commaHint},
	{of: "Missing newline after block definition", found: tokens(hclsyntax.TokenSemicolon),
		summary: "blocks are separated by newlines, not semicolons", hint: semicolonHint},

	{of: badCharacter, found: tokens(hclsyntax.TokenApostrophe), summary: "a string needs double quotes",
		hint: `write "..." in place of '...'`},
	{of: badCharacter, found: tokens(hclsyntax.TokenBacktick), summary: "a string needs double quotes",
		hint: "write \"...\", or a heredoc (<<EOT) for several lines"},
	{of: badCharacter, found: tokens(hclsyntax.TokenSemicolon),
		summary: "attributes are separated by newlines, not semicolons", hint: semicolonHint},
	{of: badCharacter, found: textIs("$"), summary: "a shell variable has no meaning here",
		hint: `write env("NAME") in place of $NAME`},
	{of: badCharacter, found: textIs("“", "”", "„", "‘", "’", "«", "»"),
		summary: "typographic quotes do not begin a string", hint: `write straight quotes: "..."`},
	{of: badCharacter, found: textIs("\u00a0", "\u202f", "\u2007", "\u3000", "\u200b", "\ufeff"),
		summary: "a no-break space or an invisible character is not white space",
		hint:    "write an ordinary space in its place"},
	{of: badCharacter, found: textIs("@"), summary: "a string needs double quotes",
		hint: `write "...", or file("PATH") for the text of a file`},

	{of: needsNewline, found: unitAfterNumber, summary: "a number with a unit must be a string",
		hint: `write it in quotes: "30s" for a duration, "16MiB" for a size`},
	{of: needsNewline, found: textIs("and"), summary: "conditions are joined with && and ||",
		hint: "write && in place of and"},
	{of: needsNewline, found: textIs("or"), summary: "conditions are joined with && and ||",
		hint: "write || in place of or"},
	{of: needsNewline, found: textIs("not", "in", "is"), summary: "a condition has no operator of this name",
		hint: "write !, ==, or contains(LIST, VALUE)"},
	{of: needsNewline, found: tokens(hclsyntax.TokenEqual), summary: "= does not compare", hint: "write == to compare"},
	{of: needsNewline, found: tokens(hclsyntax.TokenSemicolon),
		summary: "attributes are separated by newlines, not semicolons", hint: semicolonHint},
	{of: needsNewline, found: before(hclsyntax.TokenIdent, hclsyntax.TokenColon),
		summary: "a string needs double quotes", hint: `write "..." around the text`},
	{of: needsNewline, found: before(hclsyntax.TokenIdent, hclsyntax.TokenIdent),
		summary: "a string needs double quotes",
		hint:    `write "..." around the text, or ["...", "..."] for several words`},

	{of: "Invalid expression", found: before(hclsyntax.TokenEqualOp, hclsyntax.TokenEqual),
		summary: "there is no operator ===", hint: "write == to compare"},
	{of: "Invalid expression", found: before(hclsyntax.TokenNotEqual, hclsyntax.TokenEqual),
		summary: "there is no operator !==", hint: "write != to compare"},
	{of: "Invalid expression", found: before(hclsyntax.TokenEqual, hclsyntax.TokenNewline),
		summary: "the attribute has no value", hint: "write the value on the line of the name"},
	{of: "Invalid block definition", found: tokens(hclsyntax.TokenEqual),
		summary: "a block is written without an equals sign", hint: `write TYPE "NAME" { ... }`},
	{of: "Invalid block definition", found: before(hclsyntax.TokenCQuote, hclsyntax.TokenNewline),
		summary: "the equals sign or the brace is missing",
		hint:    `write NAME = "..." for an attribute, and TYPE "NAME" { on one line for a block`},

	{of: "Invalid template control keyword", summary: "%{ begins a directive such as %{ if }",
		hint: "write %%{ for a literal %{"},
	{of: "Unsupported template directive", summary: "%{ begins a directive such as %{ if }",
		hint: "write %%{ for a literal %{"},
	{of: afterReference, found: inReference, summary: "HCL has no ${NAME:...}", hintFor: referenceHint},
	{of: "Missing key/value separator", found: inActions, summary: "HCL has no ${{ ... }}",
		hint: `write ${env("NAME")} or ${keyring("NAME")}`},
}

const (
	commaHint     = "remove the comma: each attribute and each block is on a line of its own"
	semicolonHint = "remove the semicolon: each attribute and each block is on a line of its own"
)

// tokens returns a check for these tokens from token i on.
func tokens(want ...hclsyntax.TokenType) func(*File, int) bool {
	return func(s *File, i int) bool {
		for n, typ := range want {
			if s.typeAt(i+n) != typ {
				return false
			}
		}
		return true
	}
}

// before returns a check for token i and the token before it.
func before(previous, at hclsyntax.TokenType) func(*File, int) bool {
	return func(s *File, i int) bool { return s.typeAt(i-1) == previous && s.typeAt(i) == at }
}

// textIs returns a check for the text of token i.
func textIs(words ...string) func(*File, int) bool {
	return func(s *File, i int) bool { return i >= 0 && slices.Contains(words, string(s.Tokens[i].Bytes)) }
}

// unitAfterNumber reports whether token i is a word directly after a number.
func unitAfterNumber(s *File, i int) bool {
	return before(hclsyntax.TokenNumberLit, hclsyntax.TokenIdent)(s, i) &&
		s.Tokens[i-1].Range.End.Byte == s.Tokens[i].Range.Start.Byte
}

// inReference reports whether token i is the colon of ${WORD:...}.
func inReference(s *File, i int) bool {
	return before(hclsyntax.TokenIdent, hclsyntax.TokenColon)(s, i) && s.typeAt(i-2) == hclsyntax.TokenTemplateInterp
}

// referenceHint returns a hint for ${WORD:...}, in which token i is the colon.
func referenceHint(s *File, i int) string {
	word, named := s.wordAt(i-1), s.wordAt(i+1)
	switch {
	case word == "env" && variableHint(named, true) != "":
		return variableHint(named, true)
	case word == "env":
		return `write ${env("NAME")}`
	case word == "input" || word == "secret":
		return "write ${keyring(\"NAME\")}, and run `junctor secret set NAME`"
	case word == "file":
		return `write ${file("PATH")}`
	case variableHint(word, true) != "":
		return strings.TrimSuffix(variableHint(word, true), ")}") + `, "DEFAULT")}; $${ is a literal ${`
	}
	return `write ${env("NAME")} for a variable of the environment, and $${ for a literal ${`
}

// inActions reports whether token i is in ${{ ... }}.
func inActions(s *File, i int) bool {
	const farthest = 8
	for at := i; at > max(0, i-farthest); at-- {
		if before(hclsyntax.TokenTemplateInterp, hclsyntax.TokenOBrace)(s, at) {
			return true
		}
	}
	return false
}

// foreignSyntaxAt returns the entry for a diagnostic of the parser, or nil.
func (s *File) foreignSyntaxAt(d *hcl.Diagnostic) (*foreignSyntax, int) {
	i := s.tokenAt(d.Subject.Start.Byte)
	for n := range foreignSyntaxes {
		if f := &foreignSyntaxes[n]; f.of == d.Summary && i >= 0 && (f.found == nil || f.found(s, i)) {
			return f, i
		}
	}
	return nil, i
}

// foreignOnly removes diagnostics that follow from a foreign notation: others on its
// line, and all others if the whole file is in the notation.
func foreignOnly(all []parsedProblem) []parsedProblem {
	first := map[int]*foreignSyntax{} // by line
	for _, p := range all {
		switch {
		case p.foreign == nil:
		case p.foreign.whole:
			return []parsedProblem{p}
		case first[p.At.Start.Line] == nil:
			first[p.At.Start.Line] = p.foreign
		}
	}
	reported := map[int]bool{}
	return slices.DeleteFunc(all, func(p parsedProblem) bool {
		line := p.At.Start.Line
		if first[line] == nil {
			return false
		}
		if p.foreign != first[line] || reported[line] {
			return true
		}
		reported[line] = true
		return false
	})
}
