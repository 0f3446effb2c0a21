package tool

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// gitLog returns a program with a git command that has dangerous options.
func gitLog() *model.Program {
	c := command("log", option("--oneline", model.Bool), option("--output", model.Path),
		option("--ext-diff", model.Bool), option("--grep", model.String))
	c.Positionals = []model.Positional{{Name: "path", Value: model.Value{Kind: model.Path}, Repeatable: true}}
	config := command("config", option("--list", model.Bool))
	return &model.Program{Name: "git", Root: &model.Command{Commands: []*model.Command{c, config}}}
}

// TestDangerousOptionsAreLeftOut also checks that the configuration can bring
// one back, and that the tool then loses readOnlyHint.
func TestDangerousOptionsAreLeftOut(t *testing.T) {
	for _, c := range []struct {
		name      string
		dangerous []string
		unbounded bool
		tools     string
		options   string
		access    string
	}{
		{"by default", nil, false, "log", "--oneline --grep", Read},
		{"one by its name", []string{"--output"}, false, "log", "--oneline --output --grep", Write},
		{"one of a command", []string{"log --output"}, false, "log", "--oneline --output --grep", Write},
		{"one of another command", []string{"show --output"}, false, "log", "--oneline --grep", Read},
		{"without dashes it is a command", []string{"output"}, false, "log", "--oneline --grep", Read},
		{"all options", []string{"-*"}, false, "log", "--oneline --output --ext-diff --grep", Write},
		{"a command", []string{"config"}, false, "log config", "--oneline --grep", Read},
		{"everything", []string{"-*", "**"}, false, "log config", "--oneline --output --ext-diff --grep", Write},
		{"paths anywhere", nil, true, "log", "--oneline --grep", Write},
	} {
		o := Options{Rules: danger.For([]string{"git"}, ""), Dangerous: c.dangerous, Confined: !c.unbounded}
		var names, options []string
		tools := FromProgram(gitLog(), o)
		for _, tool := range tools {
			names = append(names, tool.Name)
		}
		for _, p := range tools[0].Parameters {
			if p.Role == OptionRole {
				options = append(options, p.Spelling)
			}
		}
		if strings.Join(names, " ") != c.tools || strings.Join(options, " ") != c.options ||
			tools[0].Access.Kind != c.access {
			t.Errorf("%s: %v %v %v", c.name, names, options, tools[0].Access)
		}
		if hint := string(render(tools[0].annotations())); strings.Contains(hint,
			`"readOnlyHint":true`) != (c.access == Read) {
			t.Errorf("%s: %s", c.name, hint)
		}
	}
}

// TestUnusedDangerous checks that an element of dangerous that matches nothing
// is an error.
func TestUnusedDangerous(t *testing.T) {
	for pattern, want := range map[string]bool{
		"--output": true, "log --output": true, "config": true, "--ext-diff": true, "--no-index": true, "-*": true,
		"**": true, "<*>": true,
		"--oneline": false, "--outptu": false, "log": false, "output": false, "status --output": false,
	} {
		o := Options{Rules: danger.For([]string{"git"}, ""), Dangerous: []string{pattern}}
		if err := o.Unused(gitLog()); (err == nil) != want {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// TestChosenDangerous checks that a dangerous option in options is an error
// unless dangerous allows it.
func TestChosenDangerous(t *testing.T) {
	for only, want := range map[string]string{
		"log --output": `"log --output" is dangerous: it writes files`, "--ext-diff": "dangerous",
		"log --oneline": "", "log *": "", "--out*": "",
	} {
		o := Options{Rules: danger.For([]string{"git"}, ""), Only: []string{only}}
		err := o.Unused(gitLog())
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", only, err)
		}
		o.Dangerous = []string{"-*"}
		if err := o.Unused(gitLog()); err != nil {
			t.Errorf("%s, allowed: %v", only, err)
		}
	}
}

// TestForcedOptions checks that sed is offered only with --sandbox, and not at
// all if it has no such option.
func TestForcedOptions(t *testing.T) {
	sed := &model.Program{Name: "sed", Root: &model.Command{Runnable: true,
		Options: []model.Option{option("--sandbox", model.Bool), option("--quiet -n", model.Bool)}}}
	o := Options{Rules: danger.For([]string{"sed"}, "")}
	tools := FromProgram(sed, o)
	if len(tools) != 1 || !slices.Equal(tools[0].Forced, []string{"--sandbox"}) {
		t.Fatalf("%+v", tools)
	}
	if b := Record(tools[0]); !reflect.DeepEqual(b.Argv, Words("--sandbox")) {
		t.Errorf("%v", b.Argv)
	}
	sed.Root.Options = sed.Root.Options[1:]
	if tools := FromProgram(sed, o); len(tools) != 0 {
		t.Errorf("%+v", tools[0])
	}
	if skipped := o.Skipped(sed); len(skipped) != 1 || !strings.Contains(skipped[0].Evidence, "--sandbox") {
		t.Errorf("%+v", skipped)
	}
	o.Dangerous = []string{"sed", "--sandbox"}
	if tools := FromProgram(sed, o); len(tools) != 1 || tools[0].Forced != nil {
		t.Errorf("%+v", tools)
	}
}

// TestStandardInputIsIgnored checks that HTTPie always gets --ignore-stdin, and
// is not offered without it: it would send POST instead of GET.
func TestStandardInputIsIgnored(t *testing.T) {
	for _, program := range []string{"http", "https", "xh"} {
		root := &model.Command{Runnable: true,
			Options: []model.Option{option("--ignore-stdin -I", model.Bool), option("--form", model.Bool)}}
		o := Options{Rules: danger.For([]string{program}, "")}
		tools := FromProgram(&model.Program{Name: program, Root: root}, o)
		if len(tools) != 1 || fmt.Sprintf("%s", Record(tools[0]).Argv) != `["--ignore-stdin"]` {
			t.Errorf("%s: %+v", program, tools)
		}
		root.Options = root.Options[1:]
		if tools := FromProgram(&model.Program{Name: program, Root: root}, o); len(tools) != 0 {
			t.Errorf("%s is offered without it", program)
		}
	}
}

// TestBans checks every spelling of a dangerous option.
func TestBans(t *testing.T) {
	tool := &Tool{Banned: []string{"--output", "-o", "--exec", "-exec"}}
	for argument, want := range map[string]bool{
		"--output": true, "--output=x": true, "--outp": true, "--outp=x": true, "--o": true, "-o": true, "-ofile": true,
		"-xo": true, "-vvo=x": true, "-exec": true, "-execdir": true, "--exe": true,
		"--oneline": false, "--outputs": false, "-x": false, "--": false, "-": false, "-v": false,
	} {
		if got := tool.Bans(argument); got != want {
			t.Errorf("%s: %t", argument, got)
		}
	}
}

// TestHandWrittenHints checks that a tool block with access "read" loses it if
// an argument can do more.
func TestHandWrittenHints(t *testing.T) {
	for block, want := range map[string]bool{
		`{"argv":["log","--","{p}"],"argument":[{"name":"p","type":"path"}]}`:                 true,
		`{"argv":["log","--","{p}"],"paths":"any","argument":[{"name":"p","type":"path"}]}`:   false,
		`{"argv":["log","--","{p}"],"paths":"any","argument":[{"name":"p","type":"string"}]}`: true,
		`{"argv":["log"],"argument":[{"name":"o","type":"path","flag":"--output"}]}`:          false,
		`{"argv":["log","--output={o}"],"argument":[{"name":"o"}]}`:                           false,
		`{"argv":["log","--output","{o}"],"argument":[{"name":"o"}]}`:                         false,
		`{"argv":["log","--output=fixed"]}`:                                                   true,
		`{"argv":["log"],"argument":[{"name":"o","type":"bool","flag":"--oneline"}]}`:         true,
		`{"argv":["grep","-O","{o}"],"argument":[{"name":"o"}]}`:                              false,
		`{"argv":["config","{x}"],"argument":[{"name":"x"}]}`:                                 false,
		`{"argv":["config","--list"]}`:                                                        true,
		`{"argv":["{x}"],"argument":[{"name":"x"}]}`:                                          true,
	} {
		var b map[string]json.RawMessage
		if err := json.Unmarshal([]byte(block), &b); err != nil {
			t.Fatal(err)
		}
		b["name"], b["description"], b["access"] = json.RawMessage(`"t"`), json.RawMessage(`"d"`),
			json.RawMessage(`"read"`)
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		tool := fromBlocks(decode(t, string(text)),
			Options{Rules: danger.For([]string{"git"}, ""), Confined: true, Bounded: true})[0]
		if hint := string(render(tool.annotations())); strings.Contains(hint, `"readOnlyHint":true`) != want {
			t.Errorf("%s: %s", block, hint)
		}
	}
	for argv, want := range map[string]bool{`["{x}"]`: false, `["-n","{x}"]`: false,
		`["script","{x}"]`: true, `["script"]`: true} {
		block := `{"name":"t","description":"d","access":"read","argv":` + argv + `,"argument":[{"name":"x"}]}`
		if argv == `["script"]` {
			block = `{"name":"t","description":"d","access":"read","argv":["script"]}`
		}
		tool := fromBlocks(decode(t, block),
			Options{Rules: danger.For([]string{"perl"}, ""), Confined: true, Bounded: true})[0]
		if (tool.Access.Kind == Read) != want {
			t.Errorf("perl %s: %v", argv, tool.Access)
		}
	}
}

// TestLooksLikePath checks which names of discovered arguments are paths.
func TestLooksLikePath(t *testing.T) {
	for name, want := range map[string]bool{
		"file": true, "input-file": true, "<zipfile>": true, "src": true, "DEST": true, "pathspec": true,
		"pattern": false, "commit": false, "name": false, "profile": false,
	} {
		p := &Parameter{Name: name, Value: model.Value{Kind: model.String}}
		if looksLikePath(p) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}

// TestInfoOptionMakesPositionalsOptional also checks that an option that shows
// help is not offered.
func TestInfoOptionMakesPositionalsOptional(t *testing.T) {
	c := command("x", option("-formats", model.Bool), option("-h", model.Integer))
	c.Options[0].Description, c.Options[1].Description = "show available formats", "-- print basic options"
	c.Positionals = []model.Positional{{Name: "outfile", Required: true}}
	tool := FromProgram(program(c), Options{})[0]
	if len(tool.Parameters) != 2 || tool.Parameters[1].Required || tool.Parameter("opt_h") != nil {
		t.Errorf("%+v", tool.Parameters)
	}
}
