package tool

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func command(words string, options ...model.Option) *model.Command {
	return &model.Command{Path: strings.Fields(words), Runnable: true, Options: options}
}

func program(commands ...*model.Command) *model.Program {
	return &model.Program{Name: "prog", Root: &model.Command{Commands: commands}}
}

func option(names string, kind model.Kind) model.Option {
	return model.Option{Names: strings.Fields(names), Value: model.Value{Kind: kind}}
}

// TestGolden compares tools with the golden file.
func TestGolden(t *testing.T) {
	one, ten := 1.0, 10.0
	with := func(o model.Option, change func(*model.Option)) model.Option { change(&o); return o }
	everything := &model.Command{
		Path: []string{"every", "kind"}, Summary: "shows every kind", Runnable: true, Terminator: true,
		Description: "It is\nlong.", Conflicts: [][]string{{"--bool", "-c"}, {"--unknown", "--bool"}},
		Options: []model.Option{
			with(option("--bool -b", model.Bool), func(o *model.Option) { o.Description = "Switches it on" }),
			with(option("--color", model.Bool),
				func(o *model.Option) { o.Negation, o.Value.Default = "--no-color", "true" }),
			with(option("--verify", model.Bool), func(o *model.Option) { o.Negation = "--no-verify" }),
			with(option("-c", model.Count), func(o *model.Option) { o.Description = "counts" }),
			with(option("-v --verbose", model.Bool), func(o *model.Option) { o.Repeatable = true }),
			with(option("--string", model.String),
				func(o *model.Option) { o.Value.Placeholder, o.Required = "<text>", true }),
			with(option("--integer", model.Integer),
				func(o *model.Option) { o.Value.Default = "5"; o.Value.Minimum, o.Value.Maximum = &one, &ten }),
			with(option("--number", model.Number), func(o *model.Option) { o.Value.Default = "0.5" }),
			with(option("--enum", model.Enum),
				func(o *model.Option) { o.Value.Choices, o.Value.Default = []string{"a", "b"}, "a" }),
			with(option("--when", model.Enum),
				func(o *model.Option) { o.Value.Choices, o.Value.Optional = []string{"always", "never"}, true }),
			with(option("--jobs", model.Integer),
				func(o *model.Option) { o.Value.Optional, o.Value.Placeholder = true, "N" }),
			with(option("--list", model.List), func(o *model.Option) { o.Value.Separator = "," }),
			with(option("--many", model.String), func(o *model.Option) { o.Repeatable = true }),
			with(option("--map", model.Map), func(o *model.Option) { o.Value.Placeholder = "key=value" }),
			with(option("--path", model.Path), func(o *model.Option) { o.Value.Placeholder = "FILE" }),
			with(option("--wait", model.Duration), func(o *model.Option) { o.Value.Default = "30s" }),
			with(option("--global", model.String), func(o *model.Option) { o.Inherited = true }),
			option("--help -h", model.Bool), option("--version", model.Bool),
			option("--pager", model.String), option("--interactive", model.Bool),
			with(option("-h", model.Bool), func(o *model.Option) { o.Description = "print this help" }),
		},
		Positionals: []model.Positional{
			{Name: "source", Value: model.Value{Kind: model.Path}, Required: true},
			{Name: "target", Value: model.Value{Kind: model.String}, Required: true, Repeatable: true},
		},
	}
	blocks := fromBlocks(decode(t, `{"name":"log","description":"Shows the history","argv":["log","--max-count={count}","--","{path}"],"access":"read",
		"argument":[{"name":"count","type":"integer","default":"20","minimum":1,"maximum":500},{"name":"path","type":"path","repeat":true},
		{"name":"all","type":"bool","flag":"--all"},{"name":"grep","pattern":"[a-z]+","flag":"--grep","description":"what to look for"}]}`),
		Options{Confined: true})
	free, err := Whole("[a-z]+")
	if err != nil {
		t.Fatal(err)
	}
	tools := FromProgram(program(everything, command("list"), command("group delete")),
		Options{Stdin: true, Free: free, Idempotent: []string{"group"}, Confined: true})
	var b bytes.Buffer
	for _, tool := range append(tools, blocks...) {
		if err := json.Indent(&b, tool.JSON(tool.Name == "list"), "", "  "); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
	}
	golden := filepath.Join("testdata", "tools.golden")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(want, b.Bytes()) {
		t.Errorf("the tools differ from %s (%v):\n%s", golden, err, &b)
	}
}

func TestToolNames(t *testing.T) {
	names := func(p *model.Program) string {
		var all []string
		for _, tool := range FromProgram(p, Options{}) {
			all = append(all, tool.Name)
		}
		return strings.Join(all, " ")
	}
	long := strings.Repeat("x", 70)
	for _, c := range []struct {
		name string
		p    *model.Program
		want string
	}{
		{"words", program(command("remote add"), command("log")), "remote_add log"},
		{"other characters", program(command("a.b:c"), command("é")), "a_b_c _"},
		{"two of a name", program(command("a b"), command("a_b"), command("c")),
			"a_b_" + digits("a b") + " a_b_" + digits("a_b") + " c"},
		{"the same twice", program(command("a"), command("a")), "a"},
		{"a group", program(&model.Command{Path: []string{"g"}, Commands: []*model.Command{command("g x")}}), "g_x"},
		{"no sub-commands", &model.Program{Name: "jq.1", Root: &model.Command{}}, "jq_1"},
		{"runnable with sub-commands",
			&model.Program{Name: "p", Root: &model.Command{Runnable: true, Commands: []*model.Command{command("x")}}},
			"p x"},
		{"long", program(command(long)), long[:57] + "_" + digits(long)},
		{"nothing", &model.Program{Name: "p"}, ""},
	} {
		if got := names(c.p); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestSpellingsWithOtherMeaningsAreSeparateProperties(t *testing.T) {
	c := command("log", option("--author --committer", model.String), option("-n --max-count", model.Integer),
		option("--left-only --right-only", model.Bool),
		option("--quiet --silent -q", model.Bool), option("-o -output", model.String))
	var got []string
	for _, p := range FromProgram(program(c), Options{})[0].Parameters {
		got = append(got, p.Name+"="+p.Spelling)
	}
	const want = "author=--author committer=--committer max-count=-n left-only=--left-only right-only=--right-only " +
		"quiet=--quiet output=-o"
	if strings.Join(got, " ") != want {
		t.Errorf("%v, want\n%s", got, want)
	}
}

func TestReplaceablePositionalIsOptional(t *testing.T) {
	c := command("curl", option("--url", model.String), option("--file", model.String))
	c.Options[0].Value.Placeholder, c.Options[1].Value.Placeholder = "url", "NAME"
	c.Positionals = []model.Positional{{Name: "url", Required: true}, {Name: "file", Required: true}}
	var got []string
	for _, p := range FromProgram(program(c), Options{})[0].Parameters {
		if p.Required {
			got = append(got, p.Name)
		}
	}
	if strings.Join(got, " ") != "arg_file" {
		t.Error(got)
	}
}

func TestExpressionIsNotOffered(t *testing.T) {
	c := command("find", option("-H", model.Bool), option("-name", model.String), option("-delete", model.Bool),
		option("--warn", model.Bool))
	c.Positionals = []model.Positional{{Name: "path", Repeatable: true}, {Name: "expression"}}
	var got []string
	for _, p := range FromProgram(program(c), Options{})[0].Parameters {
		got = append(got, p.Name)
	}
	if strings.Join(got, " ") != "opt_H warn path" {
		t.Error(got)
	}
}

func digits(s string) string { return hashed("", s, 64)[1:] }

func TestPropertyNames(t *testing.T) {
	c := command("x", option("--a-b", model.Bool), option("--a_b", model.Bool), option("-o", model.Bool),
		option("-n --name", model.String),
		option("--name", model.String), option("-long", model.Bool), option("--stdin", model.Bool),
		option("--args", model.Bool), option("-1", model.Bool),
		option("-O", model.Bool), option("--"+strings.Repeat("y", 80), model.Bool))
	c.Positionals = []model.Positional{{Name: "name"}, {Name: "name"}, {Name: "<file>"}, {Name: "…"}, {Name: "stdin"}}
	free, _ := Whole("a")
	tool := FromProgram(program(c), Options{Stdin: true, Free: free})[0]
	var got []string
	for _, p := range tool.Parameters {
		got = append(got, p.Name)
	}
	want := "a-b a_b opt_o name opt_name long opt_stdin opt_args opt_1 opt_O " + strings.Repeat("y", 57) + "_" +
		digits(strings.Repeat("y", 80)) +
		" arg_name arg_name_2 _file_ arg arg_stdin"
	if strings.Join(got, " ") != want {
		t.Errorf("%s, want\n%s", strings.Join(got, " "), want)
	}
}

func TestAccess(t *testing.T) {
	list := command("things list-all", option("--delete", model.Bool))
	outfile := command("s3api get-object")
	outfile.Positionals = []model.Positional{{Name: "outfile", Required: true, Value: model.Value{Kind: model.Path}}}
	withOutput := command("log", option("--output", model.Path))
	known := danger.For([]string{"docker"}, "")
	inherited := command("show",
		model.Option{Names: []string{"--exec"}, Value: model.Value{Kind: model.String}, Inherited: true})
	for _, c := range []struct {
		name string
		c    *model.Command
		o    Options
		want Access
		hint string
	}{
		{"read", command("container ls"), Options{Rules: known}, Access{Read, "table"},
			`{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true}`},
		{"first part", command("list-units"), Options{Rules: known}, Access{Read, "table"}, ""},
		{"a program that the table does not have",
			command("container ls"), Options{}, Access{Write, "verb"}, `{"readOnlyHint":false}`},
		{"a program of the table without the fact",
			command("ls"), Options{Rules: danger.For([]string{"rsync"}, "")}, Access{Write, "verb"}, ""},
		{"an output of another name", command("logs", model.Option{Names: []string{"-o"},
			Description: "Output to file instead of stdout.", Value: model.Value{Kind: model.Path}}),
			Options{Rules: known}, Access{Write, "unknown"}, ""},
		{"an output by its description", command("logs", model.Option{
			Names: []string{"--keep"}, Description: "Write the list to FILE.", Value: model.Value{Kind: model.Path},
		}), Options{Rules: known}, Access{Write, "unknown"}, ""},
		{"a choice of outputs", command("logs",
			model.Option{Names: []string{"--output"}, Value: model.Value{Kind: model.Enum, Choices: []string{"json"}}}),
			Options{Rules: known}, Access{Read, "table"}, ""},
		{"a verb that the table takes back", command("version"), Options{Rules: danger.For([]string{"uv"}, "")},
			Access{Write, "table"}, `{"readOnlyHint":false}`},
		{"the last word that the table takes back", command("container fleet memberships get-credentials"),
			Options{Rules: danger.For([]string{"gcloud"}, "")}, Access{Write, "table"}, `{"readOnlyHint":false}`},
		{"another last word", command("container clusters get-credentials list"),
			Options{Rules: danger.For([]string{"az"}, "")}, Access{Read, "table"}, ""},
		{"a file as an argument", outfile, Options{Rules: danger.For([]string{"aws"}, "")}, Access{Write, "unknown"},
			`{"readOnlyHint":false}`},
		{"destructive", command("image rm"), Options{}, Access{Destructive, "verb"},
			`{"readOnlyHint":false,"destructiveHint":true}`},
		{"unknown", command("frobnicate"), Options{}, Access{Write, "unknown"}, `{"readOnlyHint":false}`},
		{"the group does not count", command("list add"), Options{}, Access{Write, "unknown"}, ""},
		{"an option betrays", list, Options{Rules: known}, Access{Write, "unknown"}, ""},
		{"unless it is left out", list, Options{Rules: known, Omit: []string{"--delete"}}, Access{Read, "table"}, ""},
		{"a file is written",
			withOutput, Options{Rules: known, Dangerous: []string{"--output"}}, Access{Write, "unknown"}, ""},
		{"an option of above", inherited, Options{Rules: known}, Access{Read, "table"}, ""},
		{"an option of above that is offered",
			inherited, Options{Rules: known, Globals: []string{"exec"}, Dangerous: []string{"--exec"}},
			Access{Write, "unknown"}, ""},
		{"configured", command("frobnicate"), Options{Read: []string{"frob*"}}, Access{Read, "configuration"}, ""},
		{"configured as writing", command("frobnicate"), Options{Write: []string{"*"}}, Access{Write, "configuration"},
			`{"readOnlyHint":false,"destructiveHint":false}`},
		{"the worst counts", command("a b"), Options{Read: []string{"a"}, Destructive: []string{"a b"}},
			Access{Destructive, "configuration"}, ""},
		{"idempotent", command("apply"), Options{Idempotent: []string{"apply"}}, Access{Write, "unknown"},
			`{"readOnlyHint":false,"idempotentHint":true}`},
	} {
		tool := FromProgram(program(c.c), c.o)[0]
		if tool.Access != c.want {
			t.Errorf("%s: %v, want %v", c.name, tool.Access, c.want)
		}
		if hint := string(render(tool.annotations())); c.hint != "" && hint != c.hint {
			t.Errorf("%s: %s, want %s", c.name, hint, c.hint)
		}
	}
	ls := &model.Program{Name: "ls", Root: &model.Command{}}
	for program, want := range map[string]string{"ls": Read, "top": Write} {
		if a := FromProgram(&model.Program{Name: program, Root: &model.Command{}},
			Options{Rules: danger.For([]string{program}, "")})[0].Access; a.Kind != want {
			t.Errorf("a program called %s: %v", program, a)
		}
	}
	if a := FromProgram(ls, Options{Destructive: []string{"ls"}})[0].Access; a.Kind != Destructive {
		t.Errorf("the configuration names a program without sub-commands: %v", a)
	}
}

func TestOptionsForPeopleAreNotOffered(t *testing.T) {
	above := option("--nameserver -n", model.String)
	above.Inherited = true
	required := option("--edit", model.Bool)
	required.Required = true
	helpful := model.Option{Names: []string{"-h"}, Description: "print sizes for humans",
		Value: model.Value{Kind: model.Bool}}
	c := command("x", option("--help", model.Bool), option("--version", model.String), option("--version", model.Bool),
		required, above, helpful,
		option("--force", model.Bool), option("--no-pager", model.Bool), option("--", model.Bool),
		option("- -n", model.String), model.Option{})
	for _, k := range []struct {
		o    Options
		want string
	}{
		{Options{}, "version edit opt_h force"},
		{Options{Globals: []string{"-n"}}, "version edit nameserver opt_h force"},
		{Options{Globals: []string{"name*"}, Omit: []string{"--force", "-h"}}, "version edit nameserver"},
		{Options{Globals: []string{"--*"}, Omit: []string{"nameserver"}}, "version edit opt_h force"},
	} {
		var got []string
		for _, p := range FromProgram(program(c), k.o)[0].Parameters {
			got = append(got, p.Name)
		}
		if strings.Join(got, " ") != k.want {
			t.Errorf("%+v: %s, want %s", k.o, strings.Join(got, " "), k.want)
		}
	}
}

// TestOptionsOfTheWholeProgram checks that a command offers those that select
// what it works on, unless they are dangerous, and names the others.
func TestOptionsOfTheWholeProgram(t *testing.T) {
	outer := func(names string, kind model.Kind, placeholder string) model.Option {
		o := option(names, kind)
		o.Inherited, o.Value.Placeholder = true, placeholder
		return o
	}
	own := option("--limit -L", model.Integer)
	list := command("pr list", own, outer("--repo -R", model.String, "[HOST/]OWNER/REPO"),
		outer("--namespace", model.String, ""), outer("--context", model.Bool, ""),
		outer("--verbose", model.Bool, ""), outer("--timeout", model.Duration, ""), outer("--help", model.Bool, ""),
		outer("--all-namespaces", model.String, ""), outer("--exec", model.String, ""))
	list.Source = "help"
	unanswered := *list
	unanswered.Source = "list"
	for _, c := range []struct {
		name           string
		c              *model.Command
		o              Options
		offered, outer string
	}{
		{"scopes", list, Options{Rules: danger.For([]string{"p"}, "")}, "limit repo namespace",
			"--context --verbose --timeout --all-namespaces"},
		{"a dangerous scope", list, Options{Rules: danger.For([]string{"docker"}, "")}, "limit repo namespace",
			"--verbose --timeout --all-namespaces"},
		{"named", list, Options{Rules: danger.For([]string{"p"}, ""), Globals: []string{"--verbose", "time*"}},
			"limit repo namespace verbose timeout", "--context --all-namespaces"},
		{"omitted", list, Options{Rules: danger.For([]string{"p"}, ""), Omit: []string{"--repo", "verbose"}},
			"limit namespace", "--context --timeout --all-namespaces"},
		{"few", list, Options{Rules: danger.For([]string{"p"}, ""), Common: 2}, "repo namespace",
			"--context --verbose --timeout --all-namespaces"},
		{"a command without help", &unanswered, Options{Rules: danger.For([]string{"p"}, "")}, "limit",
			"--repo --namespace --context --verbose --timeout --all-namespaces"},
	} {
		tool := FromProgram(program(c.c), c.o)[0]
		var got []string
		for _, p := range tool.Parameters {
			got = append(got, p.Name)
			if p.Path {
				t.Errorf("%s: %s is a path", c.name, p.Name)
			}
		}
		if strings.Join(got, " ") != c.offered || strings.Join(tool.Outer, " ") != c.outer {
			t.Errorf("%s: %q, left out %q", c.name, got, tool.Outer)
		}
	}
}

// TestNamesAndFormatsAreNoPaths checks which options are files.
func TestNamesAndFormatsAreNoPaths(t *testing.T) {
	for _, c := range []struct {
		spelling, placeholder, description string
		want                               bool
	}{
		{"--repo", "OWNER/REPO", "Select another repository", false},
		{"--repo", "[HOST/]OWNER/REPO", "Select another repository", false},
		{"--target", "TYPE/NAME", "", false},
		{"--output", "string", "Output format. One of: (json, yaml, name).", false},
		{"--output", "", "The format of the output", false},
		{"--input", "FORMAT", "Input format", false},

		{"--repo", "PATH/FILE", "", true},
		{"--repo", "REPO", "Where the repository is", true},
		{"--output", "string", "Write to this file instead of standard output", true},
		{"--output", "FILE", "Output format", true},
		{"--output", "string", "File for the output, in the format json", true},
		{"--output", "string", "Where the result goes. The format is JSON.", true},
	} {
		o := model.Option{Names: []string{c.spelling}, Description: c.description,
			Value: model.Value{Kind: model.String, Placeholder: c.placeholder}}
		p := Parameter{Name: strings.TrimLeft(c.spelling, "-"), Role: OptionRole, Spelling: c.spelling,
			Description: o.Description, Value: o.Value}
		if got := looksLikePath(&p); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

func TestGroups(t *testing.T) {
	p := program(&model.Command{Path: []string{"g"}, Unparsed: []string{"?"},
		Commands: []*model.Command{command("g x")}})
	p.Incomplete = []string{"time"}
	want := `{"program":"prog","version":"","digest":"","incomplete":["time"],"short":false,"groups":[{"path":[],"runnable":false},{"path":["g"],"runnable":false,"unparsed":["?"]}]}`
	if got := string(Groups(p, nil)); got != want {
		t.Errorf("%s", got)
	}
}
