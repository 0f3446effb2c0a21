package clientimport

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// A Result is what a client's file says, as a configuration.
type Result struct {
	HCL     []byte // the server blocks
	Policy  []byte // the policy block; nil: the file says nothing about who may use what
	Servers []string
	From    []string // the names that the Servers have in the client's file
	Secrets []Secret
	Notes   []string // sentences without a full stop, each about one server or the whole file
}

// Blocks returns the server blocks and the policy block.
func (r Result) Blocks() []byte {
	if r.Policy == nil || len(r.HCL) == 0 {
		return append(slices.Clone(r.HCL), r.Policy...)
	}
	return slices.Concat(r.HCL, []byte("\n"), r.Policy)
}

// A Secret is a value that was left out of the blocks.
type Secret struct {
	Name     string // in keyring(); empty: env() is in its place
	Variable string // in env(); a setting such as url takes none from keyring()
	Server   string
	Where    string // in the client's file, such as env.GITHUB_TOKEN
	Value    string // the value that was left out; empty if Asked
	Asked    bool   // the client asks for it; its file does not have it
}

// Convert writes the servers of a file as blocks, and who may use them as a policy. Names
// that are taken already are left out. A server that needs a variable for which isSet returns
// false is written as disabled, because a configuration that reads it is not valid; nil: all
// variables are set.
func Convert(file clientconfig.Content, taken []string, isSet func(variable string) bool) Result {
	c := converter{isSet: isSet, inputs: file.Inputs, names: map[string]bool{}, labels: map[string]string{}}
	for _, name := range taken {
		c.names[name] = true
	}
	for _, s := range file.Servers {
		c.server(s)
	}
	c.HCL = hclwrite.Format([]byte(c.text.String()))
	c.Notes = append(c.Notes, file.Notes...)
	c.policy(file)
	return c.Result
}

// ConvertEntry writes a server from a registry as a block. Its values refer to inputs only: all
// other text stands for itself. origin is NAME@VERSION.
func ConvertEntry(s clientconfig.Server, inputs []clientconfig.Input, origin string, isSet func(variable string) bool) Result {
	c := converter{isSet: isSet, inputs: inputs, names: map[string]bool{}, origin: origin}
	c.server(s)
	c.HCL = hclwrite.Format([]byte(c.text.String()))
	return c.Result
}

type converter struct {
	Result
	isSet  func(variable string) bool
	origin string // in a registry; empty: the server is from a client
	inputs []clientconfig.Input
	names  map[string]bool   // of servers, taken
	labels map[string]string // of the servers of the file: by the name there, the name here
	text   strings.Builder

	secretInputs map[string]bool   // by id; made when it is first needed
	named        map[string]Secret // by the name in keyring(), or before it became one of a variable

	name    string   // of the present server
	visible bool     // the present setting is not for secrets
	unset   []string // variables that the present server needs and that are not set
}

// variable returns the value of a variable that has to be set.
func (c *converter) variable(name string) string {
	if c.isSet != nil && !c.isSet(name) && !slices.Contains(c.unset, name) {
		c.unset = append(c.unset, name)
	}
	return fmt.Sprintf("env(%s)", quote(name))
}

func (c *converter) note(format string, args ...any) {
	name := c.name
	if label(name) != name {
		name = fmt.Sprintf("%+q", name)
	}
	c.Notes = append(c.Notes, name+": "+fmt.Sprintf(format, args...))
}

func (c *converter) line(format string, args ...any) { fmt.Fprintf(&c.text, format+"\n", args...) }

func (c *converter) server(s clientconfig.Server) {
	c.name = s.Name
	switch name := label(s.Name); {
	case s.Problem != "":
		where := ""
		if s.Place != (clientconfig.Place{}) {
			where = " (at " + s.Place.String() + ")"
		}
		c.note("not imported: %s%s", s.Problem, where)
		return
	case isJunctor(s.Command):
		c.note("not imported: it starts Junctor itself")
		return
	case s.Name == "junctor" && s.URL != "" && c.origin == "":
		c.note("not imported: it is the gateway, as junctor export writes it; rename it if it is another server")
		return
	case name != s.Name && c.names[name]:
		c.note("not imported: its name as %s is taken", name)
		return
	case c.names[name]:
		c.note("not imported: the configuration has a server of this name")
		return
	case name != s.Name:
		c.note("is called %s here", name)
		c.name = name
	}
	c.names[c.name] = true
	if c.labels != nil {
		c.labels[s.Name] = c.name
	}
	c.Servers, c.From = append(c.Servers, c.name), append(c.From, s.Name)
	if c.text.Len() > 0 {
		c.line("")
	}
	before := c.text.String()
	c.text.Reset()
	c.unset = nil
	c.body(s)
	body := c.text.String()
	c.text.Reset()
	c.text.WriteString(before)
	c.line("server %q {", c.name)
	if c.origin != "" {
		c.line("registry = %s", quote(c.origin))
	}
	if s.Disabled || len(c.unset) > 0 {
		c.line("enabled = false")
	}
	c.text.WriteString(body)
	c.line("}")
	if len(c.unset) > 0 {
		c.note("is disabled: set %s, then remove enabled = false", strings.Join(c.unset, ", "))
	}
	for _, n := range s.Notes {
		c.note("%s", n)
	}
	if len(s.Ignored) > 0 {
		c.note("has no equivalent here: %s", strings.Join(s.Ignored, ", "))
	}
}

// body writes what is in the block of a server.
func (c *converter) body(s clientconfig.Server) {
	if s.URL == "" {
		c.program(s)
	} else {
		c.remote(s)
	}
	c.tools(s)
	c.times(s)
	if s.Idle != "" {
		c.line("idle = %q", s.Idle)
	}
}

// badLabel matches what the name of a server cannot contain.
var (
	badLabel   = lazyregexp.New(`[^A-Za-z0-9_-]+`)
	separators = lazyregexp.New(`__+`)
)

// maxLabel is the maximum size of a name that is also a prefix.
const maxLabel = 40

// label returns a name as the name of a server, which is also its prefix: a letter, and up
// to 39 letters, digits, _ and -.
func label(name string) string {
	name = separators.ReplaceAllString(badLabel.ReplaceAllString(name, "-"), "_")
	name = strings.Trim(name, "-")
	if name == "" || !isLetter(name[0]) {
		name = "server-" + name
	}
	return strings.TrimRight(name[:min(len(name), maxLabel)], "-_")
}

// Label returns a name as one that a server can have.
func Label(name string) string { return label(name) }

// ValidName reports whether a name can be that of a server.
func ValidName(name string) bool { return name != "" && label(name) == name }

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// isJunctor reports whether a command is an entry that export wrote.
func isJunctor(command []string) bool {
	return len(command) > 1 && command[1] == "serve" && strings.TrimSuffix(filepath.Base(command[0]), ".exe") == "junctor"
}

func (c *converter) program(s clientconfig.Server) {
	c.line(`transport "stdio" {`)
	c.visible = true
	words := make([]string, 0, len(s.Command))
	for i, word := range s.Command {
		words = append(words, c.argument(s.Command, i, word))
	}
	c.line("command = [%s]", strings.Join(words, ", "))
	c.visible = false
	c.valueMap("env", s.Env)
	if len(s.PassEnv) > 0 {
		c.line("pass_env = %s", list(s.PassEnv))
	}
	if s.Dir != "" {
		c.visible = true
		c.line("cwd = %s", c.expression(s.Dir))
	}
	c.line("}")
}

func (c *converter) remote(s clientconfig.Server) {
	c.line(`transport "http" {`)
	c.visible = true
	c.line("url = %s", c.address(s.URL))
	c.visible = false
	if s.SSE {
		c.line(`mode = "sse"`)
	}
	headers := maps.Clone(s.Headers)
	for name, variable := range s.EnvNames {
		if headers == nil {
			headers = map[string]string{}
		}
		headers[name] = "${" + variable + "}"
	}
	c.valueMap("headers", headers)
	c.line("}")
	if s.OAuth && !hasAuthorization(headers) {
		c.line(`auth "oauth" {`)
		c.line("}")
	}
}

func hasAuthorization(headers map[string]string) bool {
	for name := range headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// valueMap writes a map whose values may be secrets.
func (c *converter) valueMap(attribute string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	c.line("%s = {", attribute)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		c.line("%s = %s", key(name), c.value(attribute+"."+name, name, values[name]))
	}
	c.line("}")
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

func (c *converter) tools(s clientconfig.Server) {
	if s.Allow == nil && len(s.Deny) == 0 && len(s.Read) == 0 && len(s.Write) == 0 {
		return
	}
	c.line("tools {")
	if s.Allow != nil {
		c.line("allow = %s", list(s.Allow))
	}
	c.listed("deny", s.Deny)
	c.listed("read", s.Read)
	c.listed("write", s.Write)
	c.line("}")
}

// listed writes an attribute that is a list, unless it is empty.
func (c *converter) listed(attribute string, all []string) {
	if len(all) > 0 {
		c.line("%s = %s", attribute, list(all))
	}
}

func (c *converter) times(s clientconfig.Server) {
	if cmp.Or(s.Start, s.Call) == 0 {
		return
	}
	c.line("timeouts {")
	for _, t := range []struct {
		name string
		d    time.Duration
	}{{"start", s.Start}, {"call", s.Call}} {
		if t.d > 0 {
			c.line("%s = %q", t.name, t.d)
		}
	}
	c.line("}")
}

// reference matches the references of all clients: ${VAR}, ${env:VAR}, ${VAR:-default},
// {env:VAR}, {file:PATH}, ${input:ID}, ${workspaceFolder}, ${userHome}.
var reference = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$?\{env:([A-Za-z_][A-Za-z0-9_]*)(?::-?([^}]*))?\}|\$\{input:([^}]+)\}|\{file:([^}]+)\}`)

// A part is a literal text, or an expression.
type part struct {
	text       string
	expression bool
}

// parts splits a text at its references.
func (c *converter) parts(text string) (all []part) {
	for text != "" {
		at := reference.FindStringSubmatchIndex(text)
		if at == nil {
			return append(all, part{text: text})
		}
		if at[0] > 0 {
			all = append(all, part{text: text[:at[0]]})
		}
		all = append(all, c.referenceTo(text, at))
		text = text[at[1]:]
	}
	return all
}

// referenceTo converts one match of reference.
func (c *converter) referenceTo(text string, at []int) part {
	group := func(n int) string {
		if at[2*n] < 0 {
			return ""
		}
		return text[at[2*n]:at[2*n+1]]
	}
	if id := group(5); id != "" {
		return c.input(id)
	}
	if c.origin != "" {
		return part{text: text[at[0]:at[1]]}
	}
	if path := group(6); path != "" {
		if below, ok := strings.CutPrefix(path, "~/"); ok {
			path = "${HOME}/" + below
		}
		return part{text: "trimspace(file(" + c.expression(path) + "))", expression: true}
	}
	name := cmp.Or(group(1), group(3))
	switch name {
	case "workspaceFolder", "workspaceRoot":
		c.note("${%s} became the directory of the configuration", name)
		return part{text: "."}
	case "userHome":
		return part{text: c.variable("HOME"), expression: true}
	}
	if at[2*2] >= 0 || at[2*4] >= 0 {
		return part{text: fmt.Sprintf("env(%s, %s)", quote(name), quote(group(2)+group(4))), expression: true}
	}
	return part{text: c.variable(name), expression: true}
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
	return part{text: c.variable(variable), expression: true}
}

var notVariable = lazyregexp.New(`[^A-Za-z0-9_]+`)

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

func (c *converter) expression(text string) string { return join(c.parts(text)) }

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
		case !isShown(r):
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
