package clientimport

import (
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// body writes what is in the block of a server. The converter calls it for each server.
func (c *converter) body(s clientconfig.Server) {
	if s.URL == "" {
		c.program(s)
	} else {
		c.remote(s)
	}
	c.out.tools(s)
	c.out.times(s)
	if s.Idle != "" {
		c.out.line("idle = %q", s.Idle)
	}
	if s.Required {
		c.out.line("required = true")
	}
}

func (c *converter) program(s clientconfig.Server) {
	c.out.line(`transport "stdio" {`)
	c.visible = true
	c.out.line("command = %s", c.command(s.Command))
	c.visible = false
	c.environmentOf(s)
	if pass := slices.Concat(s.PassEnv, c.passed); len(pass) > 0 {
		c.out.line("pass_env = %s", list(pass))
	}
	if s.Dir != "" {
		c.visible, c.where = true, "cwd"
		c.out.line("cwd = %s", c.expression(s.Dir))
		c.visible = false
	}
	c.out.line("}")
}

// environmentOf writes the variables of a program: those of files, and then its own.
func (c *converter) environmentOf(s clientconfig.Server) {
	s.Env = c.proper("env", s.Env, variable, func(rune) bool { return false })
	if len(s.EnvFiles) == 0 {
		c.valueMap("env = {", "env", s.Env)
		return
	}
	c.out.line("env = merge(concat(")
	for _, path := range s.EnvFiles {
		c.where = "envFile"
		c.out.line(`[for line in split("\n", %s) : { (%s) = %s } if %s],`,
			c.contentOf(path), lineName, lineValue, lineHasBoth)
	}
	c.valueMap("[{", "env", s.Env)
	if len(s.Env) > 0 {
		c.out.line("]")
	} else {
		c.out.line("[]")
	}
	c.out.line(")...)")
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
				c.needs.absent = append(c.needs.absent, path) // whether it exists depends on the reference
			}
			return "file(" + join(all) + ")"
		}
		text.WriteString(p.text)
	}
	if below, ok := strings.CutPrefix(text.String(), "~/"); ok {
		return c.needs.fileIn(c.needs.variable("HOME"), below)
	}
	c.needs.file(text.String())
	return "file(" + quote(text.String()) + ")"
}

func (c *converter) remote(s clientconfig.Server) {
	c.out.line(`transport "http" {`)
	c.visible = true
	c.out.line("url = %s", c.address(s.URL))
	c.visible = false
	if s.SSE {
		c.out.line(`mode = "sse"`)
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
	c.out.line("}")
	c.auth(s, headers, command)
}

// valueMap writes a map whose values may be secrets, behind what opens it.
func (c *converter) valueMap(opening, of string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	c.out.line("%s", opening)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		c.out.line("%s = %s", key(name), c.value(of+"."+name, name, values[name]))
	}
	c.out.line("}")
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
func (c *converter) proper(of string, values map[string]string, name *lazyregexp.Regexp,
	bad func(rune) bool) map[string]string {
	kept := maps.Clone(values)
	var first []string
	for _, n := range slices.Sorted(maps.Keys(values)) {
		twice := of == "headers" &&
			slices.ContainsFunc(first, func(other string) bool { return strings.EqualFold(other, n) })
		if twice || !name.MatchString(n) || strings.ContainsFunc(values[n], bad) {
			c.note("%s.%s was left out: its name occurs twice, or the name or the value has a character that none can have",
				of, shownName(n))
			delete(kept, n)
			continue
		}
		first = append(first, n)
	}
	return kept
}
