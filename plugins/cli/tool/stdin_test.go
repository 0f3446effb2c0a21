package tool

import (
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// TestStdinByItself checks which discovered tools have a parameter stdin.
func TestStdinByItself(t *testing.T) {
	file := model.Positional{Name: "file", Value: model.Value{Kind: model.Path}, Required: true}
	run := model.Positional{Name: "command", Value: model.Value{Kind: model.String}}
	for _, c := range []struct {
		name, program string
		reads         bool
		positionals   []model.Positional
		options       Options
		want          bool
	}{
		{"the help says so", "lint", true, []model.Positional{file}, Options{}, true},
		{"the table says so", "wc", false, []model.Positional{file}, Options{}, true},
		{"a program that only reads", "tr", true, nil, Options{}, true},
		{"the configuration says so", "lint", false, nil, Options{Stdin: true}, true},
		{"the help does not", "lint", false, []model.Positional{file}, Options{}, false},
		{"the configuration turns it off", "lint", true, []model.Positional{file}, Options{NoStdin: true}, false},
		{"the table does not", "wc", false, []model.Positional{file}, Options{NoStdin: true}, false},
		{"a program with other dangers", "psql", true, []model.Positional{file}, Options{}, false},
		{"a command that runs another",
			"lint", true, []model.Positional{run}, Options{Dangerous: []string{"go"}}, false},
	} {
		c.options.Rules, c.options.Confined = danger.For([]string{c.program}, ""), true
		root := &model.Command{Runnable: true, Stdin: c.reads, Positionals: c.positionals}
		if c.program == "lint" {
			sub := command("go")
			sub.Stdin, sub.Positionals = c.reads, c.positionals
			root = &model.Command{Commands: []*model.Command{sub}}
		}
		tools := FromProgram(&model.Program{Name: c.program, Root: root}, c.options)
		if len(tools) != 1 {
			t.Fatalf("%s: %d tools", c.name, len(tools))
		}
		made := tools[0]
		if has := strings.Contains(string(made.Input), `"stdin":{`); made.Stdin != c.want || has != c.want {
			t.Errorf("%s: %t, %s", c.name, made.Stdin, made.Input)
		}
		for _, p := range made.Parameters {
			if p.Name == "file" && p.Required != !made.Stdin {
				t.Errorf("%s: file is required: %t", c.name, p.Required)
			}
		}
	}
}

// TestTwoFilesStayRequired checks that standard input replaces no file of a command with two.
func TestTwoFilesStayRequired(t *testing.T) {
	path := model.Value{Kind: model.Path}
	c := command("compare")
	c.Stdin = true
	c.Positionals = []model.Positional{{Name: "old", Value: path, Required: true},
		{Name: "new", Value: path, Required: true}}
	made := FromProgram(&model.Program{Name: "lint", Root: &model.Command{Commands: []*model.Command{c}}},
		Options{Rules: danger.For([]string{"lint"}, "")})[0]
	if !made.Stdin || !made.Parameters[0].Required || !made.Parameters[1].Required {
		t.Errorf("%+v", made.Parameters)
	}
}
