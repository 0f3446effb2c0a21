package clientimport

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

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
	if s.Required {
		c.line("required = true")
	}
}

func (c *converter) program(s clientconfig.Server) {
	c.line(`transport "stdio" {`)
	c.visible = true
	c.line("command = %s", c.command(s.Command))
	c.visible = false
	c.environmentOf(s)
	if pass := slices.Concat(s.PassEnv, c.passed); len(pass) > 0 {
		c.line("pass_env = %s", list(pass))
	}
	if s.Dir != "" {
		c.visible, c.where = true, "cwd"
		c.line("cwd = %s", c.expression(s.Dir))
		c.visible = false
	}
	c.line("}")
}

// environmentOf writes the variables of a program: those of files, and then its own.
func (c *converter) environmentOf(s clientconfig.Server) {
	s.Env = c.proper("env", s.Env, variable, func(rune) bool { return false })
	if len(s.EnvFiles) == 0 {
		c.valueMap("env = {", "env", s.Env)
		return
	}
	c.line("env = merge(concat(")
	for _, path := range s.EnvFiles {
		c.where = "envFile"
		c.line(`[for line in split("\n", %s) : { (%s) = %s } if %s],`, c.contentOf(path), lineName, lineValue, lineHasBoth)
	}
	c.valueMap("[{", "env", s.Env)
	if len(s.Env) > 0 {
		c.line("]")
	} else {
		c.line("[]")
	}
	c.line(")...)")
}

// The parts of a line NAME=VALUE of a file of variables, as expressions.
const (
	lineName    = `trimspace(trimprefix(trimspace(split("=", line)[0]), "export "))`
	lineValue   = `trim(trimspace(trimprefix(line, format("%s=", split("=", line)[0]))), "\"'")`
	lineHasBoth = `length(split("=", line)) > 1 && !startswith(trimspace(line), "#")`
)

// contentOf returns the content of a file of variables. A relative path starts at the project
// there, and at the configuration here.
func (c *converter) contentOf(path string) string {
	all := c.parts(path)
	text := strings.Builder{}
	for _, p := range all {
		if p.expression {
			if c.in.IsFile != nil {
				c.absent = append(c.absent, path) // whether it exists depends on the reference
			}
			return "file(" + join(all) + ")"
		}
		text.WriteString(p.text)
	}
	if below, ok := strings.CutPrefix(text.String(), "~/"); ok {
		return c.fileIn(c.variable("HOME"), below)
	}
	c.need(text.String())
	return "file(" + quote(text.String()) + ")"
}

// fileIn returns the content of a file in a directory that is an expression.
func (c *converter) fileIn(dir, below string) string {
	c.need("~/" + below)
	return "file(" + join([]part{{text: dir, expression: true}, {text: "/" + below}}) + ")"
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
	command := c.takeCommand(headers)
	c.valueMap("headers = {", "headers", c.proper("headers", headers, headerName, notInHeader))
	c.line("}")
	c.auth(s, headers, command)
}

// valueMap writes a map whose values may be secrets, behind what opens it.
func (c *converter) valueMap(opening, of string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	c.line("%s", opening)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		c.line("%s = %s", key(name), c.value(of+"."+name, name, values[name]))
	}
	c.line("}")
}

// The names of headers (RFC 9110 §5.6.2), and of variables.
var (
	headerName = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	variable   = lazyregexp.New("^[^=]+$")
)

// notInHeader reports whether the value of a header cannot have a character.
func notInHeader(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }

// proper returns the values whose names have a form, each once whatever its case, and that
// have no bad character. The others are noted.
func (c *converter) proper(of string, values map[string]string, name *lazyregexp.Regexp, bad func(rune) bool) map[string]string {
	kept := maps.Clone(values)
	var first []string
	for _, n := range slices.Sorted(maps.Keys(values)) {
		twice := of == "headers" && slices.ContainsFunc(first, func(other string) bool { return strings.EqualFold(other, n) })
		if twice || !name.MatchString(n) || strings.ContainsFunc(values[n], bad) {
			c.note("%s.%s was left out: its name occurs twice, or the name or the value has a character that none can have", of, shownName(n))
			delete(kept, n)
			continue
		}
		first = append(first, n)
	}
	return kept
}

func (c *converter) tools(s clientconfig.Server) {
	if s.Allow == nil && len(s.Deny) == 0 && len(s.Read) == 0 && len(s.Write) == 0 && len(s.Confirm) == 0 {
		return
	}
	c.line("tools {")
	if s.Allow != nil { // a denial wins, there and here
		c.line("allow = %s", list(slices.DeleteFunc(slices.Clone(s.Allow), func(tool string) bool { return slices.Contains(s.Deny, tool) })))
	}
	c.listed("deny", s.Deny)
	c.listed("confirm", s.Confirm)
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
			c.line("%s = %q", t.name, shortTime(t.d))
		}
	}
	c.line("}")
}

// shortTime returns a duration without units that are zero.
func shortTime(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}
