package interoptest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A verb is a command line and its expected result.
type verb struct {
	name   string
	args   []string
	stdin  string
	status int
	out    string // part of standard output
	err    string // part of standard error
}

// TestCommandLine uses the verbs that print server data. Standard output is not
// a terminal, so it has the server's JSON.
func TestCommandLine(t *testing.T) {
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		dir := library(t)
		useVerbs(t, dir, gosdk(), everything(t), filesystem(t, dir), memory(t), fastmcp(t), mcpserver(t))
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		dir := library(t)
		useVerbs(t, dir, gosdkOver("http", "/modern")(t), everythingOver("streamableHttp")(t),
			filesystem(t, dir), memory(t),
			pythonOver(fastmcp, "streamable-http")(t), pythonOver(mcpserver, "streamable-http")(t))
	})
}

// useVerbs runs command lines about servers, one of which reads the directory.
func useVerbs(t *testing.T, dir string, servers ...server) {
	t.Helper()
	s := newWorkspace(t, servers...)
	file := filepath.Join(s.dir, "arguments.json")
	if err := os.WriteFile(file, []byte(`{"text":"from a file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run("tools").exits(0) // the following commands then start only what they need
	for _, v := range []verb{
		// Forms of arguments.
		{name: "a word is a string where the schema has one", args: []string{"call", "go__echo", "text=5"},
			out: `"text":"5"`},
		{name: "and a number where it has one", args: []string{"call", "every__get-sum", "a=1", "b=2.5"},
			out: "is 3.5"},
		{name: "an integer", args: []string{"call", "py1__add", "a=40", "b=2"}, out: `"result":42`},
		{name: "a boolean",
			args: []string{"call", "every__get-annotated-message", "messageType=debug", "includeImage=true"},
			out:  "image/png"},
		{name: "JSON",
			args: []string{"call", "files__read_multiple_files", "paths:=" + encode(t, []string{dir + "/poem.txt"})},
			out:  "Roses"},
		{name: "a nested object", args: []string{"call", "memory__create_entities",
			`entities:=[{"name":"Ada","entityType":"person","observations":["x"]}]`}, out: "Ada"},
		{name: "one object", args: []string{"call", "go__echo", `{"text":"one object"}`}, out: "one object"},
		{name: "a file", args: []string{"call", "go__echo", "@" + file}, out: "from a file"},
		{name: "standard input", args: []string{"call", "go__echo", "-"}, stdin: `{"text":"piped"}`, out: "piped"},
		{name: "standard input, unasked", args: []string{"call", "go__echo"}, stdin: `{"text":"unasked"}`,
			out: "unasked"},
		{name: "none", args: []string{"call", "every__get-tiny-image"}, out: "image/png"},
		{name: "the server's own name", args: []string{"call", "go/echo", "text=own"}, out: "own"},
		// Failing calls.
		{name: "a required one is missing", args: []string{"call", "every__get-sum", "a=1"}, status: 2,
			err: "call.arguments"},
		{name: "a wrong type", args: []string{"call", "every__get-sum", "a=1", "b=two"}, status: 2,
			err: "call.arguments"},
		{name: "no JSON", args: []string{"call", "go__echo", `{"text":`}, status: 2, err: "code: usage"},
		{name: "no such file", args: []string{"call", "go__echo", "@/no/such/file"}, status: 2, err: "code: usage"},
		{name: "a typing mistake", args: []string{"call", "go__ecko", "text=x"}, status: 2,
			err: "did you mean go__echo"},
		{name: "a tool that fails", args: []string{"call", "go__fail"}, status: 1, out: "always fails",
			err: "call.tool_error"},
		{name: "a tool that raises", args: []string{"call", "py1__fail", "reason=because"}, status: 1, out: "because",
			err: "call.tool_error"},
		{name: "a tool that takes too long", args: []string{"call", "go__wait", "--timeout", "300ms"}, status: 6,
			err: "call.timeout"},
		{name: "a tool that asks the user", args: []string{"call", "go__ask"}, status: 1, err: "call.input_required"},
		{name: "a tool that asks the user as it used to be", args: []string{"call", "py1__ask"}, status: 1,
			out: "client", err: "call.tool_error"},
		// Resources.
		{name: "read text", args: []string{"read", "note://text"}, out: "Grüße"},
		{name: "read from a template", args: []string{"read", "demo://resource/dynamic/text/3"}, out: "Resource 3"},
		{name: "read at a server", args: []string{"read", "py2/note://by-number/4"}, out: "note 4"},
		{name: "read an unknown scheme", args: []string{"read", "nowhere://x"}, status: 2, err: "name.unknown"},
		{name: "read an unknown resource", args: []string{"read", "go/nowhere://x"}, status: 1, err: "upstream.error"},
		// Prompts.
		{name: "a prompt", args: []string{"prompt", "every__simple-prompt"}, out: "messages"},
		{name: "a prompt with arguments", args: []string{"prompt", "every__args-prompt", "city=Oslo"}, out: "Oslo"},
		{name: "a prompt by the server's own name", args: []string{"prompt", "go/topic", "topic=trains"},
			out: "trains"},
		{name: "a prompt without its argument", args: []string{"prompt", "go__topic"}, status: 2,
			err: "call.arguments"},
		{name: "no such prompt", args: []string{"prompt", "go__topik"}, status: 2, err: "did you mean go__topic"},
		// Other verbs.
		{name: "inspect an unknown tool", args: []string{"inspect", "go__ech"}, status: 2,
			err: "did you mean go__echo"},
		{name: "an unknown server", args: []string{"tools", "goo"}, status: 2, err: "did you mean go"},
		{name: "an unknown verb", args: []string{"cal"}, status: 2, err: "code: usage"},
	} {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			v.check(t, s)
		})
	}
}

// check runs the command line in a subtest.
func (v verb) check(t *testing.T, at *workspace) {
	t.Helper()
	s := *at
	s.t = t
	o := s.runWith(v.stdin, v.args...).exits(v.status).says(v.err)
	if !strings.Contains(o.stdout, v.out) {
		t.Errorf("standard output does not contain %q:\n%s", v.out, clip(o.stdout))
	}
}

// TestReadToFile checks that text and binary resources are written to a file
// unchanged.
func TestReadToFile(t *testing.T) {
	t.Parallel()
	s := newWorkspace(t, fastmcp(t))
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for uri, want := range map[string]string{"note://blob": string(all),
		"note://text": "Grüße aus Python 🐍\nzweite Zeile"} {
		file := filepath.Join(s.dir, "out")
		if o := s.run("read", uri, "--output", file).exits(0); o.stdout != "" {
			t.Errorf("%s: standard output is %q", uri, clip(o.stdout))
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", uri, got, err)
		}
	}
}

// TestJSONMembers checks the members of the JSON output that programs read. New
// members may come, but these must stay.
func TestJSONMembers(t *testing.T) {
	t.Parallel()
	s := newWorkspace(t, gosdk())
	for _, c := range []struct {
		args    []string
		members string // of the one object, or of the first of a list
	}{
		{[]string{"tools"}, "name server tool description inputSchema"},
		{[]string{"resources"}, "uri server title mimeType"},
		{[]string{"prompts"}, "name server prompt description"},
		{[]string{"inspect", "go__echo"},
			"name server tool description at allowed rule arguments_checked inputSchema outputSchema"},
		{[]string{"status"}, "server ok state transport plugin at latency_ms protocol server_info pid tools resources prompts listed settings"},
		{[]string{"plugin", "list"}, "name version source path sha256 protocols transports"},
		{[]string{"validate"}, "valid path servers diagnostics"},
	} {
		var v any
		s.run(c.args...).exits(0).into(&v)
		if status, ok := v.(map[string]any); ok && status["servers"] != nil && c.args[0] == "status" {
			v = status["servers"]
		}
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		have, _ := v.(map[string]any)
		for name := range strings.FieldsSeq(c.members) {
			if _, ok := have[name]; !ok {
				t.Errorf("junctor %s: no member %q among %v",
					strings.Join(c.args, " "), name, slices.Sorted(maps.Keys(have)))
			}
		}
	}
	var failed struct {
		Error struct{ Code, Message, Hint string }
	}
	o := s.run("call", "go__ecko", "--json").exits(2)
	decode(t, json.RawMessage(o.stderr), &failed)
	if failed.Error.Code != "name.unknown" || failed.Error.Hint == "" {
		t.Errorf("the JSON of an error: %s", o.stderr)
	}
}

// TestToolsPrintsTheSchemasOfTheServer compares the printed schemas with those
// of the server.
func TestToolsPrintsTheSchemasOfTheServer(t *testing.T) {
	t.Parallel()
	every := everything(t)
	alone := every.direct(t, oldDialect)
	alone.initialize()
	want := map[string]any{}
	for _, raw := range offered(t, alone.list("tools/list", "tools")) {
		var tool struct {
			Name        string
			InputSchema any
		}
		decode(t, raw, &tool)
		want["every__"+tool.Name] = tool.InputSchema
	}
	var list []struct {
		Name        string
		InputSchema any
	}
	newWorkspace(t, every).run("tools").exits(0).into(&list)
	for _, tool := range list {
		if got, want := encode(t, tool.InputSchema), encode(t, want[tool.Name]); got != want {
			t.Errorf("%s: %s, want %s", tool.Name, got, want)
		}
	}
	if len(list) != len(want) {
		t.Errorf("%d tools, want %d", len(list), len(want))
	}
}

// TestInterruptedListsAreNotKept checks that a command that ends between two
// pages of a list does not leave a part of it in the cache.
func TestInterruptedListsAreNotKept(t *testing.T) {
	t.Parallel()
	s := newWorkspace(t, gosdk("-page", "1"))
	count := func() int {
		var tools []any
		s.run("tools").exits(0).into(&tools)
		return len(tools)
	}
	whole := count()
	for range 5 {
		s.run("call", "go__echo", "text=x").exits(0)
		if n := count(); n != whole {
			t.Fatalf("%d tools after a call, %d before", n, whole)
		}
	}
}

// TestNewToolsAreFound calls a tool that is missing in the cached list, by the
// name under which it will be listed.
func TestNewToolsAreFound(t *testing.T) {
	t.Parallel()
	number := filepath.Join(t.TempDir(), "number")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(number, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("0")
	s := newWorkspace(t,
		server{name: "go", command: []string{"sh", "-c", `exec "$0" -extra "$(cat "$1")"`, program("gosdk"), number}})
	s.run("tools").exits(0)
	write("1")
	s.run("call", "go/extra-0000").exits(1).says("call.tool_error")
	write("2")
	s.run("call", "go__extra-0001").exits(1).says("call.tool_error")
}
