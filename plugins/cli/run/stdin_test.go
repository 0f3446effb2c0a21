package run

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/confine"
	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// TestDashIsStandardInput checks where "-" is a value: only as a file, or an option that says
// so, of a call that gives stdin.
func TestDashIsStandardInput(t *testing.T) {
	within, err := confine.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lint := func(o tool.Options) *tool.Tool {
		short := opt("-i", model.Path)
		short.Description = "Input file, or - for stdin."
		other := opt("-c", model.Path)
		other.Description = "A file of rules."
		o.Rules = danger.For([]string{"some-linter"}, "")
		return discovered(t,
			&model.Command{Stdin: true, Options: []model.Option{short, other}, Positionals: []model.Positional{
				{Name: "word", Value: model.Value{Kind: model.String}},
				{Name: "file.sql", Value: model.Value{Kind: model.String}},
				{Name: "files", Value: model.Value{Kind: model.Path}, Repeatable: true, Required: true},
			}}, o)
	}
	automatic, off := lint(tool.Options{}), lint(tool.Options{NoStdin: true})
	for _, c := range []struct {
		tool            *tool.Tool
		arguments, want string // an argument list, or an error that begins with "!"
	}{
		{automatic, `{"files":["-"],"stdin":"x"}`, "-"},
		{automatic, `{"files":["a","-"],"stdin":""}`, "a -"},
		{automatic, `{"stdin":"x"}`, ""},
		{automatic, `{"file.sql":"-","stdin":"x"}`, "-"},
		{automatic, `{"file.sql":"-"}`, "!file.sql: must not begin with a dash"},
		{automatic, `{"opt_i":"-","stdin":"x"}`, "-i -"},
		{automatic, `{"files":["a"]}`, "a"},
		{automatic, `{}`, "!files: is required, except with stdin"},
		{automatic, `{"stdin":null}`, "!files: is required, except with stdin"},
		{automatic, `{"files":["-"]}`, "!files[0]: must not begin with a dash"},
		{automatic, `{"files":["-"],"stdin":null}`, "!files[0]: must not begin with a dash"},
		{automatic, `{"files":["-x"],"stdin":"x"}`, "!files[0]: must not begin with a dash"},
		{automatic, `{"files":["--"],"stdin":"x"}`, "!files[0]: must not begin with a dash"},
		{automatic, `{"files":["/dev/stdin"],"stdin":"x"}`, "!files[0]: leads out"},
		{automatic, `{"word":"-","stdin":"x"}`, "!word: must not begin with a dash"},
		{automatic, `{"opt_c":"-","stdin":"x"}`, "!opt_c: must not begin with a dash"},
		{automatic, `{"stdin":5}`, "!stdin: must be a string"},
		{off, `{"files":["-"],"stdin":"x"}`, "!stdin: is not an argument"},
		{off, `{"files":["-"]}`, "!files[0]: must not begin with a dash"},
		{off, `{}`, "!files: is required"},
	} {
		args, _, err := Argv(c.tool, json.RawMessage(c.arguments), Within(within))
		wanted, refused := strings.CutPrefix(c.want, "!")
		switch {
		case refused && (err == nil || !strings.Contains(err.Error(), wanted)), !refused && err != nil:
			t.Errorf("%s: %v, want %q", c.arguments, err, c.want)
		case !refused && !slices.Equal(args, strings.Fields(wanted)):
			t.Errorf("%s: %q, want %q", c.arguments, args, wanted)
		}
	}
}

// TestRequiredUnless checks calls of a block whose file may be replaced by standard input or
// by an option that reads nothing, and that the recorded block of a program says so.
func TestRequiredUnless(t *testing.T) {
	made := byHand(t, `{"name":"t","description":"d","argv":["{filter}","{file}"],"stdin":true,"argument":[
		{"name":"filter","required":true},{"name":"none","type":"bool","flag":"-n"},{"name":"file","type":"path","repeat":true,"required_unless":["stdin","none"]}]}`)
	for _, c := range []struct {
		args string
		says string // empty: it is accepted
	}{
		{`{"filter":".","file":["a"]}`, ""},
		{`{"filter":".","stdin":"{}"}`, ""},
		{`{"filter":".","stdin":""}`, ""},
		{`{"filter":".","none":true}`, ""},
		{`{"filter":"."}`, "is required, except with stdin or none"},
		{`{"filter":".","none":false}`, "is required, except with stdin or none"},
		{`{"filter":".","none":null}`, "is required, except with stdin or none"},
		{`{"filter":".","file":[]}`, "is required, except with stdin or none"},
		{`{"filter":".","file":null,"stdin":null}`, "is required, except with stdin or none"},
	} {
		_, _, err := Argv(made, json.RawMessage(c.args))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
	jq := discovered(t,
		&model.Command{Options: []model.Option{opt("--null-input", model.Bool)}, Positionals: []model.Positional{
			{Name: "filter", Value: model.Value{Kind: model.String}, Required: true},
			{Name: "file", Value: model.Value{Kind: model.Path}, Repeatable: true}}},
		tool.Options{Rules: danger.For([]string{"jq"}, "")})
	for _, a := range tool.Record(jq).Arguments {
		if want := a.Name == "file"; want != slices.Equal(a.Unless, []string{"stdin", "null-input"}) {
			t.Errorf("%s: %v", a.Name, a.Unless)
		}
	}
}
