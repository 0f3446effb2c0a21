package clientimport

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A Syntax is a form of references in the files of clients, and what import does with it. The
// first syntax that matches at a place wins.
type Syntax struct {
	Forms   []string // as documentation has them
	Clients string
	Here    string // what becomes of it; Markdown
	Outcome clientconfig.Outcome

	pattern string // with one group for the name or nothing
	means   meaning
}

// A meaning is what a syntax refers to.
type meaning int

const (
	foreign     meaning = iota // something that is not followed
	storedThere                // an item in the store of another program
	askedSecret
	anInput
	aVariable
	aFile
	workspace
	homeDirectory
	separator
	extensionDirectory
)

// Syntaxes are all forms of references. None of them is ever stored as a secret.
var Syntaxes = []Syntax{
	{Forms: []string{"${{ secrets.NAME }}"}, Clients: "Continue", Here: "`keyring()`, to be set by you",
		Outcome: clientconfig.Becomes,
		pattern: `\$\{\{ *secrets\.([A-Za-z0-9_.-]+) *\}\}`, means: askedSecret},
	{Forms: []string{"${{ … }}"}, Clients: "Continue, CI", Here: "text; the server is disabled",
		Outcome: clientconfig.Noted,
		pattern: `\$\{\{[^{}]*()\}\}`, means: foreign},
	{Forms: []string{"${input:ID}"}, Clients: "VS Code", Here: "`keyring()` if it is a password, else `env()`",
		Outcome: clientconfig.Becomes,
		pattern: `\$\{input:([^}]+)\}`, means: anInput},
	{Forms: []string{"${env:VAR}", "{env:VAR}", "${env:VAR:-x}"}, Clients: "Cursor, VS Code, Windsurf, OpenCode",
		Here: "`env(\"VAR\")`, `env(\"VAR\", \"x\")`", Outcome: clientconfig.Becomes,
		pattern: `\$?\{env:([A-Za-z_][A-Za-z0-9_]*(?::[^}]*)?)\}`, means: aVariable},
	{Forms: []string{"{file:PATH}", "${file:PATH}"}, Clients: "OpenCode, nexo",
		Here: "`trimspace(file(\"PATH\"))`; a relative path starts at the client's file", Outcome: clientconfig.Becomes,
		pattern: `\$?\{file:([^}]+)\}`, means: aFile},
	{
		Forms:   []string{"${workspaceFolder}", "${workspaceRoot}", "${workspacePath}", "${CLAUDE_PROJECT_DIR}"},
		Clients: "VS Code, Cursor, Gemini CLI, Claude Code", Here: "`.`, the directory of the configuration",
		Outcome: clientconfig.Becomes,
		pattern: `\$\{(workspaceFolder|workspaceRoot|workspacePath|CLAUDE_PROJECT_DIR)(?::-[^}]*)?\}`, means: workspace,
	},
	{Forms: []string{"${userHome}"}, Clients: "VS Code, Cursor", Here: "`env(\"HOME\")`", Outcome: clientconfig.Becomes,
		pattern: `\$\{userHome()\}`, means: homeDirectory},
	{Forms: []string{"${/}", "${pathSeparator}"}, Clients: "VS Code, Cursor, Gemini CLI",
		Here: "`/` or `\\`, as on this system", Outcome: clientconfig.Becomes,
		pattern: `\$\{(?:/|pathSeparator)()\}`, means: separator},
	{Forms: []string{"${extensionPath}", "${CLAUDE_PLUGIN_ROOT}", "${__dirname}"},
		Clients: "Gemini CLI, Claude Code, bundles", Here: "the directory of the extension; noted if it is not known",
		Outcome: clientconfig.Becomes,
		pattern: `\$\{(extensionPath|CLAUDE_PLUGIN_ROOT|__dirname)\}`, means: extensionDirectory},
	{Forms: []string{
		"${workspaceFolderBasename}", "${cwd}", "${file}", "${selectedText}", "${CLAUDE_PLUGIN_DATA}", "…",
	}, Clients: "VS Code, Cursor, Claude Code", Here: "text; the server is disabled", Outcome: clientconfig.Noted,
		pattern: `\$\{(?:workspaceFolderBasename|cwd|file|fileBasename|fileDirname|fileWorkspaceFolder|relativeFile|lineNumber|selectedText|execPath|defaultBuildTask|CLAUDE_PLUGIN_DATA)()\}`,
		means:   foreign},
	{Forms: []string{"${VAR}", "${VAR:-x}", "$VAR", "$env:VAR"},
		Clients: "most; `$VAR` anywhere of Gemini CLI, elsewhere as a whole value",
		Here:    "`env(\"VAR\")`, `env(\"VAR\", \"x\")`", Outcome: clientconfig.Becomes,
		pattern: `\$\{([A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?)\}`, means: aVariable},
	{Forms: []string{"${cmd:COMMAND}", "${command:COMMAND}", "$(COMMAND)"}, Clients: "mcphub, VS Code, Crush",
		Here:    "`auth \"command\"` for a bearer token of a server with a URL; else text, and the server is disabled",
		Outcome: clientconfig.Noted,
		pattern: `(?:\$\{(?:cmd|command):[^}]*()\}|\$\([^()]*\))`, means: foreign},
	{Forms: []string{"${config:NAME}", "${workspaceFolder:NAME}", "${user_config.NAME}", "${VAR:?x}", "…"},
		Clients: "VS Code, Cursor, Claude Code", Here: "text; the server is disabled", Outcome: clientconfig.Noted,
		pattern: `\$\{[A-Za-z_][A-Za-z0-9_-]*[.:?=+-][^{}]*()\}`, means: foreign},
	{Forms: []string{"op://VAULT/ITEM", "vault://…", "keychain://…"}, Clients: "1Password and other stores",
		Here:    "`auth \"command\"` with `op read` for a bearer token of a server with a URL; else text, and the server is disabled. Behind `op run` it stays",
		Outcome: clientconfig.Noted,
		pattern: "\\b(?:op|vault|keychain|keyring|infisical|akv|awssm|gcpsm|ref\\+[a-z0-9]+)://[^\\s\"'`]*()",
		means:   storedThere},
}

// reference matches the references of all clients. Syntax i has group i+1.
var reference = lazyregexp.New(allSyntaxes())

func allSyntaxes() string {
	var all []string
	for _, s := range Syntaxes {
		all = append(all, "("+s.pattern+")")
	}
	return strings.Join(all, "|")
}

// inputReference matches the only references in the entries of registries.
var inputReference = lazyregexp.New(`\$\{input:([^}]+)\}`)

// parts splits a text at its references.
func (c *converter) parts(text string) (all []part) {
	for from := 0; from < len(text); {
		at, p := c.next(text, from)
		if at == nil {
			return append(all, part{text: text[from:]})
		}
		if at[0] > from {
			all = append(all, part{text: text[from:at[0]]})
		}
		p.reference = true
		all = append(all, p)
		from = at[1]
	}
	return all
}

// next converts the first reference in a text behind a place; at is its place, or nil.
func (c *converter) next(text string, from int) (at []int, p part) {
	rest := text[from:]
	if c.origin != "" {
		if at = inputReference.FindStringSubmatchIndex(rest); at == nil {
			return nil, p
		}
		return []int{from + at[0], from + at[1]}, c.input(rest[at[2]:at[3]])
	}
	if strings.ContainsAny(rest, "${") || strings.Contains(rest, "://") {
		at = reference.FindStringSubmatchIndex(rest)
	}
	if at == nil {
		return nil, p
	}
	for i, s := range Syntaxes { // each has two groups: the whole and the name
		whole, name := 2*(2*i+1), 2*(2*i+2)
		if at[whole] < 0 {
			continue
		}
		named := ""
		if at[name] >= 0 {
			named = rest[at[name]:at[name+1]]
		}
		around := surrounding{before: text[max(0, from+at[0]-nearBytes) : from+at[0]],
			after: rest[at[1]:min(len(rest), at[1]+nearBytes)]}
		return []int{from + at[0], from + at[1]}, c.meant(s.means, rest[at[0]:at[1]], named, around)
	}
	return nil, p
}

// A surrounding is the text around a reference, at most nearBytes on each side.
type surrounding struct{ before, after string }

// nearBytes bounds what is looked at for each of many references in a long text.
const nearBytes = 200

// hides reports whether a value in place of the reference would be a secret there.
func (a surrounding) hides(value string) bool {
	from := len(a.before)
	return slices.ContainsFunc(secretsIn(a.before+value+a.after),
		func(s span) bool { return s.from < from+len(value) && s.to > from })
}

// secretPlace reports whether the setting, or the option before it, is one for secrets.
func (c *converter) secretPlace() bool {
	name := c.where[strings.LastIndexByte(c.where, '.')+1:]
	if i, err := strconv.Atoi(name); err == nil && i > 1 && i < len(c.server.Command) {
		before := c.server.Command[i-1]
		return strings.HasPrefix(before, "-") && !strings.Contains(before, "=") && sounds(strings.TrimLeft(before, "-"))
	}
	return sounds(name)
}

// meant converts a reference.
func (c *converter) meant(what meaning, whole, name string, around surrounding) part {
	switch what {
	case storedThere:
		if c.resolves { // the program op follows its own references
			return part{text: whole}
		}
	case askedSecret:
		return part{text: c.secret(name, "secrets."+name, ""), expression: true}
	case anInput:
		return c.input(name)
	case aVariable:
		return c.environment(whole, name, around)
	case aFile:
		return c.file(name)
	case workspace:
		c.note("%s became the directory of the configuration", whole)
		return part{text: "."}
	case homeDirectory:
		return c.needs.env("HOME")
	case separator:
		return part{text: string(filepath.Separator)}
	case extensionDirectory:
		if dir := extension(c.server.Base); dir != "" {
			return part{text: dir}
		}
	}
	return c.unfollowed(whole)
}

// shortSecret is the length from which a default in a place for secrets is one.
const shortSecret = 8

// environment converts a reference to a variable: its name, and a default behind a colon. A
// default is a secret by its form, by the name of the variable, or by its place.
func (c *converter) environment(whole, name string, around surrounding) part {
	name, value, fallback := strings.Cut(name, ":")
	value = strings.TrimPrefix(value, "-")
	if fallback && !placeholder.MatchString(value) && (isSecret(name, value) || around.hides(value) ||
		len(value) >= shortSecret && c.secretPlace() && !plainValue.MatchString(value)) {
		return c.secretDefault(name, whole, value)
	}
	if c.left(name, whole) {
		return part{text: whole}
	}
	if fallback {
		return part{text: fmt.Sprintf("env(%s, %s)", quote(name), quote(value)), expression: true}
	}
	return c.needs.env(name)
}

// secretDefault converts a reference whose default is a secret: to the variable if it is set,
// else to the default, which is left out.
func (c *converter) secretDefault(name, whole, value string) part {
	head, _, _ := strings.Cut(whole, ":")
	if c.in.IsSet != nil && c.in.IsSet(name) {
		c.note("the default of %s} in %s is a secret and was left out, because the variable is set", head, c.where)
		return c.needs.env(name)
	}
	c.note("the default of %s} in %s is a secret, and is used in place of the variable", head, c.where)
	return part{text: c.leftOut(name, c.where, value), expression: true}
}

// file converts a reference to the content of a file.
func (c *converter) file(path string) part {
	path, known := c.in.path(path, c.server.Base)
	if !known {
		c.note("the path %s starts at the client's file there, and at the configuration here", path)
	}
	if below, ok := strings.CutPrefix(path, "~/"); ok {
		return part{text: "trimspace(" + c.needs.fileIn(c.needs.variable("HOME"), below) + ")", expression: true}
	}
	if all := c.parts(path); len(all) == 1 && !all[0].reference {
		c.needs.file(path)
	} else if c.in.IsFile != nil {
		c.needs.absent = append(c.needs.absent, path)
	}
	return part{text: "trimspace(file(" + c.expression(path) + "))", expression: true}
}

// unfollowed keeps a reference as text and disables the server.
func (c *converter) unfollowed(whole string) part {
	if c.script {
		return part{text: whole}
	}
	if at := cmp.Or(c.where, "the entry"); !slices.Contains(c.needs.stuck, at) {
		c.needs.stuck = append(c.needs.stuck, at)
		c.note("%s refers to something that is not followed here: %s", at, shortened(whole))
	}
	return part{text: whole}
}

// input converts a reference to a value that the client asks for.
func (c *converter) input(id string) part {
	if c.secretInputs == nil {
		c.secretInputs = map[string]bool{}
		for _, in := range c.inputs {
			c.secretInputs[in.ID] = c.secretInputs[in.ID] || in.Secret
		}
	}
	if c.secretInputs[id] {
		return part{text: c.secret(id, "inputs."+id, ""), expression: true}
	}
	variable := strings.ToUpper(strings.Trim(notVariable.ReplaceAllString(id, "_"), "_"))
	c.note("%s is asked for: set the variable %s", id, variable)
	return c.needs.env(variable)
}

var notVariable = lazyregexp.New(`[^A-Za-z0-9_]+`)

// maxShown is the maximum number of bytes of a reference in a note.
const maxShown = 60

func shortened(text string) string {
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}

func (c *converter) expression(text string) string { return join(c.parts(text)) }
