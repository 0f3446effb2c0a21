package tool

import (
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// TestOutputFilesAreOfferedByToolsThatWrite checks which options for output files a tool has,
// that their values are paths, and that the tool never counts as reading.
func TestOutputFilesAreOfferedByToolsThatWrite(t *testing.T) {
	files := func() []model.Option {
		return []model.Option{option("--output", model.Path), option("--log-file", model.Path),
			option("--append-rules", model.Path), option("--write-lang-def", model.Path), option("--exec", model.Path),
			option("--config", model.Path)}
	}
	for _, c := range []struct {
		name, program, command string
		options                Options
		want                   string
	}{
		{"an unknown program", "draw", "page", Options{Confined: true}, "--output --log-file"},
		{"a reading verb", "draw", "show", Options{Confined: true}, "--output --log-file"},
		{"paths anywhere", "draw", "page", Options{}, ""},
		{"access by the configuration", "draw", "page", Options{Confined: true, Read: []string{"page"}}, ""},
		{"access by the table", "git", "log", Options{Confined: true}, ""},
		{"an option of the table", "git", "archive", Options{Confined: true}, "--log-file"},
		{"left out by name", "draw", "page", Options{Confined: true, Omit: []string{"--output"}}, "--log-file"},
	} {
		c.options.Rules = danger.For([]string{c.program}, "")
		page := command(c.command, files()...)
		made := FromProgram(&model.Program{Name: c.program, Root: &model.Command{Commands: []*model.Command{page}}},
			c.options)[0]
		var got []string
		for _, p := range made.Parameters {
			got = append(got, p.Spelling)
			if !p.Path || p.Content.Text || p.Value.Kind != model.Path {
				t.Errorf("%s: %s is not checked as a path", c.name, p.Spelling)
			}
		}
		if strings.Join(got, " ") != c.want || !slices.Equal(made.Written, got) {
			t.Errorf("%s: %q and %q, want %q", c.name, got, made.Written, c.want)
		}
		if hint := string(render(made.annotations())); len(got) > 0 &&
			(strings.Contains(hint, `"readOnlyHint":true`) || made.Access.Kind != Write) {
			t.Errorf("%s: %s %v", c.name, hint, made.Access)
		}
		if slices.Contains(got, "--output") && !made.Bans("--output=x") {
			t.Errorf("%s: a free argument may be --output", c.name)
		}
	}
}

// TestRequiredOutputFileIsNoReasonToSkip checks that a command with a required output file is
// a tool, unless the paths are not confined or another required option is dangerous.
func TestRequiredOutputFileIsNoReasonToSkip(t *testing.T) {
	for _, c := range []struct {
		name     string
		option   string
		confined bool
		tools    int
	}{
		{"within the directory", "--output", true, 1},
		{"anywhere", "--output", false, 0},
		{"a program", "--exec", true, 0},
		{"configuration", "--config", true, 0},
	} {
		opt := option(c.option, model.Path)
		opt.Required = true
		p := &model.Program{Name: "draw", Root: &model.Command{Commands: []*model.Command{command("page", opt)}}}
		if got := len(FromProgram(p,
			Options{Rules: danger.For([]string{"draw"}, ""), Confined: c.confined})); got != c.tools {
			t.Errorf("%s: %d tools, want %d", c.name, got, c.tools)
		}
	}
}

// TestListedValuesAreChecked checks that an option which only its name makes dangerous takes
// the values that its help lists, and that dangerous allows every value.
func TestListedValuesAreChecked(t *testing.T) {
	for _, c := range []struct {
		dangerous []string
		value     string
		allowed   bool
		access    string
	}{
		{nil, "bash", true, Read},
		{nil, "./evil", false, Read},
		{nil, "", false, Read},
		{[]string{"--shell"}, "./evil", true, Write},
	} {
		shell := option("--shell", model.String)
		shell.Description = "Specify dialect (sh, bash, dash, ksh)"
		p := &model.Program{Name: "lint", Root: &model.Command{Commands: []*model.Command{command("run", shell)}}}
		o := Options{Rules: danger.For([]string{"lint"}, ""), Confined: true, Dangerous: c.dangerous,
			Read: []string{"run"}}
		if err := o.Unused(p); err != nil {
			t.Error(err)
		}
		made := FromProgram(p, o)[0]
		if len(made.Parameters) != 1 || made.Access.Kind != c.access {
			t.Fatalf("%v: %+v", c.dangerous, made)
		}
		if err := made.Parameters[0].Fits(c.value); (err == nil) != c.allowed {
			t.Errorf("%v, %q: %v", c.dangerous, c.value, err)
		}
	}
}
