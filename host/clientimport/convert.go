package clientimport

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// A Result is what a client's file says, as a configuration. It is the caller's.
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

// Convert writes the servers of a file as blocks, and who may use them as a policy. Servers
// whose names are taken already are left out. A server that needs a variable or a file that
// does not exist is written as disabled, because a configuration that reads it is not valid.
func Convert(file clientconfig.Content, in Environment) Result {
	c := converter{in: in, inputs: file.Inputs, names: map[string]bool{}, labels: map[string]string{}}
	for _, name := range in.Taken {
		c.names[name] = true
	}
	var names []string
	for _, s := range file.Servers {
		names = append(names, s.Name)
	}
	c.here = labels(names)
	for _, s := range file.Servers {
		c.convert(s)
	}
	c.HCL = hclwrite.Format([]byte(c.out.String()))
	c.Notes = append(c.Notes, file.Notes...)
	c.policy(file)
	return c.Result
}

// ConvertEntry writes a server from a registry as a block. Its values refer to inputs only: all
// other text stands for itself. origin is NAME@VERSION.
func ConvertEntry(s clientconfig.Server, inputs []clientconfig.Input, origin string,
	isSet func(variable string) bool) Result {
	c := converter{in: Environment{IsSet: isSet}, inputs: inputs, names: map[string]bool{}, origin: origin,
		here: map[string]string{s.Name: label(s.Name)}}
	c.convert(s)
	c.HCL = hclwrite.Format([]byte(c.out.String()))
	return c.Result
}

type converter struct {
	Result
	in     Environment
	origin string // in a registry; empty: the server is from a client
	inputs []clientconfig.Input
	names  map[string]bool   // of servers, taken
	here   map[string]string // the names here of all servers of the file
	labels map[string]string // of the servers that were imported
	out    blockText

	secretInputs map[string]bool   // by id; made when it is first needed
	named        map[string]Secret // by the name in keyring(), or before it became one of a variable

	present
}

// present is what a converter knows of the server and the setting that it writes.
type present struct {
	server   clientconfig.Server
	name     string // of the server
	where    string // the setting in the client's file
	visible  bool   // the setting is not for secrets
	inArgs   bool   // the setting is an argument
	script   bool   // the argument is a script of the server's own shell
	resolves bool   // the program follows references to 1Password
	needs    needs
	passed   []string // variables that it gets from junctor's environment
}

// note adds a sentence about the present server, once.
func (c *converter) note(format string, args ...any) {
	text := shownName(c.name) + ": " + fmt.Sprintf(format, args...)
	if !slices.Contains(c.Notes, text) {
		c.Notes = append(c.Notes, text)
	}
}

// convert writes a server, or a note that says why it is not imported.
func (c *converter) convert(s clientconfig.Server) {
	c.present = present{
		needs:    needs{in: c.in},
		server:   s,
		name:     s.Name,
		resolves: len(s.Command) > 1 && program(s.Command[0]) == "op" && s.Command[1] == "run",
	}
	name := c.here[s.Name]
	switch {
	case s.Problem != "":
		where := ""
		if s.Place != (clientconfig.Place{}) {
			where = " (at " + s.Place.String() + ")"
		}
		c.note("not imported: %s%s", s.Problem, where)
		return
	case hasText(s, func(text string) bool { return strings.Contains(text, mark) }):
		c.note("not imported: it has a NUL character, which no program or header can have")
		return
	case hasText(s, func(text string) bool { return len(text) > maxText }):
		c.note("not imported: it has a text of more than %d KiB", maxText>>10)
		return
	case isJunctor(s.Command):
		c.note("not imported: it starts Junctor itself")
		return
	case isGateway(s) && c.origin == "":
		c.note("not imported: it is the gateway, as junctor export writes it; rename it if it is another server")
		return
	case name != s.Name && c.names[name]:
		c.note("not imported: the configuration has a server %s, which is its name here", name)
		return
	case c.names[name]:
		c.note("the configuration has a server of this name already")
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
	c.block()
	for _, n := range s.Notes {
		c.note("%s", n)
	}
	if len(s.Ignored) > 0 {
		c.note("has no equivalent here: %s", strings.Join(s.Ignored, ", "))
	}
}

// block writes the block of the present server.
func (c *converter) block() {
	if c.out.Len() > 0 {
		c.out.line("")
	}
	before := c.out.String()
	c.out.Reset()
	c.body(c.server)
	body := c.out.String()
	c.out.Reset()
	c.out.WriteString(before)
	c.out.line("server %q {", c.name)
	if c.origin != "" {
		c.out.line("registry = %s", quote(c.origin))
	}
	if c.server.Disabled || c.needs.first() != "" {
		c.out.line("enabled = false")
	}
	c.out.WriteString(body)
	c.out.line("}")
	if first := c.needs.first(); first != "" {
		c.note("is disabled: %s, then remove enabled = false", first)
	}
}

// Others returns the servers of a file without Junctor itself, as export writes it.
func Others(all []clientconfig.Server) (others []clientconfig.Server) {
	for _, s := range all {
		if !isJunctor(s.Command) && !isGateway(s) {
			others = append(others, s)
		}
	}
	return others
}

// isGateway reports whether a server is Junctor's address, as export writes it.
func isGateway(s clientconfig.Server) bool { return s.Name == "junctor" && s.URL != "" }

// isJunctor reports whether a command is an entry that export wrote.
func isJunctor(command []string) bool {
	return len(command) > 1 && command[1] == "serve" &&
		strings.TrimSuffix(filepath.Base(command[0]), ".exe") == "junctor"
}

// maxText is the maximum size of a text of a server in bytes.
const maxText = 64 << 10

// hasText reports whether a server has a text of some kind.
func hasText(s clientconfig.Server, is func(text string) bool) bool {
	texts := slices.Concat(s.Command, []string{s.Dir, s.URL, s.Helper}, s.EnvFiles)
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for name, value := range values {
			texts = append(texts, name, value)
		}
	}
	return slices.ContainsFunc(texts, is)
}
