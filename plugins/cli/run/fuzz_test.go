package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// nasty are values that a program or a shell could take for something else.
var nasty = []string{
	"", "-", "--", "---", "-a", "-b", "--evil", "--o1", "--o2=x", "-o", "a b", "$(touch x)", "; ls", "`id`", "a\nb",
	"-1", "=x", "--=x", ",", "a,b", "'", "\"", "\\", "*", "~", "%s", "{slot}", "{{x}}", "é", "-\u00e9", "\u2010x",
	"@file", "+x", "/etc/passwd", "|", "&&", ">", "${IFS}", "!!",
}

func text() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(nasty), rapid.StringMatching(`-{0,2}[a-z=, ]{0,6}`), rapid.StringN(0, 8, -1))
}

// drawCommand draws a command whose options have distinct spellings: "--o1",
// "-a", "-z1".
func drawCommand(t *rapid.T) *model.Command {
	kinds := []model.Kind{
		model.Bool, model.Count, model.String, model.Integer, model.Number, model.Enum, model.List, model.Map,
		model.Path, model.Duration,
	}
	value := func(kind model.Kind) model.Value {
		v := model.Value{Kind: kind}
		if kind == model.Enum {
			v.Choices = []string{"a", "-b", "--o1"}
		}
		if rapid.Bool().Draw(t, "joined") {
			v.Separator = ","
		}
		return v
	}
	c := &model.Command{Path: []string{"sub"}, Runnable: true, Terminator: rapid.Bool().Draw(t, "terminator")}
	for i := range rapid.IntRange(0, 6).Draw(t, "options") {
		o := model.Option{
			Names: []string{rapid.SampledFrom([]string{fmt.Sprintf("--o%d", i), "-" + string(rune('a'+i)),
				fmt.Sprintf("-z%d", i)}).Draw(t, "spelling")},
			Value: value(rapid.SampledFrom(kinds).Draw(t, "kind")), Repeatable: rapid.Bool().Draw(t, "repeatable"),
		}
		if o.Value.Kind.TakesValue() {
			switch rapid.IntRange(0, 5).Draw(t, "style") {
			case 0:
				o.Value.Equals = true
			case 1:
				o.Value.Glued = true
			case 2:
				o.Value.Optional = true
				o.Negation = fmt.Sprintf("--no-o%d", i)
			}
		} else if rapid.Bool().Draw(t, "negatable") {
			o.Negation = fmt.Sprintf("--no-o%d", i)
		} else if o.Value.Kind == model.Bool && rapid.Bool().Draw(t, "on") {
			o.Value.Default = "true"
		}
		c.Options = append(c.Options, o)
	}
	behind := rapid.Bool().Draw(t, "behind")
	for i := range rapid.IntRange(0, 3).Draw(t, "positionals") {
		c.Positionals = append(c.Positionals, model.Positional{
			Name: fmt.Sprintf("p%d", i), Value: value(rapid.SampledFrom(kinds[2:]).Draw(t, "kind")),
			Repeatable: rapid.Bool().Draw(t, "repeatable"), AfterTerminator: behind && i > 0,
		})
	}
	return c
}

// drawBlock draws a tool block with flags and with slots that fill an element or a
// part of one, some of them in nested lists.
func drawBlock(t *rapid.T) tool.Block {
	b := tool.Block{Name: "t", Description: "d", Argv: tool.Words("sub"), Access: tool.Write}
	add := func(words ...string) {
		if !rapid.Bool().Draw(t, "nested") {
			b.Argv = append(b.Argv, tool.Words(words...)...)
			return
		}
		group, err := json.Marshal(words)
		if err != nil {
			t.Fatal(err)
		}
		b.Argv = append(b.Argv, group)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "arguments") {
		a := tool.Argument{Name: fmt.Sprintf("s%d", i),
			Type: rapid.SampledFrom([]string{"string", "integer", "list", "path"}).Draw(t, "type")}
		switch rapid.IntRange(0, 4).Draw(t, "place") {
		case 0:
			a.Flag = fmt.Sprintf("--o%d", i)
		case 1:
			add(fmt.Sprintf("--x%d={s%d}", i, i))
		case 2:
			add(fmt.Sprintf("{s%d}", i))
		case 3:
			add(fmt.Sprintf("{s%d}-t", i))
		case 4:
			add("--", fmt.Sprintf("{s%d}", i))
		}
		b.Arguments = append(b.Arguments, a)
	}
	return b
}

// drawArguments draws arguments, mostly of the right types.
func drawArguments(t *rapid.T, tl *tool.Tool) map[string]any {
	args := map[string]any{}
	one := func(p *tool.Parameter) any {
		if p.Value.Optional && rapid.Bool().Draw(t, "bare") {
			return rapid.Bool().Draw(t, "yes")
		}
		switch p.Value.Kind {
		case model.Integer:
			return rapid.Int64Range(-1<<53, 1<<53).Draw(t, "integer")
		case model.Number:
			return rapid.Float64Range(-1e6, 1e6).Draw(t, "number")
		case model.Enum:
			return rapid.SampledFrom(p.Value.Choices).Draw(t, "choice")
		}
		return text().Draw(t, "text")
	}
	for i := range tl.Parameters {
		p := &tl.Parameters[i]
		switch {
		case rapid.IntRange(0, 3).Draw(t, "left out") == 0:
		case rapid.IntRange(0, 60).Draw(t, "wrong") == 0:
			args[p.Name] = rapid.SampledFrom([]any{nil, 1, "x", []any{nil}, []any{"-x"}, map[string]any{"-x": "y"},
				true}).Draw(t, "wrong value")
		case p.Value.Kind == model.Bool:
			args[p.Name] = rapid.Bool().Draw(t, "bool")
		case p.Value.Kind == model.Count:
			args[p.Name] = rapid.IntRange(0, 4).Draw(t, "count")
		case p.Value.Kind == model.Map:
			args[p.Name] = rapid.MapOfN(text(), text(), 0, 2).Draw(t, "map")
		case p.Several():
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "elements") {
				list = append(list, one(p))
			}
			args[p.Name] = list
		default:
			args[p.Name] = one(p)
		}
	}
	if rapid.IntRange(0, 40).Draw(t, "undeclared") == 0 {
		args[text().Draw(t, "name")] = text().Draw(t, "value")
	}
	return args
}

// drawCall draws a tool and a call of it.
func drawCall(t *rapid.T) (*tool.Tool, json.RawMessage) {
	var tl *tool.Tool
	var options tool.Options
	if rapid.IntRange(0, 3).Draw(t, "by hand") == 0 {
		b := drawBlock(t)
		if err := tool.CheckBlocks([]tool.Block{b}, nil); err != nil {
			t.Fatalf("%+v: %v", b, err)
		}
		tl = tool.FromBlock(&b, tool.Options{})
	} else {
		p := &model.Program{Name: "prog", Root: &model.Command{Commands: []*model.Command{drawCommand(t)}}}
		tl = tool.FromProgram(p, options)[0]
	}
	args, err := json.Marshal(drawArguments(t, tl))
	if err != nil {
		t.Fatal(err)
	}
	return tl, args
}

// checkArgv parses an argument list like getopt_long and checks that it contains
// exactly what the call asked for.
func checkArgv(t *rapid.T) {
	tl, args := drawCall(t)
	argv, stdin, err := Argv(tl, args)
	again, _, _ := Argv(tl, args)
	if !slices.Equal(argv, again) {
		t.Fatalf("the same call gives %q and then %q", argv, again)
	}
	if err != nil {
		if _, ok := errors.AsType[*ArgumentError](err); !ok || argv != nil {
			t.Fatalf("%q, %v", argv, err)
		}
		return
	}
	if stdin != nil {
		t.Fatal("the call has text for standard input")
	}
	for _, e := range argv {
		if strings.ContainsRune(e, 0) {
			t.Fatalf("NUL in %q", argv)
		}
	}
	if tl.Template != nil {
		checkBlockOptions(t, tl, argv)
		return
	}
	d := &decoder{tool: tl}
	given, _, _ := d.arguments(args)
	var want, got []string
	for i := range tl.Parameters {
		if g := given[tl.Parameters[i].Name]; g != nil {
			want = append(want, wanted(g)...)
		}
	}
	got = parse(t, tl, argv)
	if !slices.Equal(got, want) {
		t.Fatalf("%s became %q, which a program reads as\n%q and not as\n%q", args, argv, got, want)
	}
}

// wanted lists what an argument asks for, in the form that parse returns.
func wanted(g *argument) []string {
	p := g.param
	var all []string
	switch {
	case p.Role == tool.PositionalRole:
		for _, v := range g.values {
			all = append(all, "positional "+v.text)
		}
	case p.Value.Kind == model.Bool && g.flag:
		all = append(all, "option "+p.Spelling)
	case p.Value.Kind == model.Bool && p.Negation != "":
		all = append(all, "option "+p.Negation)
	case p.Value.Kind == model.Bool && p.Value.Default == "true" && len(p.Spelling) > 2:
		all = append(all, "option "+p.Spelling+" with false")
	}
	for range g.times {
		all = append(all, "option "+p.Spelling)
	}
	for _, v := range g.values {
		switch {
		case p.Role != tool.OptionRole:
		case v.negated:
			all = append(all, "option "+p.Negation)
		case v.bare:
			all = append(all, "option "+p.Spelling)
		default:
			all = append(all, "option "+p.Spelling+" with "+v.text)
		}
	}
	return all
}

// parse reads an argument list like getopt_long. It knows the declared options,
// but not how the list was built.
func parse(t *rapid.T, tl *tool.Tool, argv []string) []string {
	if argv[0] != "sub" {
		t.Fatalf("%q does not begin with the command", argv)
	}
	var all []string
	for rest := argv[1:]; len(rest) > 0; {
		e := rest[0]
		rest = rest[1:]
		if e == "--" {
			for _, p := range rest {
				all = append(all, "positional "+p)
			}
			break
		}
		if !strings.HasPrefix(e, "-") {
			all = append(all, "positional "+e)
			continue
		}
		found, takesNext := option(tl, e)
		if found == "" {
			t.Fatalf("%q in %q is not a declared option", e, argv)
		}
		if takesNext {
			if len(rest) == 0 || strings.HasPrefix(rest[0], "-") && rest[0] != "-" {
				t.Fatalf("%q in %q lacks its value", e, argv)
			}
			found += " with " + rest[0]
			rest = rest[1:]
		}
		all = append(all, found)
	}
	return all
}

// option finds the declared option of an element.
func option(tl *tool.Tool, e string) (found string, takesNext bool) {
	for i := range tl.Parameters {
		p := &tl.Parameters[i]
		if p.Role != tool.OptionRole {
			continue
		}
		v := p.Value
		glued := v.Glued || v.Optional && !v.Equals && len(p.Spelling) == 2
		value, longer := strings.CutPrefix(e, p.Spelling)
		switch {
		case e == p.Spelling && !v.Kind.TakesValue(), e == p.Spelling && v.Optional:
			return "option " + e, false
		case e == p.Spelling && !glued && !v.Equals:
			return "option " + e, true
		case e == p.Negation && e != "":
			return "option " + e, false
		case v.Kind == model.Bool && v.Default == "true" && value == "=false":
			return "option " + p.Spelling + " with false", false
		case longer && v.Kind.TakesValue() && glued:
			return "option " + p.Spelling + " with " + value, false
		case longer && v.Kind.TakesValue() && value != "" && value[0] == '=':
			return "option " + p.Spelling + " with " + value[1:], false
		}
	}
	return "", false
}

// checkBlockOptions checks that every element with a leading dash before "--" is a
// declared option or begins with a text of the template.
func checkBlockOptions(t *rapid.T, tl *tool.Tool, argv []string) {
	for _, e := range argv {
		if e == "--" {
			return
		}
		if !strings.HasPrefix(e, "-") {
			continue
		}
		name, _, _ := strings.Cut(e, "=")
		declared := slices.ContainsFunc(tl.Parameters,
			func(p tool.Parameter) bool { return p.Role == tool.OptionRole && p.Spelling == name })
		written := slices.ContainsFunc(tl.Template,
			func(el tool.Element) bool { return !el.Options && el.Parts[0].Text == name+"=" })
		if !declared && !written {
			t.Fatalf("%q in %q is an option that the block does not have", e, argv)
		}
	}
}

// TestDrawnCallsGiveSafeArgumentLists draws 12 000 calls, or 1 200 with -short.
func TestDrawnCallsGiveSafeArgumentLists(t *testing.T) {
	hundreds := 120
	if testing.Short() {
		hundreds = 12
	}
	for range hundreds {
		rapid.Check(t, checkArgv) // 100 draws, unless a flag changes that
	}
}

func FuzzArgv(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkArgv)) }
