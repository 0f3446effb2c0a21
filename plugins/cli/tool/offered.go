package tool

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// offered returns the options of a command that its tool may offer, apart from the limit on
// their number. It records the others in the tool.
func (o *Options) offered(t *Tool, p *model.Program, c *model.Command, listed *Expression) []*model.Option {
	words := o.words(p, c)
	var offered []*model.Option
	for i := range c.Options {
		opt := &c.Options[i]
		if !o.admits(words, opt.Names) {
			opt = o.Rules.Enumerated(c.Path, opt)
		}
		if len(opt.Names) == 0 || t.Ordered && predicate(*opt) {
			continue
		}
		if o.isOuter(c, opt) {
			t.addOuter(o, opt)
			continue
		}
		if !o.offers(c.Path, opt) || listed.covers(opt) || t.leavesOut(o, p, words, opt) {
			continue
		}
		offered = append(offered, opt)
	}
	return offered
}

// offers reports whether an option becomes a property, apart from the limit on
// their number.
func (o *Options) offers(path []string, opt *model.Option) bool {
	switch {
	case matchesOption(o.Omit, opt.Names):
		return false
	case strings.Trim(opt.Names[0], "-+") == "":
		return false // "--" ends the options; package run places it
	case opt.Value.Arity > MaxTuple, opt.Value.Arity > 1 && (opt.Value.Optional || opt.Value.Equals || opt.Value.Glued):
		return false
	case opt.Value.Arity > 1 && o.Rules.Known() && !(opt.Value.Arity == 2 && o.Rules.Content(path, opt.Names[0]).Map):
		return false // the table says nothing about the single values
	}
	return opt.Required || !useless(opt)
}

// predicate reports whether an option is part of an expression.
func predicate(opt model.Option) bool {
	return len(opt.Names) > 0 && len(opt.Names[0]) > 2 && !strings.HasPrefix(opt.Names[0], "--")
}

// forPeople are options that only show help or need a terminal. For the value
// true this applies only to options without a value.
var forPeople = map[string]bool{
	"help": false, "help-all": false, "usage": true, "version": true, "pager": false, "no-pager": true,
	"paginate": true,
	"edit":     true, "editor": false, "interactive": true, "tty": true,
}

// helping matches the description of an option that shows help.
var helping = regexp.MustCompile(`\b(help|usage)\b|\bprint (basic|all|more|the)? ?options\b`)

// useless reports whether an option is of no use to a model.
func useless(opt *model.Option) bool {
	takes := opt.Value.Kind.TakesValue() && !opt.Value.Optional
	onlyLetters := true
	for _, name := range opt.Names {
		bare := strings.TrimLeft(name, "-")
		if without, known := forPeople[bare]; known && !(without && takes) {
			return true
		}
		onlyLetters = onlyLetters && len(bare) == 1
	}
	about := strings.ToLower(opt.Description)
	if first := opt.Names[0]; onlyLetters && (first == "-h" || first == "-?") && helping.MatchString(about) {
		return true // also with a value, which names what to explain
	}
	if takes || !onlyLetters {
		return false
	}
	switch opt.Names[0] {
	case "-V", "-v":
		return strings.Contains(about, "version")
	}
	return false
}

// scopes are names of options of a whole program that select what its commands
// work on. Without them a command is often of no use, such as "pr list" of gh
// outside of a clone.
var scopes = []string{
	"repo", "repository", "namespace", "context", "project", "project-id", "region", "profile", "cluster", "zone",
	"account", "org", "organization", "workspace", "subscription", "resource-group", "tenant",
}

// isOuter reports whether an option of the whole program, or of a command above,
// is left out: Globals does not name it, and it is no scope that the command's
// own help has.
func (o *Options) isOuter(c *model.Command, opt *model.Option) bool {
	if !opt.Inherited || matchesOption(o.Globals, opt.Names) {
		return false
	}
	answered := c.Source != "list" && c.Source != "none"
	return !answered || !opt.Value.Kind.TakesValue() || !slices.ContainsFunc(opt.Names, isScope)
}

func isScope(spelling string) bool {
	name, long := strings.CutPrefix(spelling, "--")
	return long && slices.Contains(scopes, name)
}

// addOuter records an option that is left out, if it could be offered.
func (t *Tool) addOuter(o *Options, opt *model.Option) {
	if _, dangerous := o.Rules.Option(t.Command.Path, opt); !dangerous && o.offers(t.Command.Path, opt) {
		t.Outer = append(t.Outer, opt.Names[0])
	}
}
