package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// This file recognizes references and functions of other users of HCL, of MCP clients and
// of shells. Hints repeat a word only if it is probably the name of a variable.

// foreignRoots are the first words of references that other programs have, with what to
// write.
var foreignRoots = map[string]string{
	"variable": "write var.NAME", "variables": "write var.NAME", "vars": "write var.NAME",
	"locals": "write local.NAME",
	"env":    `write env("NAME")`, "process": `write env("NAME")`, "ENV": `write env("NAME")`,
	"module": "write the value, or local.NAME: a module has no values to read",
	"data":   "write the value, or local.NAME", "terraform": "write the value, or local.NAME",
	"secrets": KeyringHint, "secret": KeyringHint, "input": KeyringHint, "inputs": KeyringHint,
	"workspaceFolder": folderHint, "workspaceRoot": folderHint,
	"workspaceFolderBasename": folderHint, "path": folderHint,
	"userHome": `write env("HOME"), and ${env("HOME")} inside a text`,
	"count":    "write for_each and each.key",
	"True":     "write true", "TRUE": "write true", "yes": "write true", "on": "write true",
	"False": "write false", "FALSE": "write false", "no": "write false", "off": "write false",
	"None": "write null", "nil": "write null", "undefined": "write null", "NULL": "write null",
}

const (
	KeyringHint = "write keyring(\"NAME\"), and run `junctor secret set NAME`"
	folderHint  = `write ".", or the whole path: a server starts in the directory of the configuration file`
)

// ForeignFunctions are functions that other programs have, with what to write.
var ForeignFunctions = map[string]string{
	"getenv": `write env("NAME")`, "get_env": `write env("NAME")`, "getEnv": `write env("NAME")`,
	"secret": KeyringHint, "secrets": KeyringHint, "keychain": KeyringHint,
	"vault": KeyringHint, "password": KeyringHint,
	"toset":    "remove it: a list is enough",
	"readfile": `write file("PATH")`, "read": `write file("PATH")`,
	"readFile": `write file("PATH")`, "templatefile": `write file("PATH")`,
}

// variableWord matches a word that is probably the name of an environment variable. A key
// in capital letters nearly always has digits.
var variableWord = lazyregexp.New(`^[A-Z]{2,24}(_[A-Z0-9]{1,24}){0,6}$`)

// variableHint returns a hint for a word that is probably an environment variable.
func variableHint(word string, inText bool) string {
	if !variableWord.MatchString(word) {
		return ""
	}
	if inText {
		return fmt.Sprintf("write ${env(%q)}", word)
	}
	return fmt.Sprintf("write env(%q)", word)
}

// ForeignReference returns a hint for a reference to an unknown name, or "".
func (set *Set) ForeignReference(t hcl.Traversal) string {
	s, at := set.byName[t.SourceRange().Filename], t.SourceRange().Start.Byte
	inText, argument := false, false
	if s != nil {
		i := s.tokenAt(at)
		inText = s.typeAt(i-1) == hclsyntax.TokenTemplateInterp
		argument = s.typeAt(i-1) == hclsyntax.TokenOParen && s.wordAt(i-2) == "env"
	}
	last := t.RootName()
	if step, ok := t[len(t)-1].(hcl.TraverseAttr); ok {
		last = step.Name
	}
	hint, known := foreignRoots[t.RootName()]
	switch {
	case argument:
		return `write the name in quotes: env("NAME")`
	case known && len(t) > 1 && strings.HasPrefix(hint, "write env("), !known && len(t) == 1:
		named := variableHint(last, inText)
		if named != "" && inText {
			named += "; $${ is a literal ${, for a shell"
		}
		if named != "" {
			return named
		}
	}
	return hint
}

// tokenAt returns the index of the token that begins at an offset, or -1.
func (s *File) tokenAt(offset int) int {
	i, found := slices.BinarySearchFunc(s.Tokens, offset,
		func(tok hclsyntax.Token, offset int) int { return cmp.Compare(tok.Range.Start.Byte, offset) })
	if !found {
		return -1
	}
	return i
}
