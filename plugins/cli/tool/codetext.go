package tool

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// checkPrograms returns the problems of a tool block whose values could become a part of a
// program, or name another one.
func checkPrograms(t *Tool, o *Options, path string) []error {
	c := codeChecker{o: o, path: path}
	c.below(t)
	return c.errs
}

// A codeChecker collects the problems with a tool block whose clients could choose a text that a program
// runs as code, such as a script of awk. It belongs to one call of CheckBlocks.
type codeChecker struct {
	o    *Options
	path string
	errs []error
}

func (c *codeChecker) failf(at, hint, format string, args ...any) {
	if at == "" {
		at = "argv" // of a fixed argument
	}
	e := sdk.AttrErrorf(c.path+"."+at, format, args...)
	e.Hint = hint
	c.errs = append(c.errs, e)
}

// below checks a program and those that it runs.
func (c *codeChecker) below(t *Tool) {
	c.runners(t)
	c.forced(t)
	c.texts(t, t.rules.Facts("code:"), t.from)
	if slices.Contains(t.rules.RunnerFacts("code:"), spaced) {
		c.texts(t, []string{spaced}, 0)
	}
	c.inner(t)
	for _, inner := range t.Inner {
		c.below(inner.Tool)
	}
}

// runners refuses a slot between a runner such as env and its program.
func (c *codeChecker) runners(t *Tool) {
	rules := t.rules
	for _, place := range rules.Open() {
		e := t.elementAt(place)
		if e == nil || c.plain(t, e) || c.allowed(rules.Runners()) {
			continue
		}
		name := rules.Runners()[0]
		c.failf(e.at, `fix it, give the argument values, or allow it with dangerous = ["`+name+`"]`,
			"a value before the program that %s runs could name another program or set a variable such as LD_PRELOAD",
			name)
	}
}

// allowed reports whether Dangerous names one of the programs.
func (c *codeChecker) allowed(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.o.admitsCommand([]string{name}) })
}

// elementAt returns the element of the template at a place in the command and the argument
// list, or nil.
func (t *Tool) elementAt(place int) *Element {
	n := place - 1 - len(t.Fixed)
	for i := range t.Template {
		e := &t.Template[i]
		switch {
		case e.Options || e.at == "":
			continue
		case n == 0:
			return e
		}
		n--
	}
	return nil
}

// forced refuses a program of busybox that needs an argument which busybox does not have.
func (c *codeChecker) forced(t *Tool) {
	forced := t.rules.Forced(nil)
	if len(forced) == 0 || strings.HasPrefix(forced[0], "?") || !t.rules.RunnerHas("applets") ||
		c.o.admits(nil, forced[:1]) || !t.reached(t.rules) {
		return
	}
	name := t.rules.Program()
	c.failf("argv", `use another `+name+`, or allow it with dangerous = ["`+forced[0]+`"]`,
		"a value could run commands or reach other files: %s of %s has no option %s, which would prevent that",
		name, t.rules.Runners()[0], forced[0])
}

// inner refuses a slot in the place of a program.
func (c *codeChecker) inner(t *Tool) {
	behind := t.rules.Facts("behind:")
	all := t.after()
	last := ""
	if len(all) > 0 {
		last = all[len(all)-1]
	}
	for i := t.from; i < len(t.Template); i++ {
		e := &t.Template[i]
		text, literal := e.literal()
		if !literal && !e.Options && slices.Contains(behind, last) && strings.HasPrefix(last, "-") && !c.plain(t, e) &&
			!c.o.admits(nil, []string{last}) {
			c.failf(e.at, `name the program, or allow it with dangerous = ["`+last+`"]`,
				"a value behind %s could name any program", last)
		}
		last = text
	}
}

// texts refuses slots in texts of programs. code has the options whose values are such texts.
func (c *codeChecker) texts(t *Tool, code []string, from int) {
	before := ""
	if fixed := t.after(); len(fixed) > 0 {
		before = fixed[len(fixed)-1]
	}
	for i := from; i < len(t.Template) && len(code) > 0; i++ {
		e := &t.Template[i]
		if e.Options {
			continue
		}
		option := cmp.Or(e.codeOption(code, before), e.codeOption(code, e.valueOf))
		if option != "" && !c.plain(t, e) && !c.o.admits(nil, []string{option}) {
			c.failf(e.at, hintOf(t.rules, option), "a value in the text of a program could add code to it")
		}
		before, _ = e.literal()
	}
}

// spaced is the name of a positional with spaces in the table.
const spaced = "<text>"

// hintOf says what to do with a value in a text.
func hintOf(rules *danger.Rules, option string) string {
	allow := `allow it with dangerous = ["` + option + `"]`
	switch {
	case rules.Expression(nil) != nil:
		return "make the whole text one argument, give the argument the type integer, number or enum, or " + allow
	case option == spaced:
		return "give the argument the type integer, number or enum, or a pattern of letters and digits, or " + allow
	}
	return `pass it as an argument of its own and read it there, as "$1" in argv = ["-c", "grep -e \"$1\" a.txt", "sh", "{pattern}"], or ` +
		allow
}

// codeOption returns the option whose value is a program text, if an element is such a text
// with a slot in it; before is the literal before the element. It is "" for a text that is
// one slot as a whole.
func (e *Element) codeOption(code []string, before string) string {
	if len(e.Slots()) == 0 {
		return ""
	}
	first := e.Parts[0].Text
	name, rest, glued := strings.Cut(first, "=")
	one, _ := danger.ClusterOption(code, first)
	switch {
	case !strings.HasPrefix(first, "-"):
		name, rest = "", first
	case !glued && one != "": // -e{code}
		name, rest = one, first[strings.Index(first, one[1:])+1:]
	}
	if whole := rest == "" && len(e.Parts) <= 2 && (len(e.Parts) == 1 || strings.HasPrefix(first, "-")); whole {
		return ""
	}
	switch {
	case name != "":
		return codeName(code, name)
	case codeName(code, before) != "":
		return codeName(code, before)
	case slices.Contains(code, spaced) &&
		slices.ContainsFunc(e.Parts, func(p Part) bool { return strings.ContainsAny(p.Text, " \t\n") }):
		return spaced
	}
	return ""
}

// codeName returns an option of the list by one of its spellings: -c for -lc, and -filter for
// -filter:v:0.
func codeName(code []string, spelling string) string {
	name, _, _ := strings.Cut(spelling, ":")
	if one, last := danger.ClusterOption(code, spelling); one != "" && last {
		return one
	}
	if slices.Contains(code, name) {
		return name
	}
	return ""
}

// plain reports whether no value of the slots of an element can be more than a word in the
// text of a program.
func (c *codeChecker) plain(t *Tool, e *Element) bool {
	return !slices.ContainsFunc(e.Parts, func(part Part) bool {
		p := t.Parameter(part.Slot)
		return p != nil && !part.File && !p.plain()
	})
}

// plain reports whether every value is a number, one of a list, or consists of letters,
// digits and signs that no language takes for code.
func (p *Parameter) plain() bool {
	switch {
	case p.Value.Kind == model.Integer, p.Value.Kind == model.Number, p.Map != nil, len(p.Value.Choices) > 0:
		return true
	case p.Pattern == nil || p.Value.Kind == model.Map:
		return false
	}
	tree, err := syntax.Parse(p.Pattern.String(), syntax.Perl)
	return err == nil && plainPattern(tree)
}

// plainSigns are the characters beside letters and digits of a plain text.
const plainSigns = "_.+"

// plainPattern reports whether a regular expression matches only plain texts.
func plainPattern(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return !slices.ContainsFunc(re.Rune, func(r rune) bool { return !plainRune(r) })
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i+1] > unicode.MaxASCII {
				return false
			}
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if !plainRune(r) {
					return false
				}
			}
		}
		return true
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	}
	return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !plainPattern(sub) })
}

func plainRune(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune(plainSigns, r)
}
