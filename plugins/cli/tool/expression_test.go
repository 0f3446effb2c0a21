package tool

import (
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// listTool returns the discovered tool of a program with some options and positionals.
func listTool(t *testing.T, program string, change func(*Options)) *Tool {
	t.Helper()
	c := command("", option("-L", model.Bool), option("-H", model.Bool), option("-name", model.String),
		option("-delete", model.Bool), option("--arg", model.String), option("-v --assign", model.String))
	c.Options[4].Value.Arity = 2
	c.Positionals = []model.Positional{{Name: "path", Value: model.Value{Kind: model.Path}, Repeatable: true},
		{Name: "expression", Value: model.Value{Kind: model.String}}}
	o := Options{Rules: danger.For([]string{program}, ""), Confined: true, Bounded: true}
	if change != nil {
		change(&o)
	}
	return FromProgram(&model.Program{Name: program, Root: c}, o)[0]
}

func names(t *Tool) string {
	var all []string
	for _, p := range t.Parameters {
		all = append(all, p.Name)
	}
	return strings.Join(all, " ")
}

func TestExpressionReplacesOptions(t *testing.T) {
	for program, want := range map[string]string{
		"find": "path expression",
		"test": "expression", "expr": "expression", "ffmpeg": "arguments", "ffprobe": "arguments",
	} {
		if got := names(listTool(t, program, nil)); got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
	if p := listTool(t, "jq", nil).Parameter("arg"); p == nil || !p.Pairs() {
		t.Errorf("--arg of jq: %+v", p)
	}
	if p := listTool(t, "cat", nil).Parameter("arg"); p != nil {
		t.Errorf("an option with two values is offered: %+v", p)
	}
	if p := listTool(t, "awk", nil).Parameter("assign"); p == nil || p.Value.Kind != model.Map || p.Pairs() {
		t.Errorf("--assign of awk: %+v", p)
	}
	if p := listTool(t, "awk", nil).Parameters; !slices.ContainsFunc(p,
		func(p Parameter) bool { return p.Name == "program" && p.Required && p.Content.Text }) {
		t.Errorf("awk has no program: %+v", p)
	}
}

// TestExpressionAccess checks that a tool reads unless a word that does harm is offered, or
// paths may lead anywhere.
func TestExpressionAccess(t *testing.T) {
	for _, c := range []struct {
		program string
		change  func(*Options)
		want    string
	}{
		{"find", nil, Read}, {"test", nil, Read}, {"expr", nil, Read}, {"ffprobe", nil, Read}, {"ffmpeg", nil, Write},
		{"awk", nil, Read}, {"jq", nil, Read},
		{"find", func(o *Options) { o.Dangerous = []string{"-delete"} }, Write},
		{"find", func(o *Options) { o.Dangerous = []string{"-L"} }, Write},
		{"find", func(o *Options) { o.Confined = false }, Write},
		{"test", func(o *Options) { o.Confined = false }, Write},
		{"awk", func(o *Options) { o.Dangerous = []string{"<program>"} }, Write},
		{"jq", func(o *Options) { o.Dangerous = []string{"<*>"} }, Write},
	} {
		if got := listTool(t, c.program, c.change); got.Access.Kind != c.want {
			t.Errorf("%s: %v, want %s", c.program, got.Access, c.want)
		}
	}
}

// TestDangerousNamesWords checks that a misspelled word is an error and that the
// description names the words that are offered.
func TestDangerousNamesWords(t *testing.T) {
	o := Options{Rules: danger.For([]string{"find"}, ""), Dangerous: []string{"-delete"}}
	p := &model.Program{Name: "find", Root: command("")}
	if err := o.Unused(p); err != nil {
		t.Errorf("dangerous = [-delete]: %v", err)
	}
	o.Dangerous = []string{"-delte"}
	if o.Unused(p) == nil {
		t.Error("dangerous = [-delte] is accepted")
	}
	about := listTool(t, "find", nil).Parameter("expression").Expression.about()
	if strings.Contains(about, "-delete") || strings.Contains(about, "-wholename") ||
		!strings.Contains(about, "-iname") {
		t.Error(about)
	}
	if with := listTool(t, "find", func(o *Options) { o.Dangerous = []string{"-delete"} }).Parameter("expression").
		Expression.about(); !strings.Contains(with, "-delete") {
		t.Error(with)
	}
}
