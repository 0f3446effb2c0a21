package tool

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// FromProgram returns a tool for each runnable command that is not dangerous.
func FromProgram(p *model.Program, o Options) []*Tool {
	commands := slices.DeleteFunc(runnable(p), func(c *model.Command) bool {
		_, skipped := o.skips(p, c)
		return skipped
	})
	o.tools = len(commands)
	o.single = o.tools == 1 && o.Budget > 0
	var tools []*Tool
	for _, c := range commands {
		tools = append(tools, o.make(p, c))
	}
	nameTools(p.Name, tools)
	return tools
}

// make builds the tool of a command.
func (o *Options) make(p *model.Program, c *model.Command) *Tool {
	t := &Tool{Command: c, Stdin: o.Stdin, Free: o.Free, Brief: o.Brief}
	words := o.words(p, c)
	t.applyRules(o, words)
	t.addStdin(o)
	listed := o.expression(t, c.Path, words)
	t.Ordered = listed == nil && expression(c)
	taken := properties{}
	if t.Stdin {
		taken[StdinName] = true
	}
	if o.Free != nil {
		taken[FreeName] = true
	}
	spelled := map[string]string{}
	offered, left := o.choose(c.Path, words, o.offered(t, p, c, listed))
	for _, opt := range offered {
		for _, names := range distinctSpellings(opt) {
			param := Parameter{
				Name: taken.option(names), Role: OptionRole, Spelling: names[0], Negation: opt.Negation,
				Description: opt.Description, Value: opt.Value, Required: opt.Required, Repeatable: opt.Repeatable,
			}
			if param.Repeatable && param.Value.Kind == model.Bool {
				param.Value.Kind = model.Count
			}
			param.classify(o.Rules, c.Path, names...)
			param.mapped()
			if slices.Contains(t.Written, opt.Names[0]) {
				param.written()
			}
			for _, name := range names {
				spelled[name] = param.Name
			}
			t.Parameters = append(t.Parameters, param)
		}
	}
	o.addPositionals(t, listed, taken)
	t.Conflicts = conflicts(c.Conflicts, spelled)
	t.Access = o.access(p, c, t.Parameters)
	t.lowerAccess()
	t.Idempotent = matchesAny(o.Idempotent, words)
	t.LeftOut = spellings(left)
	t.Written = slices.DeleteFunc(t.Written, func(name string) bool { return slices.Contains(t.LeftOut, name) })
	t.note, t.others = leftOut(offered, left), o.others(c.Path, words, left, o.tools)
	t.Description = describe(p.Name, t)
	t.finish()
	return t
}

// addPositionals adds the parameters of the positionals, and of the expression at the end.
func (o *Options) addPositionals(t *Tool, listed *Expression, taken properties) {
	c := t.Command
	positionals := o.positionals(c)
	for i := range positionals {
		pos := &positionals[i]
		if t.Ordered && i == len(positionals)-1 || listed.replaces(pos) {
			continue // it is the expression
		}
		required := pos.Required && !replaceable(c.Options, pos) && !hasInfoOption(c.Options)
		param := Parameter{
			Name: taken.positional(pos), Role: PositionalRole, Description: pos.Description, Value: pos.Value,
			Required: required, Repeatable: pos.Repeatable || plural[strings.ToLower(pos.Name)],
			AfterTerminator: pos.AfterTerminator,
		}
		param.classify(o.Rules, c.Path, "<"+pos.Name+">")
		t.needInput(&param, o, "<"+pos.Name+">")
		t.Parameters = append(t.Parameters, param)
	}
	t.replaceByStdin(o)
	if listed != nil {
		t.Parameters = append(t.Parameters, listed.parameter())
	}
}

// positionals returns the positionals of a command. It adds the first one if the table
// knows it and the help has none that is a text, as that of gawk.
func (o *Options) positionals(c *model.Command) []model.Positional {
	name := o.Rules.FirstName(c.Path)
	if name == "" || slices.ContainsFunc(c.Positionals,
		func(p model.Positional) bool { return o.Rules.Content(c.Path, "<"+p.Name+">").Text }) {
		return c.Positionals
	}
	all := []model.Positional{{Name: name, Value: model.Value{Kind: model.String}, Required: true}}
	for _, p := range c.Positionals {
		p.Required, p.AfterTerminator = false, false
		all = append(all, p)
	}
	return all
}

// conflicts replaces spellings by parameter names and drops options that are
// not offered.
func conflicts(sets [][]string, spelled map[string]string) [][]string {
	var all [][]string
	for _, set := range sets {
		var names []string
		for _, spelling := range set {
			if name := spelled[spelling]; name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) > 1 {
			all = append(all, names)
		}
	}
	return all
}

// distinctSpellings splits the spellings of an option where several long ones
// may have different meanings. Programs explain "--author=X, --committer=X" in
// one entry, and also "--since=X, --after=X"; offering both spellings is right
// in either case.
func distinctSpellings(opt *model.Option) [][]string {
	all := [][]string{opt.Names}
	if opt.Required || opt.Negation != "" {
		return all
	}
	for i, name := range opt.Names[1:] {
		long := strings.HasPrefix(name, "--") && strings.HasPrefix(opt.Names[0], "--")
		if long && (opt.Value.Kind.TakesValue() || differInFirstWord(name, opt.Names[0])) {
			all[0] = slices.DeleteFunc(slices.Clone(all[0]), func(s string) bool { return s == name })
			all = append(all, opt.Names[i+1:i+2])
		}
	}
	return all
}

// differInFirstWord reports whether two spellings differ only in their first word, as
// "--left-only" and "--right-only".
func differInFirstWord(a, b string) bool {
	_, endA, _ := strings.Cut(a[2:], "-")
	_, endB, _ := strings.Cut(b[2:], "-")
	return endA != "" && endA == endB
}

// replaceable reports whether an option with the name of a positional can be
// given instead of it, as "--url <url>" of curl.
func replaceable(options []model.Option, pos *model.Positional) bool {
	return slices.ContainsFunc(options, func(o model.Option) bool {
		return slices.Contains(o.Names, "--"+pos.Name) &&
			strings.EqualFold(strings.Trim(o.Value.Placeholder, "<>[]"), pos.Name)
	})
}

// plural are names of arguments that are lists even if the usage has no dots
// after them: "diff [OPTION]... FILES".
var plural = map[string]bool{"files": true, "filenames": true, "paths": true, "directories": true, "dirs": true,
	"packages": true, "urls": true, "hosts": true}

var infoOption = regexp.MustCompile(`(?i)^(--? )?(shows?|lists?|prints?|displays?) (all |the |a list of )*(available|supported|known|installed|built-?in)\b`)

// hasInfoOption reports whether an option lists what is available, as
// "-formats" of ffmpeg. With such an option a call may leave out the
// positionals that other calls need.
func hasInfoOption(options []model.Option) bool {
	return slices.ContainsFunc(options, func(o model.Option) bool {
		return o.Value.Kind == model.Bool && infoOption.MatchString(strings.TrimSpace(o.Description))
	})
}

// expression reports whether a command takes an expression, as find does. The
// parts of an expression look like options but act in their order: "-delete
// -name x" deletes everything. Properties have no order.
func expression(c *model.Command) bool {
	last := len(c.Positionals) - 1
	return last >= 0 && c.Positionals[last].Name == "expression" && slices.ContainsFunc(c.Options, predicate)
}
