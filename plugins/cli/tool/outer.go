package tool

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// scopes are names of options of a whole program that select what its commands
// work on. Without them a command is often of no use, such as "pr list" of gh
// outside of a clone.
var scopes = []string{
	"repo", "repository", "namespace", "context", "project", "project-id", "region", "profile", "cluster", "zone", "account", "org", "organization",
	"workspace", "subscription", "resource-group", "tenant",
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
