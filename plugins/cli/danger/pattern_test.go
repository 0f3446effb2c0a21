package danger

import (
	"slices"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// TestPatternsJudgeByTheValueToo checks options of programs that the table does not have.
func TestPatternsJudgeByTheValueToo(t *testing.T) {
	for _, c := range []struct {
		name, placeholder, description string
		kind                           model.Kind
		want                           Effect
	}{
		{"--shell", "SHELLNAME", "Specify dialect (sh, bash, dash, ksh)", model.String, ""},
		{"--shell", "SHELLNAME", "Specify dialect (sh, bash, dash, or ksh)", model.String, ""},
		{"--shell", "", "", model.Enum, ""},
		{"--shell", "SHELL", "The shell to use", model.String, Runs},
		{"--shell", "SHELL", "The shell to use (e.g. sh, bash, dash)", model.String, Runs},
		{"--shell", "SHELL", "The shell to use (default: sh)", model.String, Runs},
		{"--shell", "SHELL", "The shell to use (sh, bash)", model.String, Runs},
		{"--shell", "SHELL", "The shell to use (sh, bash, a path, …)", model.String, Runs},
		{"--shell", "SHELL", "The shell to use (sh, bash, dash, etc.)", model.String, Runs},
		{"--exec", "CMD", "Runs CMD (with a, b and c)", model.String, Runs},
		{"--script-lang", "lang", "The language of scripts", model.String, ""},
		{"--script-file", "file", "A file with commands", model.String, Runs},

		{"-e", "EXPR", "evaluate expression", model.String, Runs},
		{"-e", "EXPR", "Evaluates the given expression and exits", model.String, Runs},
		{"-c", "STRING", "execute STRING as statements", model.String, Runs},
		{"-c", "STRING", "Run one line of code", model.String, Runs},
		{"-r", "CODE", "", model.String, Runs},
		{"--begin", "<statements>", "before each line", model.String, Runs},
		{"-e", "EXPR", "show lines that match the expression", model.String, ""},
		{"-r", "NUM", "run NUM times", model.String, ""},
		{"-c", "STRING", "execution is named STRING", model.String, ""},
		{"-t", "NAME", "Run tests with this name", model.String, ""},
		{"-e", "", "evaluate expressions", model.Bool, ""},
		{"--exit-code", "N", "exit code of an error", model.Integer, ""},
		{"--country", "country-code", "", model.String, ""},

		{"--disable-plugin", "DISABLE_PLUGIN", "Plugin class names to disable", model.String, ""},
		{"--no-plugin", "NAME", "Do not load it", model.String, ""},
		{"--ignore-config", "KEY", "Keys to ignore", model.String, ""},
		{"--exclude-config", "FILE", "A file with what to exclude", model.String, Loads},
		{"--exclude-plugins-file", "FILE", "", model.String, Loads},
		{"--plugin", "NAME", "Plugin to load", model.String, Loads},
		{"--enable-plugin", "NAME", "Plugin to load", model.String, Loads},
		{"--config", "STRING", "Settings (a, b, c)", model.String, Loads},
		{"--disable-hook", "CMD", "Runs CMD instead", model.String, Runs},

		{"--template", "text", "How to show messages, such as {file}|{line}", model.String, ""},
		{"--template", "text", "Format of the messages of a file", model.String, ""},
		{"--template", "str", "Template file to use", model.String, Loads},
		{"--template", "FILE", "", model.String, Loads},
		{"--template", "", "", model.Path, Loads},

		{"--csv-write-comma", "string", "Comma separator to use when writing csv files", model.String, ""},
		{"--output-separator", "SEP", "Separates the files", model.String, ""},
		{"--write", "string", "Write to this file", model.String, Writes},
		{"--output", "FILE", "Write to this file", model.String, Writes},
		{"--no-output", "FILE", "Write to this file", model.String, Writes},
	} {
		rules := For([]string{"some-program"}, "")
		f, ok := rules.Option(nil, &model.Option{Names: []string{c.name}, Description: c.description,
			Value: model.Value{Kind: c.kind, Placeholder: c.placeholder}})
		if f.Effect != c.want || ok != (c.want != "") {
			t.Errorf("%s %s, %q: %q, want %q", c.name, c.placeholder, c.description, f.Effect, c.want)
		}
	}
}

// TestListedValuesBecomeAnEnum checks that an option whose values are listed is offered with
// these values only, and that the table is not overruled.
func TestListedValuesBecomeAnEnum(t *testing.T) {
	o := &model.Option{Names: []string{"--shell", "-s"}, Description: "Specify dialect (sh, bash, dash, or ksh)",
		Value: model.Value{Kind: model.String}}
	got := For([]string{"some-program"}, "").Enumerated(nil, o)
	if got.Value.Kind != model.Enum || !slices.Equal(got.Value.Choices, []string{"sh", "bash", "dash", "ksh"}) {
		t.Errorf("%+v", got.Value)
	}
	if o.Value.Kind != model.String || o.Value.Choices != nil {
		t.Error("the option of the model changed")
	}
	known := &model.Option{Names: []string{"--upload-pack"}, Description: "One of (a, b, c)",
		Value: model.Value{Kind: model.String}}
	rules := For([]string{"git"}, "")
	if f, ok := rules.Option([]string{"fetch"}, known); !ok || f.Effect != Runs ||
		rules.Enumerated([]string{"fetch"}, known) != known {
		t.Errorf("the list overrules the table: %+v", f)
	}
	harmless := &model.Option{Names: []string{"--color"}, Description: "One of (a, b, c)",
		Value: model.Value{Kind: model.String}}
	if rules.Enumerated(nil, harmless) != harmless {
		t.Error("an option that is not dangerous became an enum")
	}
}
