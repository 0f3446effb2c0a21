package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/confine"
	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// wrappedProgram returns the only tool of a program.
func wrappedProgram(t *testing.T, name string, c *model.Command, o tool.Options) *tool.Tool {
	t.Helper()
	c.Runnable = true
	o.Rules = danger.For([]string{name}, "")
	o.Confined = true
	tools := tool.FromProgram(&model.Program{Name: name, Root: &model.Command{Commands: []*model.Command{c}}}, o)
	if len(tools) != 1 {
		t.Fatalf("%d tools", len(tools))
	}
	return tools[0]
}

// TestConfinedArguments checks that a path outside the directory is rejected in an option, a
// positional, a list, a map and a free argument, and the error names both.
func TestConfinedArguments(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	within, err := confine.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	free, err := tool.Whole(`[/.a-z]+|-[a-z]+|--output=.*`)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind model.Kind) model.Value { return model.Value{Kind: kind} }
	c := &model.Command{Path: []string{"log"}, Options: []model.Option{
		{Names: []string{"--since-file"}, Value: text(model.Path)},
		{Names: []string{"--name"}, Value: text(model.String)}, {Names: []string{"--grep"}, Value: text(model.String)},
		{Names: []string{"--define"}, Value: text(model.Map)},
		{Names: []string{"--many"}, Value: text(model.String), Repeatable: true},
		{Names: []string{"--mode"}, Value: model.Value{Kind: model.Enum, Choices: []string{"/", "x"}}},
		{Names: []string{"--delimiter"}, Value: text(model.String)},
	}, Positionals: []model.Positional{{Name: "rev", Value: text(model.String), Repeatable: true}}}
	tl := wrappedProgram(t, "git", c, tool.Options{Free: free})
	for arguments, want := range map[string]string{
		`{"since-file":"in","name":"x","rev":["in","HEAD~1","a..b"],"many":["in"],"define":{"k":"in"},"args":["in"]}`: "",
		`{"grep":"/etc/passwd"}`: "", `{"mode":"/"}`: "", `{"delimiter":"/"}`: "", `{"args":["-v"]}`: "",
		`{"name":"/"}`: "name: leads out", `{"since-file":"/etc/passwd"}`: "since-file: leads out",
		`{"since-file":"../x"}`: "since-file: leads out", `{"since-file":"/"}`: "since-file: leads out",
		`{"name":"/etc/passwd"}`: "name: leads out", `{"name":"@/etc/passwd"}`: "name: leads out",
		`{"name":"file:///etc/passwd"}`: "name: leads out", `{"name":"x=/etc/passwd"}`: "name: leads out",
		`{"rev":["in","/etc/passwd"]}`: "rev[1]: leads out", `{"rev":["/"]}`: "rev[0]: leads out",
		`{"many":["in","../x"]}`: "many[1]: leads out", `{"define":{"k":"/etc/passwd"}}`: "define.k: leads out",
		`{"args":["/etc/passwd"]}`: "args[0]: leads out", `{"args":["--output=x"]}`: "args[0]: is a dangerous option",
	} {
		_, _, err := Argv(tl, json.RawMessage(arguments), Within(within))
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", arguments, err, want)
		case err != nil && strings.Contains(want, "leads") && !strings.Contains(err.Error(), dir):
			t.Errorf("%s: the error does not name the directory: %v", arguments, err)
		}
	}
}

// TestTableRejectsValues checks that errors name the reason for the rejection.
func TestTableRejectsValues(t *testing.T) {
	text := model.Value{Kind: model.String}
	jq := &model.Command{Path: []string{"run"}, Positionals: []model.Positional{{Name: "filter", Value: text}}}
	filter := func(f string) string { b, _ := json.Marshal(map[string]string{"filter": f}); return string(b) }
	tl := wrappedProgram(t, "jq", jq, tool.Options{})
	for f, refused := range map[string]bool{
		".": false, ".env": false, ".a.env|.import": false, ".environment": false,
		`.["x"]`: false, "inputs": false, "envelope": false, ".[0].include": false,
		"env": true, "$ENV": true, "$ENV.PATH": true, ".|env": true, "..|env": true, "[env]": true, "1.env": true,
		"$ENV|keys": true, `import "a" as a; .`: true, `include "a"; .`: true, `"a"|modulemeta`: true, `"\(env)"`: true,
		"$ ENV": true, "if true then env else . end": true,
	} {
		if _, _, err := Argv(tl, json.RawMessage(filter(f))); (err != nil) != refused {
			t.Errorf("jq %s: %v", f, err)
		}
	}
	clone := &model.Command{Path: []string{"clone"}, Positionals: []model.Positional{{Name: "repo", Value: text}}}
	tl = wrappedProgram(t, "git", clone, tool.Options{})
	for repo, refused := range map[string]bool{
		"https://example.com/x.git": false, "git@example.com:x/y.git": false,
		"ssh://git@example.com/x": false, "other": false, "host:-x/y": false,
		"ext::sh -c x": true, "EXT::x": true, " ext::x": true, "fd::17": true, "foo::bar": true,
		"ssh://-oProxyCommand=x/y": true, "ssh://a@-oProxyCommand=x/y": true,
	} {
		b, _ := json.Marshal(map[string]string{"repo": repo})
		if _, _, err := Argv(tl, b); (err != nil) != refused {
			t.Errorf("git clone %s: %v", repo, err)
		}
	}
	link := &model.Command{Path: []string{"x"}, Positionals: []model.Positional{{Name: "target", Value: text}}}
	tl = wrappedProgram(t, "ln", link, tool.Options{})
	for target, refused := range map[string]bool{"a": false, "sub/a": false, "a..b": false, "d/../secret": true,
		"..": true, "d/..": true, "../x": true} {
		b, _ := json.Marshal(map[string]string{"target": target})
		if _, _, err := Argv(tl, b); (err != nil) != refused {
			t.Errorf("ln %s: %v", target, err)
		}
	}
	dot := &model.Command{Path: []string{"x"},
		Positionals: []model.Positional{{Name: "filename", Value: text}, {Name: "sql", Value: text}}}
	tl = wrappedProgram(t, "sqlite3", dot, tool.Options{Stdin: true})
	for call, refused := range map[string]bool{
		`{"filename":"./a.db","sql":".tables"}`: false, `{"sql":".schema t"}`: false,
		`{"sql":"select 1.5"}`: false, `{"stdin":"select 1;\n.tables\n.mode csv\n"}`: false, `{"sql":""}`: false,
		`{"sql":".trace x"}`: true, `{"sql":".t x"}`: true, `{"sql":".output x"}`: true, `{"sql":".tablesx"}`: true,
		`{"sql":" .trace x"}`: true, `{"stdin":"select 1;\n.trace x\n"}`: true, `{"stdin":".trace x"}`: true,
		`{"sql":"select * from FSDIR('.')"}`: true, `{"sql":"pragma temp_store_directory='x'"}`: true,
		`{"stdin":"select data from fsdir('.')"}`: true,
	} {
		if _, _, err := Argv(tl, json.RawMessage(call)); (err != nil) != refused {
			t.Errorf("sqlite3 %s: %v", call, err)
		}
	}
	commit := &model.Command{Path: []string{"commit"},
		Options: []model.Option{{Names: []string{"--message"}, Value: text}}}
	if _, _, err := Argv(wrappedProgram(t, "git", commit, tool.Options{}),
		json.RawMessage(`{"message":"std::string is fine"}`)); err != nil {
		t.Error(err)
	}
}

// TestPatternsAreTextsUntilAnOptionIsGiven checks that the first argument of grep
// is a file if another option gives the pattern.
func TestPatternsAreTextsUntilAnOptionIsGiven(t *testing.T) {
	within, err := confine.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	free, err := tool.Whole(".*|-e.*")
	if err != nil {
		t.Fatal(err)
	}
	grep := &model.Command{Path: []string{"x"},
		Options:     []model.Option{{Names: []string{"--regexp", "-e"}, Value: model.Value{Kind: model.String}}},
		Positionals: []model.Positional{{Name: "patterns", Value: model.Value{Kind: model.String}}}}
	tl := wrappedProgram(t, "grep", grep, tool.Options{Free: free})
	for call, refused := range map[string]bool{
		`{"patterns":"/etc/passwd"}`: false, `{"regexp":"/etc/passwd"}`: false,
		`{"patterns":"^/api/../x"}`: false, `{"patterns":"/x","regexp":null}`: false,
		`{"patterns":"/etc/passwd","regexp":"root"}`: true, `{"patterns":"/etc/passwd","args":["-eroot"]}`: true,
		`{"patterns":"../x","args":["y"]}`: true,
	} {
		if _, _, err := Argv(tl, json.RawMessage(call), Within(within)); (err != nil) != refused {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// TestPathsWithColonsAreGivenAsFiles checks that a file whose name looks like an
// address reaches the program as a file.
func TestPathsWithColonsAreGivenAsFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cache:x"), nil, 0o600); err != nil {
		t.Skip(err)
	}
	within, err := confine.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	tl := byHand(t, `{"name":"t","description":"d","argv":["{f}"],"argument":[{"name":"f","type":"path"}]}`)
	for value, want := range map[string]string{"cache:x": "./cache:x", "./cache:x": "./cache:x",
		"./cache:y": "./cache:y", "cache:y": "", "http://example.com/x": "", "plain": "plain"} {
		b, _ := json.Marshal(map[string]string{"f": value})
		argv, _, err := Argv(tl, b, Within(within))
		if got := strings.Join(argv, "|"); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q %v, want %q", value, got, err, want)
		}
	}
}

func TestNoEqualsForProgramsThatDoNotKnowIt(t *testing.T) {
	c := &model.Command{Path: []string{"x"},
		Options: []model.Option{{Names: []string{"--url"}, Value: model.Value{Kind: model.String}}}}
	if _, _, err := Argv(wrappedProgram(t, "curl", c, tool.Options{}),
		json.RawMessage(`{"url":"-K/etc/x"}`)); err == nil {
		t.Error("the argument list of curl contains --url=-K/etc/x")
	}
	argv, _, err := Argv(wrappedProgram(t, "unheard-of", c, tool.Options{}), json.RawMessage(`{"url":"-K"}`))
	if err != nil || argv[1] != "--url=-K" {
		t.Errorf("%v %v", argv, err)
	}
}
