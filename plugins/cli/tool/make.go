package tool

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

var (
	errEmpty = errors.New("is empty")
	errGlob  = errors.New("has a bracket without a closing bracket")
)

// Options configure the tools of a program. The lists are patterns for paths,
// see [discover.Match], or for options.
type Options struct {
	Globals []string // options of parent commands to offer
	Omit    []string // options not to offer

	Commands                             []string // patterns for the commands that were selected; empty for all
	Read, Write, Destructive, Idempotent []string // patterns for paths

	Stdin   bool // every tool has a parameter stdin
	NoStdin bool // no tool has; without both, those have it whose programs read standard input
	Free    *regexp.Regexp

	Brief  bool     // shorten descriptions
	Only   []string // options to offer, as "PATH OPTION" or "OPTION"; empty for the common ones
	Common int      // number of options of a tool if Only does not apply; 0 for all
	Budget int      // estimated tokens of the options of a program's only tool, in place of Common if more fit; may be 0
	single bool     // the program has one tool, and a Budget applies
	tools  int      // number of tools of the program

	Command    []string      // the program with its fixed arguments; may be nil
	Executable string        // its resolved file, if known
	Rules      *danger.Rules // what is dangerous; nil for nothing
	Dangerous  []string      // dangerous options and commands to offer
	Confined   bool          // paths must stay within the working directory
	Bounded    bool          // the working directory is not the root of the file system
}

// The values of the attribute paths.
const (
	PathsCwd = "cwd"
	PathsAny = "any"
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

// words returns the path of a command for comparison with patterns. For the
// root it is the program's name, as in the name of its tool.
func (o *Options) words(p *model.Program, c *model.Command) []string {
	if len(c.Path) == 0 {
		return []string{p.Name}
	}
	return c.Path
}

// runnable returns the runnable commands that have been asked, each once and
// parents first.
func runnable(p *model.Program) []*model.Command {
	var all []*model.Command
	seen := map[string]bool{}
	var walk func(c *model.Command)
	walk = func(c *model.Command) {
		key := strings.Join(c.Path, "\x00")
		if c.Runnable && !c.Unasked && !seen[key] || len(c.Path) == 0 && len(c.Commands) == 0 {
			seen[key] = true
			all = append(all, c)
		}
		for _, sub := range c.Commands {
			walk(sub)
		}
	}
	if p.Root != nil {
		walk(p.Root)
	}
	return all
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
			Required: required, Repeatable: pos.Repeatable || plural[strings.ToLower(pos.Name)], AfterTerminator: pos.AfterTerminator,
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
	if name == "" || slices.ContainsFunc(c.Positionals, func(p model.Positional) bool { return o.Rules.Content(c.Path, "<"+p.Name+">").Text }) {
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

// access returns the access of a command from the configuration, the table or
// its name.
func (o *Options) access(p *model.Program, c *model.Command, offered []Parameter) Access {
	words := o.words(p, c)
	for _, said := range []struct {
		kind     string
		patterns []string
	}{{Destructive, o.Destructive}, {Write, o.Write}, {Read, o.Read}} {
		if matchesAny(said.patterns, words) {
			return Access{Kind: said.kind, From: "configuration"}
		}
	}
	access := guess(p.Name, c.Path, o.Rules.Is(c.Path, "verbs"))
	switch {
	case o.Rules.Is(c.Path, "writes"):
		return Access{Kind: Write, From: FromTable}
	case o.Rules.Is(c.Path, "read"):
		access = Access{Kind: Read, From: FromTable}
	}
	if (access.Kind == Read || access.looksReading()) && o.writes(c.Path, offered) != nil {
		return Access{Kind: Write, From: "unknown"}
	}
	return access
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
		return slices.Contains(o.Names, "--"+pos.Name) && strings.EqualFold(strings.Trim(o.Value.Placeholder, "<>[]"), pos.Name)
	})
}

// plural are names of arguments that are lists even if the usage has no dots
// after them: "diff [OPTION]... FILES".
var plural = map[string]bool{"files": true, "filenames": true, "paths": true, "directories": true, "dirs": true, "packages": true, "urls": true, "hosts": true}

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

// predicate reports whether an option is part of an expression.
func predicate(opt model.Option) bool {
	return len(opt.Names) > 0 && len(opt.Names[0]) > 2 && !strings.HasPrefix(opt.Names[0], "--")
}

// forPeople are options that only show help or need a terminal. For the value
// true this applies only to options without a value.
var forPeople = map[string]bool{
	"help": false, "help-all": false, "usage": true, "version": true, "pager": false, "no-pager": true, "paginate": true,
	"edit": true, "editor": false, "interactive": true, "tty": true,
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

func quoted(list []string) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", s)
	}
	return b.String()
}
