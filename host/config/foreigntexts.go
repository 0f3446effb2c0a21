package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/secretname"
)

// A foreignText is a text that another program replaces, and Junctor does not. The entries cause
// warnings only; the text is used as it is.
type foreignText struct {
	pattern *lazyregexp.Regexp // of the whole text
	secret  bool               // only for members whose names sound like secrets
	of      string             // only for the attribute of this name; empty: for all
	what    string             // the warning; empty: nothing replaces the text
	hint    string             // $1 is the first group of the pattern
}

var foreignTexts = []foreignText{
	{pattern: lazyregexp.New(`^keyring:([A-Za-z0-9][A-Za-z0-9._/-]{0,63})$`),
		hint: `write keyring("NAME"), without quotes around it`},
	{pattern: lazyregexp.New(`^\{env:([A-Z_][A-Z0-9_]{1,63})\}$`), hint: `write env("$1"), without quotes around it`},
	{pattern: lazyregexp.New(`^(?:Bearer|Basic|token) \{env:([A-Z_][A-Z0-9_]{1,63})\}$`),
		hint: `write $${env("$1")} in place of {env:$1}`},
	{pattern: lazyregexp.New(`^%([A-Z_][A-Z0-9_]{1,63})%(?:[\\/].*)?$`), hint: `write $${env("$1")} in place of %$1%`},
	{pattern: lazyregexp.New(`^\{file:.+\}$`), hint: `write file("PATH"), without quotes around it`},
	{pattern: lazyregexp.New(`^file://`), secret: true, hint: `write file("PATH"), without quotes around it`},
	{pattern: windowsTab, what: backslashWhat, hint: backslashHint},
	{pattern: lazyregexp.New(`^\s|\s$`), of: "url", what: "the URL begins or ends with white space",
		hint: `remove it: url = "https://..."`},
	{pattern: lazyregexp.New(`^op://`), secret: true, hint: source.KeyringHint + "; or start junctor with op run"},
}

const (
	backslashWhat = `the path has a line break or a tab: \n, \r and \t are escapes`
	backslashHint = `write \\ for each backslash, or /, as in "C:/tools/run.exe"`

	nulWhat = "the text has a NUL character, which no argument can have"
	nulHint = `remove \u0000`
)

// foreignSettings warns of texts in a setting that are passed on unchanged, although
// other programs would replace them.
func foreignSettings(r blockReader, a *hclsyntax.Attribute, want cty.Type, sensitive bool) {
	if want.IsListType() || want.IsTupleType() {
		foreignWords(r, a)
		return
	}
	object, ok := language.Plain(a.Expr).(*hclsyntax.ObjectConsExpr)
	if !ok {
		foreignTextIn(r, a.Name, a.Expr)
		if text, ok := language.Literal(a.Expr); ok && !sensitive && (text == "~" || strings.HasPrefix(text, "~/")) {
			r.WarnAt(a.Expr.Range(), `write "${env("HOME")}/..."`, `only a shell knows "~": the path is used unchanged`)
		}
		return
	}
	for _, item := range object.Items {
		key, _ := language.Literal(item.KeyExpr)
		foreignTextIn(r, key, item.ValueExpr)
	}
}

// foreignText warns of a foreign text in the member or attribute name.
func foreignTextIn(r blockReader, name string, e hclsyntax.Expression) {
	text, ok := language.Literal(e)
	if !ok {
		return
	}
	for _, f := range foreignTexts {
		m := f.pattern.FindStringSubmatch(text)
		if m == nil || f.secret && !secretname.Sounds(name) || f.of != "" && f.of != name {
			continue
		}
		first := ""
		if len(m) > 1 {
			first = m[1]
		}
		hint := strings.NewReplacer("$$", "$", "$1", first).Replace(f.hint)
		r.WarnAt(e.Range(), hint, "%s", cmp.Or(f.what, "the text is passed on unchanged: nothing replaces it"))
		return
	}
}

var (
	// windowsTab matches a path of Windows in which an escape became white space.
	windowsTab = lazyregexp.New(`^[A-Za-z]:[^\\/\n\r\t]*[\n\r\t]`)
	// commandWords matches a program without a directory, and arguments behind it.
	commandWords = lazyregexp.New(`^[A-Za-z0-9._-]+ +[^ ]`)
	// shellPath matches a variable that only a shell replaces, alone or before a path.
	shellPath = lazyregexp.New(`^\$([A-Z_][A-Z0-9_]{1,63})(/|$)`)
	// shellArgument matches programs and options whose other arguments a shell reads.
	shellArgument = lazyregexp.New(`^(.*/)?(sh|bash|zsh|dash|fish|ksh|ssh|wsl|cmd|pwsh|powershell|nix-shell)(\.exe)?$|^-[a-z]*c$|^--(command|run)$|^/c$`)
)

// foreignWords warns of lists of words that are written as for a shell.
func foreignWords(r blockReader, a *hclsyntax.Attribute) {
	list, ok := language.Plain(a.Expr).(*hclsyntax.TupleConsExpr)
	if !ok {
		return
	}
	var words []string
	for _, e := range list.Exprs {
		text, _ := language.Literal(e)
		words = append(words, text)
	}
	for i, text := range words {
		switch first := a.Name == "command" && i == 0; {
		case strings.Contains(text, "\x00"):
			r.WarnAt(list.Exprs[i].Range(), nulHint, "%s", nulWhat)
		case windowsTab.MatchString(text), first && strings.ContainsAny(text, "\n\r\t"):
			r.WarnAt(list.Exprs[i].Range(), backslashHint, "%s", backslashWhat)
		}
	}
	if a.Name == "command" && len(words) == 1 && commandWords.MatchString(words[0]) {
		r.WarnAt(list.Exprs[0].Range(), "write each word for itself: command = "+language.WordsInBrackets(words[0]),
			"the program's name has a space: no shell separates the words")
		return
	}
	if slices.ContainsFunc(words, func(w string) bool { return shellArgument.MatchString(w) }) || startsShell(r) {
		return
	}
	for i, text := range words {
		if m := shellPath.FindStringSubmatch(text); m != nil {
			r.WarnAt(list.Exprs[i].Range(), fmt.Sprintf("write ${env(%q)} in place of $%s", m[1], m[1]),
				"no shell fills in $%s: the text is passed on unchanged", m[1])
		}
	}
}

// startsShell reports whether the command of the block starts a shell.
func startsShell(r blockReader) bool {
	command := r.Body.Attributes["command"]
	if command == nil {
		return false
	}
	list, ok := language.Plain(command.Expr).(*hclsyntax.TupleConsExpr)
	return ok && slices.ContainsFunc(list.Exprs, func(e hclsyntax.Expression) bool {
		text, _ := language.Literal(e)
		return shellArgument.MatchString(text)
	})
}
