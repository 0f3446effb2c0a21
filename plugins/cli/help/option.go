package help

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

const maxOptions = 4000

// boostDefault matches a default as Boost prints it: "arg (=10)".
var boostDefault = regexp.MustCompile(` ?\(=([^()]*)\)$`)

// build returns the option for a parsed head and its description.
func build(sp spec, desc string) model.Option {
	o := model.Option{Names: ordered(sp.names), Negation: sp.negation, Description: desc,
		Value: model.Value{Kind: model.Bool}}
	if sp.taken {
		given := boostDefault.FindStringSubmatch(sp.value)
		if given != nil {
			sp.value = strings.TrimSuffix(sp.value, given[0])
		}
		o.Value = shape(strings.TrimSuffix(sp.value, ":"))
		if given != nil {
			o.Value.Default = given[1]
		}
		if p := strings.ToUpper(sp.value); o.Value.Kind == model.Bool && (p == sp.value && letter(p[0]) || sp.equals) {
			o.Value.Kind, o.Value.Choices = model.Enum, []string{"true", "false"}
		}
		o.Value.Optional, o.Value.Equals, o.Value.Glued = sp.optional, sp.equals, sp.glued
		p, many := strings.CutSuffix(o.Value.Placeholder, "...")
		if many && p != "" {
			o.Value.Placeholder, o.Value.Kind = p, kindOf(p)
		}
		o.Repeatable = (sp.dots || many) && sp.value != "..."
		typed(&o)
		preset(&o, sp)
	} else if sp.dots {
		o.Value.Kind, o.Repeatable = model.Count, true
	}
	if n := o.Negation; n == "" {
		pairNegation(&o)
	}
	if desc != "" || o.Value.Kind != model.Bool {
		enrich(&o, desc)
	}
	return o
}

// ordered moves the first long spelling to the front.
func ordered(names []string) []string {
	for i, n := range names {
		if strings.HasPrefix(n, "--") {
			return append([]string{n}, slices.Delete(slices.Clone(names), i, i+1)...)
		}
	}
	return names
}

// typed corrects the value if the placeholder is a type word: "--debug
// (boolean)".
func typed(o *model.Option) {
	switch o.Value.Kind {
	case model.Bool:
		o.Value = model.Value{Kind: model.Bool}
	case model.Path, model.Integer, model.String:
		if o.Value.Placeholder == "count" && !o.Value.Equals && strings.HasPrefix(o.Names[0], "--") && quantity(o) {
			o.Value = model.Value{Kind: model.Count}
			o.Repeatable = true
		}
	}
}

// preset reads a value that is a default: "--all=false:", "-lock=true". An
// option with "=false" and no colon is on by default.
func preset(o *model.Option, sp spec) {
	v, ended := strings.CutSuffix(sp.value, ":")
	if !sp.equals || strings.HasPrefix(sp.value, "<") || strings.HasPrefix(sp.value, "[") && v != "[]" {
		return
	}
	lit := unquote(v)
	switch {
	case lit == "false" && !ended: // "-lock=false  Don't hold a lock" shows how to switch the option off
		o.Value = model.Value{Kind: model.Bool, Default: "true", Equals: true}
	case lit == "true" || lit == "false":
		o.Value = model.Value{Kind: model.Bool, Default: lit, Equals: true}
	case lit == v && durationLiteral(lit):
		o.Value = model.Value{Kind: model.Duration, Default: lit, Equals: true}
	case !ended:
		return
	case lit == v && integer(lit):
		o.Value = model.Value{Kind: model.Integer, Default: lit, Equals: true}
	case v == "[]":
		o.Value = model.Value{Kind: model.List, Equals: true}
	case v == "{}":
		o.Value = model.Value{Kind: model.Map, Equals: true}
	default:
		o.Value = model.Value{Kind: model.String, Default: lit, Equals: true}
	}
}

func integer(s string) bool {
	return s != "" && strings.Trim(strings.TrimPrefix(s, "-"), "0123456789") == ""
}

func durationLiteral(s string) bool {
	return s != "" &&
		strings.Trim(s, "0123456789.hmsunµ") == "" && strings.IndexByte("0123456789", s[0]) >= 0 && !integer(s)
}

// pairNegation moves "--no-color" from the spellings of "--color" to its
// negation.
func pairNegation(o *model.Option) {
	for i, n := range o.Names {
		for _, no := range []string{"--no-", "--no", "-no-", "-no"} {
			word, ok := strings.CutPrefix(n, no)
			dashes := "--"[:strings.IndexByte(no, 'n')]
			if ok && word != "" && slices.Contains(o.Names, dashes+word) {
				o.Negation = n
				o.Names = slices.Delete(slices.Clone(o.Names), i, i+1)
				return
			}
		}
	}
}

// A table holds the options of a text by their spellings.
type table struct {
	options []*model.Option
	byName  map[string]*model.Option
}

func newTable() *table { return &table{byName: map[string]*model.Option{}} }

// add adds an option, or completes the known option that it is about.
func (t *table) add(o model.Option) {
	have := t.same(&o)
	if have == nil {
		if len(t.options) == maxOptions {
			return
		}
		have = &model.Option{}
		*have = o
		t.options = append(t.options, have)
	} else {
		t.complete(have, o)
	}
	for _, n := range have.Names {
		if t.byName[n] == nil {
			t.byName[n] = have
		}
	}
}

// same returns the known option that o is about, or nil. Two options with
// different long spellings that share a short one are different; the first one
// keeps the short spelling.
func (t *table) same(o *model.Option) *model.Option {
	var short *model.Option
	for _, n := range o.Names {
		have := t.byName[n]
		if have == nil {
			continue
		}
		if strings.HasPrefix(n, "--") ||
			!strings.HasPrefix(have.Names[0], "--") && !strings.HasPrefix(o.Names[0], "--") {
			return have
		}
		short = have
	}
	if short == nil || !strings.HasPrefix(o.Names[0], "--") {
		return short
	}
	if !strings.HasPrefix(short.Names[0], "--") && short.Value.Placeholder == o.Value.Placeholder {
		return short
	}
	o.Names = slices.DeleteFunc(slices.Clone(o.Names), func(n string) bool { return t.byName[n] != nil })
	return nil
}

// complete merges another description of an option.
func (t *table) complete(have *model.Option, o model.Option) {
	for _, n := range o.Names {
		if t.byName[n] == nil && len(have.Names) < 16 && have.Value.Placeholder == o.Value.Placeholder {
			have.Names = append(have.Names, n)
		}
	}
	have.Names = ordered(have.Names)
	if have.Negation == "" {
		have.Negation = o.Negation
	}
	if have.Description == "" {
		have.Description = o.Description
	}
	if have.Env == "" {
		have.Env = o.Env
	}
	have.Repeatable = have.Repeatable || o.Repeatable
	was, is := have.Value.Kind.TakesValue(), o.Value.Kind.TakesValue()
	switch {
	case !was && is && have.Value.Kind == model.Bool && !have.Value.Equals:
		have.Value, o.Value = o.Value, have.Value
		// The option is shown once with a value and once without.
		have.Value.Optional = have.Value.Optional || have.Value.Equals && o.Value.Kind == model.Bool
	case was && !is && have.Value.Equals && o.Description != "":
		have.Value.Optional = true
	}
}

// applyTypeMarks handles a table that marks its flags with "[boolean]". Options
// without this mark are then not flags.
func (t *table) applyTypeMarks() {
	flags := 0
	for _, o := range t.options {
		if strings.Contains(o.Description, "[boolean]") {
			flags++
		}
	}
	if flags < 3 {
		return
	}
	for _, o := range t.options {
		if o.Value.Kind != model.Bool || strings.Contains(o.Description, "[boolean]") || o.Description == "" ||
			strings.HasPrefix(o.Names[0], "--no-") {
			continue
		}
		o.Value.Kind = model.String
		enrich(o, o.Description)
	}
}

var valueWords = regexp.MustCompile(`(?i)^(?:(?:set|the|a|an|optional|custom) )*(?:path|(?:number|list|name) (?:of|for|to)|url|uri|port|director(?:y|ies)|file|filename|timeout|maximum|minimum|amount|comma-separated|location|host|hostname|address)\b|^specif(?:y|ies)\b|\bthis (?:many|string|pattern|regexp?|file|number)\b|\((?:in )?(?:milli)?seconds?\)`)

// guessValues handles a table that never shows values, although some options
// must have one. It guesses from the descriptions which options those are.
func (t *table) guessValues() {
	if len(t.options) < 10 {
		return
	}
	for _, o := range t.options {
		if o.Value.Placeholder != "" || o.Value.Equals {
			return
		}
	}
	for _, o := range t.options {
		if o.Value.Kind == model.Bool && o.Negation == "" && o.Value.Default == "" &&
			!strings.Contains(o.Description, "type: boolean") && !strings.HasPrefix(o.Names[0], "--no-") &&
			valueWords.MatchString(o.Description) {
			o.Value.Kind = model.String
			enrich(o, o.Description)
		}
	}
}

// fill merges an option of a usage. If the table shows a value for an option,
// that takes precedence.
func (t *table) fill(o model.Option) {
	have := t.byName[o.Names[0]]
	if have != nil && o.Value.Glued && o.Value.Optional && strings.HasPrefix(have.Names[0], "--") {
		return // "-c[columns]" does not apply to the long spelling
	}
	if have == nil {
		if neg := t.negated(o.Names[0]); neg {
			return
		}
		t.add(o)
		return
	}
	for _, n := range o.Names {
		if t.byName[n] == nil {
			have.Names = ordered(append(have.Names, n))
			t.byName[n] = have
		}
	}
	if have.Negation == "" {
		have.Negation = o.Negation
	}
	have.Repeatable = have.Repeatable || o.Repeatable
	if !have.Value.Kind.TakesValue() && !have.Value.Equals && o.Value.Kind.TakesValue() {
		have.Value = o.Value
		enrich(have, have.Description)
	}
}

// addSentence merges an option from a sentence: it describes known options and
// adds others.
func (t *table) addSentence(o model.Option) {
	have := t.byName[o.Names[0]]
	if have == nil {
		t.add(o)
		return
	}
	if have.Description == "" {
		have.Description = o.Description
	}
	if !have.Value.Kind.TakesValue() && o.Value.Kind.TakesValue() {
		have.Value = o.Value
		have.Value.Optional = true
	}
}

// negated reports whether name is the negation of an option.
func (t *table) negated(name string) bool {
	for _, o := range t.options {
		if o.Negation == name {
			return true
		}
	}
	return false
}

// pair makes "--no-color" the negation of "--color" if both are flags.
func (t *table) pair() {
	t.options = slices.DeleteFunc(t.options, func(o *model.Option) bool {
		word, ok := strings.CutPrefix(o.Names[0], "--no-")
		if !ok || len(o.Names) > 1 || o.Value.Kind != model.Bool {
			return false
		}
		yes := t.byName["--"+word]
		if yes == nil || yes == o || yes.Value.Kind != model.Bool || yes.Negation != "" && yes.Negation != o.Names[0] {
			return false
		}
		yes.Negation = o.Names[0]
		if yes.Description == "" {
			yes.Description = o.Description
		}
		t.byName[o.Names[0]] = yes
		return true
	})
}

// canonical returns the first spelling of the option called name.
func (t *table) canonical(name string) string {
	if o := t.byName[name]; o != nil {
		return o.Names[0]
	}
	return name
}
