package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// An Option is one way to use the server of an entry: a package, or a remote.
type Option struct {
	Kind    string // the type of the package, such as npm; or "remote"
	Problem string // why it cannot be used; empty: it can
	pack    *Package
	remote  *Remote
}

// Options returns the ways to use the server: packages first, then remotes, streamable HTTP
// before server-sent events.
func (e Entry) Options() (all []Option) {
	for i := range e.Packages {
		p := &e.Packages[i]
		all = append(all, Option{Kind: p.Type, Problem: p.problem(), pack: p})
	}
	for _, of := range []string{"streamable-http", "sse"} {
		for i := range e.Remotes {
			if e.Remotes[i].Type == of {
				all = append(all, Option{Kind: "remote", remote: &e.Remotes[i]})
			}
		}
	}
	return all
}

// A Question asks for a value that the entry leaves to the user.
type Question struct {
	ID          string // unique in an entry
	Description string
	Secret      bool
	Choices     []string
}

// A Request says what a server block is made of.
type Request struct {
	Name   string // of the block
	Option Option
	Given  map[string]string // values by the ID of a question
	// Ask answers a question about what the server needs and Given does not have. If ok is
	// false, the block refers to the environment or the secret store instead. Secrets are
	// always referred to. May be nil.
	Ask func(Question) (value string, ok bool)
}

// A Server is what a request comes to. Its values refer to Inputs as ${input:ID}; no other
// text in them is a reference.
type Server struct {
	clientconfig.Server
	Inputs []clientconfig.Input
	Notes  []string // what was left out, and what is not pinned
}

// Server makes a server of an entry. The error has the code registry.entry.
func (e Entry) Server(r Request) (Server, error) {
	b := builder{given: r.Given, answer: r.Ask, asked: map[string]string{}}
	b.out.Name = r.Name
	var err error
	switch {
	case r.Option.Problem != "":
		err = fmt.Errorf("%s", r.Option.Problem)
	case r.Option.pack != nil:
		err = b.program(r.Option.pack)
	default:
		err = b.remote(r.Option.remote)
	}
	if err != nil {
		return Server{}, fault.Because(fault.RegistryEntry, err, "%s %s cannot be used", e.Name, e.Version).
			WithHint("add the server by its command or URL: junctor add NAME -- COMMAND")
	}
	return b.out, nil
}

// The forms of package names. A name is part of a command line, so it begins with no dash,
// and a package manager must not take it for a URL, a path or a repository.
var (
	forms = map[string]*lazyregexp.Regexp{
		"npm":   lazyregexp.New(`^(@[a-z0-9~][a-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*$`),
		"pypi":  lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._-]+\])?$`),
		"oci":   lazyregexp.New(`^[a-z0-9][a-zA-Z0-9.:/_-]*(@sha256:[0-9a-f]{64})?$`),
		"nuget": lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*$`),
	}
	version = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.+_-]*$`)
)

// homes are the package registries that the programs ask unless they are told otherwise.
var homes = map[string][]string{
	"npm":   {"https://registry.npmjs.org"},
	"pypi":  {"https://pypi.org"},
	"nuget": {"https://api.nuget.org", "https://api.nuget.org/v3/index.json"},
}

// problem returns why a package cannot be used.
func (p *Package) problem() string {
	form, known := forms[p.Type]
	switch {
	case p.Type == "mcpb":
		return "a bundle (.mcpb) must be downloaded and unpacked; Junctor does not do that"
	case !known:
		return fmt.Sprintf("packages of the type %q are not known", p.Type)
	case !form.MatchString(p.Identifier) || strings.Contains(p.Identifier, ".."):
		return fmt.Sprintf("%q is not the name of a package of the type %s", p.Identifier, p.Type)
	case p.Version != "" && !version.MatchString(p.Version):
		return fmt.Sprintf("%q is not a version", p.Version)
	case p.Transport.Type != "" && p.Transport.Type != "stdio":
		return fmt.Sprintf("the package is reached by %s at an address of its own; start it yourself and add its URL",
			p.Transport.Type)
	case p.Registry != "" && homes[p.Type] != nil &&
		!slices.Contains(homes[p.Type], strings.TrimSuffix(p.Registry, "/")):
		return fmt.Sprintf("the package is in %s, and %s asks another registry", p.Registry, p.Type)
	}
	return ""
}

// A builder makes one server.
type builder struct {
	out    Server
	given  map[string]string
	answer func(Question) (string, bool)
	asked  map[string]string // the values by question
}

func (b *builder) note(format string, args ...any) {
	b.out.Notes = append(b.out.Notes, fmt.Sprintf(format, args...))
}

// program builds the command line of a package: the launcher with its own arguments, the
// package with its version, and the arguments of the package.
func (b *builder) program(p *Package) error {
	before, err := b.arguments(p.RuntimeArguments)
	if err != nil {
		return err
	}
	after, err := b.arguments(p.PackageArguments)
	if err != nil {
		return err
	}
	if p.Version == "" && !strings.Contains(p.Identifier, ":") || p.Version == "latest" {
		b.note("the entry names no version of the package %s, so a newer one may run tomorrow", p.Identifier)
	}
	if err := b.environment(p); err != nil {
		return err
	}
	b.out.Command = append(p.launch(before, slices.Sorted(maps.Keys(b.out.Env))), after...)
	if p.Type == "nuget" && len(after) > 0 {
		b.out.Command = slices.Concat(p.launch(before, nil), []string{"--"}, after)
	}
	return nil
}

// pinned returns the package with its version, as it is in the command line.
func (p *Package) pinned() string {
	switch {
	case p.Version == "":
		return p.Identifier
	case p.Type != "oci":
		return p.Identifier + "@" + p.Version
	}
	if last := p.Identifier[strings.LastIndexByte(p.Identifier, '/')+1:]; strings.ContainsAny(last, ":@") {
		return p.Identifier
	}
	return p.Identifier + ":" + p.Version
}

// launch returns the command line up to the package.
func (p *Package) launch(own, variables []string) []string {
	pinned := p.pinned()
	switch p.Type {
	case "npm":
		if !slices.Contains(own, "-y") && !slices.Contains(own, "--yes") {
			own = append([]string{"-y"}, own...)
		}
		return slices.Concat([]string{"npx"}, own, []string{pinned})
	case "pypi":
		return slices.Concat([]string{"uvx"}, own, []string{pinned})
	case "nuget":
		return slices.Concat([]string{"dnx"}, own, []string{pinned, "--yes"})
	}
	words := []string{"docker", "run", "-i", "--rm"}
	for _, name := range variables {
		words = append(words, "-e", name)
	}
	return slices.Concat(words, own, []string{pinned})
}

var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// environment resolves the variables of a package.
func (b *builder) environment(p *Package) error {
	for _, v := range p.Environment {
		if !variableName.MatchString(v.Name) {
			return fmt.Errorf("%q is not the name of a variable", v.Name)
		}
		text, given, err := b.input(v.Input, v.Name)
		if err != nil {
			return err
		}
		if given {
			put(&b.out.Env, v.Name, text)
		}
	}
	return nil
}

func put(in *map[string]string, name, value string) {
	if *in == nil {
		*in = map[string]string{}
	}
	(*in)[name] = value
}

// arguments resolves arguments. One that is optional and has no value is left out.
func (b *builder) arguments(all []Argument) (words []string, err error) {
	for _, a := range all {
		id := a.id()
		if a.Type == "named" && a.Value == "" && a.Default == "" && !a.Required && a.Description == "" &&
			len(a.Variables) == 0 {
			words = append(words, a.Name) // a flag
			continue
		}
		text, given, err := b.input(a.Input, id)
		switch {
		case err != nil:
			return nil, err
		case !given:
			continue
		case a.Type == "named":
			words = append(words, a.Name)
		}
		if text != "" {
			words = append(words, text)
		}
		if a.Repeated {
			b.note("%s may be given several times: edit command", id)
		}
	}
	for _, w := range words {
		if strings.ContainsAny(w, "\x00\n\r") {
			return nil, fmt.Errorf("an argument contains a line break")
		}
	}
	return words, nil
}

// remote resolves a URL and its headers.
func (b *builder) remote(r *Remote) error {
	text, err := b.template(r.URL, r.Variables)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(text, "https://") {
		return fmt.Errorf("%q is not reached over HTTPS", r.URL)
	}
	b.out.URL, b.out.SSE = text, r.Type == "sse"
	for _, h := range r.Headers {
		value, given, err := b.input(h.Input, h.Name)
		if err != nil {
			return err
		}
		if given {
			put(&b.out.Headers, h.Name, value)
		}
	}
	return nil
}
