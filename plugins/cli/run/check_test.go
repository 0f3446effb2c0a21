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
		{Names: []string{"--since-file"}, Value: text(model.Path)}, {Names: []string{"--name"}, Value: text(model.String)}, {Names: []string{"--grep"}, Value: text(model.String)},
		{Names: []string{"--define"}, Value: text(model.Map)}, {Names: []string{"--many"}, Value: text(model.String), Repeatable: true}, {Names: []string{"--mode"}, Value: model.Value{Kind: model.Enum, Choices: []string{"/", "x"}}},
		{Names: []string{"--delimiter"}, Value: text(model.String)},
	}, Positionals: []model.Positional{{Name: "rev", Value: text(model.String), Repeatable: true}}}
	tl := wrappedProgram(t, "git", c, tool.Options{Free: free})
	for arguments, want := range map[string]string{
		`{"since-file":"in","name":"x","rev":["in","HEAD~1","a..b"],"many":["in"],"define":{"k":"in"},"args":["in"]}`: "",
		`{"grep":"/etc/passwd"}`: "", `{"mode":"/"}`: "", `{"delimiter":"/"}`: "", `{"args":["-v"]}`: "",
		`{"name":"/"}`: "name: leads out", `{"since-file":"/etc/passwd"}`: "since-file: leads out", `{"since-file":"../x"}`: "since-file: leads out", `{"since-file":"/"}`: "since-file: leads out",
		`{"name":"/etc/passwd"}`: "name: leads out", `{"name":"@/etc/passwd"}`: "name: leads out", `{"name":"file:///etc/passwd"}`: "name: leads out", `{"name":"x=/etc/passwd"}`: "name: leads out",
		`{"rev":["in","/etc/passwd"]}`: "rev[1]: leads out", `{"rev":["/"]}`: "rev[0]: leads out", `{"many":["in","../x"]}`: "many[1]: leads out", `{"define":{"k":"/etc/passwd"}}`: "define.k: leads out",
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
		".": false, ".env": false, ".a.env|.import": false, ".environment": false, `.["x"]`: false, "inputs": false, "envelope": false, ".[0].include": false,
		"env": true, "$ENV": true, "$ENV.PATH": true, ".|env": true, "..|env": true, "[env]": true, "1.env": true, "$ENV|keys": true, `import "a" as a; .`: true, `include "a"; .`: true, `"a"|modulemeta`: true, `"\(env)"`: true, "$ ENV": true, "if true then env else . end": true,
	} {
		if _, _, err := Argv(tl, json.RawMessage(filter(f))); (err != nil) != refused {
			t.Errorf("jq %s: %v", f, err)
		}
	}
	clone := &model.Command{Path: []string{"clone"}, Positionals: []model.Positional{{Name: "repo", Value: text}}}
	tl = wrappedProgram(t, "git", clone, tool.Options{})
	for repo, refused := range map[string]bool{
		"https://example.com/x.git": false, "git@example.com:x/y.git": false, "ssh://git@example.com/x": false, "other": false, "host:-x/y": false,
		"ext::sh -c x": true, "EXT::x": true, " ext::x": true, "fd::17": true, "foo::bar": true, "ssh://-oProxyCommand=x/y": true, "ssh://a@-oProxyCommand=x/y": true,
	} {
		b, _ := json.Marshal(map[string]string{"repo": repo})
		if _, _, err := Argv(tl, b); (err != nil) != refused {
			t.Errorf("git clone %s: %v", repo, err)
		}
	}
	commit := &model.Command{Path: []string{"commit"}, Options: []model.Option{{Names: []string{"--message"}, Value: text}}}
	if _, _, err := Argv(wrappedProgram(t, "git", commit, tool.Options{}), json.RawMessage(`{"message":"std::string is fine"}`)); err != nil {
		t.Error(err)
	}
}

func TestNoEqualsForProgramsThatDoNotKnowIt(t *testing.T) {
	c := &model.Command{Path: []string{"x"}, Options: []model.Option{{Names: []string{"--url"}, Value: model.Value{Kind: model.String}}}}
	if _, _, err := Argv(wrappedProgram(t, "curl", c, tool.Options{}), json.RawMessage(`{"url":"-K/etc/x"}`)); err == nil {
		t.Error("the argument list of curl contains --url=-K/etc/x")
	}
	argv, _, err := Argv(wrappedProgram(t, "unheard-of", c, tool.Options{}), json.RawMessage(`{"url":"-K"}`))
	if err != nil || argv[1] != "--url=-K" {
		t.Errorf("%v %v", argv, err)
	}
}
