package cliconfig

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/sdk"
)

// toolSchema is the part of a plugin's schema that is used here.
var toolSchema = sdk.Schema{
	Attributes: []sdk.Attribute{{Name: "command"}},
	Blocks: []sdk.Block{{Name: "tool", List: true, Label: "name", Schema: sdk.Schema{
		Attributes: []sdk.Attribute{{Name: "description"}, {Name: "argv"},
			{Name: "access", Default: json.RawMessage(`"write"`)}},
		Blocks: []sdk.Block{{Name: "argument", List: true, Label: "name", Schema: sdk.Schema{
			Attributes: []sdk.Attribute{{Name: "flag"}, {Name: "minimum"}, {Name: "required"}},
		}}},
	}}},
}

// TestServerEscapesOutput: output of a program only appears in comments and strings.
func TestServerEscapesOutput(t *testing.T) {
	hostile := "x\" }\n${env(\"HOME\")} %{ if true } \x1b[2J \u2028 \u202e server \"evil\" {\r\n"
	block, err := json.Marshal(map[string]any{
		"name": "t", "description": hostile, "argv": []string{"${file(\"/etc/passwd\")}", "{a}"}, "access": "write",
		"argument": []any{map[string]any{"name": "a", "flag": "--a", "minimum": 1.5, "required": true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := &Program{Name: hostile, Version: hostile, Digest: "00", Incomplete: []string{hostile}, Tools: []Tool{{
		Name: "t", Block: block, AccessFrom: "verb",
		Command: Command{Source: hostile, Confidence: 0.5, Unparsed: []string{hostile, strings.Repeat("x", 1000)}},
	}}}
	text, err := Server("s", "cli", toolSchema,
		map[string]json.RawMessage{"command": json.RawMessage(`["a","${b}"]`)}, p)
	if err != nil {
		t.Fatal(err)
	}
	file, diags := hclsyntax.ParseConfig(text, "f.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("%s\n%v", text, diags)
	}
	body := file.Body.(*hclsyntax.Body)
	if len(body.Blocks) != 1 || len(body.Attributes) != 0 {
		t.Fatalf("there are %d blocks in\n%s", len(body.Blocks), text)
	}
	transport := body.Blocks[0].Body.Blocks[0]
	tool := transport.Body.Blocks[0]
	argv, diags := tool.Body.Attributes["argv"].Expr.Value(nil)
	if diags.HasErrors() || argv.LengthInt() != 2 {
		t.Errorf("argv is %v, %v", argv, diags)
	}
	description, diags := tool.Body.Attributes["description"].Expr.Value(nil)
	if diags.HasErrors() || !strings.Contains(description.AsString(), `${env("HOME")} %{ if true }`) {
		t.Errorf("description is %v, %v", description, diags)
	}
	if strings.ContainsAny(string(text), "\x1b\r\u2028\u202e") {
		t.Errorf("there is what cannot be seen in %q", text)
	}
	if tool.Body.Attributes["access"] != nil {
		t.Error("a default was written down")
	}
}

// TestRead: malformed results are errors.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"tools":[]}`: "false 0",
		`{"tools":[{"name":"a"}],"_meta":{"junctor/model":{"program":"p"}}}`:                                                  "true 0",
		`{"tools":[{"name":"a","_meta":{"junctor/model":{"block":{"name":"x"}}}}],"_meta":{"junctor/model":{"program":"p"}}}`: "true 1",
		`{"tools":[{"name":"a","_meta":{"junctor/model":{"block":{"name":"x"}}}}]}`:                                           "false 0",
		`{"tools":7}`: "error",
	} {
		p, complete, err := Read([]byte(text))
		got := fmt.Sprintf("%t %d", complete, len(p.Tools))
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestCompare: changes are reported as broken or new, and equal options are not reported.
func TestCompare(t *testing.T) {
	var p Program
	program := `{"program":"git","tools":[
		{"command":{"path":["log"],"options":[
			{"names":["--all","-a"],"negation":"--no-all","value":{"kind":"bool"}},
			{"names":["--count","-n"],"value":{"kind":"integer"}},
			{"names":["--color"],"value":{"kind":"enum","choices":["always","never"],"optional":true}},
			{"names":["--help"],"value":{"kind":"bool"}},
			{"names":["--git-dir"],"inherited":true,"value":{"kind":"path"}}]}},
		{"command":{"path":["remote","add"],"options":[{"names":["--name"],"required":true,"value":{"kind":"string"}}]}},
		{"command":{"path":["remote"]}},
		{"block":{"argument":[{"flag":"--fast"}]},"command":{"path":["clean"],"options":[
			{"names":["--slow"],"negation":"--fast","value":{"kind":"bool"}},{"names":["--fast"],"value":{"kind":"bool"}},{"names":["--interactive"],"value":{"kind":"bool"}}]}}]}`
	if err := json.Unmarshal([]byte(program), &p); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{"argv":["log","{x}"],"argument":[{"name":"a","type":"bool","flag":"--all"},{"type":"integer","flag":"-n"},{"type":"enum","flag":"--color","values":["always","never"]},{"name":"x","type":"string"}]}`: ``,
		`{"argv":["log"],"argument":[{"type":"bool","flag":"--no-all"},{"type":"bool","flag":"--color"},{"type":"string","flag":"--count"}]}`:                                                                    ``,
		`{"argv":["log","--count={n}","--all","--","--gone"]}`:                   `new not offered: --color`,
		`{"argv":["log","--gone={n}"],"argument":[{"type":"bool","flag":"-x"}]}`: `broken option -x is gone; broken option --gone is gone; new not offered: --all --count --color`,
		`{"argv":["log","--all=x"],"argument":[{"type":"string","flag":"-a"},{"type":"bool","flag":"-n"},{"type":"enum","flag":"--color","values":["always","auto"]}]}`: `broken option -a no longer takes a value; broken option -n now takes a value; ` +
			`broken option --color no longer takes "auto"; new option --color also takes never; broken option --all no longer takes a value`,
		`{"argv":["remote","add"]}`:    `broken option --name is now required`,
		`{"argv":["remote","{what}"]}`: ``,
		`{"argv":["clean"]}`:           `new not offered: --fast`,
		`{"argv":["clean"],"argument":[{"type":"bool","flag":"--fast"}]}`: ``,
		`{"argv":["push"]}`:            `broken git has no command "push"`,
		`{"argv":["{anything}"]}`:      `broken git has no command ""`,
		`{"argv":["remote","remove"]}`: ``,
	} {
		changes, err := Compare([]json.RawMessage{json.RawMessage(text)}, &p)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range changes {
			got = append(got, c.Kind+" "+c.What)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s\n got %s\nwant %s", text, strings.Join(got, "; "), want)
		}
	}
	p.Short = true
	p.Tools = append(p.Tools, Tool{Command: Command{Path: []string{"listed"}, Source: "list"}})
	for text, want := range map[string]string{
		`{"argv":["push"]}`:                              Unknown,
		`{"argv":["listed","--x={n}"]}`:                  Unknown,
		`{"argv":["listed"],"argument":[{"flag":"-x"}]}`: Unknown,
	} {
		if changes, err := Compare([]json.RawMessage{json.RawMessage(text)}, &p); err != nil || len(changes) != 1 ||
			changes[0].Kind != want {
			t.Errorf("%s: %v, %v", text, changes, err)
		}
	}
	if changes, err := Compare([]json.RawMessage{json.RawMessage(`{"argv":["listed","{x}"]}`)}, &p); err != nil ||
		len(changes) != 0 {
		t.Errorf("a block without options: %v, %v", changes, err)
	}
	first, depth, all := Words([]json.RawMessage{[]byte(`{"argv":["a","b","-c"]}`),
		[]byte(`{"argv":["a","\\{x}","{y}"]}`), []byte(`{"argv":["--all"]}`)})
	if fmt.Sprint(first, depth, all) != "[a] 2 true" {
		t.Error(first, depth, all)
	}
}

// TestDangerousOptionsAreListed: dangerous options are listed by effect, and a comparison
// does not report them as new.
func TestDangerousOptionsAreListed(t *testing.T) {
	tool := Tool{Name: "log", Block: []byte(`{"name":"log","description":"d"}`), DataCodes: []int{1},
		Tried: &Trial{State: TrialWorks}, Ordered: true,
		Dangerous: []Finding{{Names: []string{"--output", "-o"}, Does: "writes files"},
			{Names: []string{"--exec"}, Does: "runs a program"}, {Names: []string{"-x"}, Does: "writes files"}},
		Offered: []Finding{{Names: []string{"--config"}, Does: "loads configuration or code"}},
		Command: Command{Path: []string{"log"}, Source: "help",
			Options: []Option{{Names: []string{"--output", "-o"}}, {Names: []string{"--new"}}}},
	}
	p := &Program{Name: "p", Dangerous: []Finding{{Command: []string{"bisect", "run"}, Does: "runs a program"}},
		Tools: []Tool{tool}}
	text, err := Server("s", "cli", toolSchema, map[string]json.RawMessage{"command": json.RawMessage(`["p"]`)}, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`# dangerous, left out: "bisect run" (runs a program)`,
		"    # dangerous, left out: --output, -x (writes files)",
		"    # dangerous, left out: --exec (runs a program)",
		"    # dangerous, offered: --config (loads configuration or code)",
		"    # exit status 1 is a result and no error", "    # tried: it works", "    # left out: its expression",
	} {
		if !strings.Contains("\n"+string(text), "\n"+line) {
			t.Errorf("there is no line %q in\n%s", line, text)
		}
	}
	tool.Block = []byte(`{"argument":[{"flag":"--output"},{"flag":"--new"}]}`)
	changes, err := Compare([]json.RawMessage{[]byte(`{"name":"log","argv":["log"]}`)},
		&Program{Name: "p", Tools: []Tool{tool}})
	if err != nil || len(changes) != 1 || changes[0].What != "not offered: --new" {
		t.Errorf("%+v %v", changes, err)
	}
}

// TestHarmlessArguments: the arguments for a trial are the required ones, then also the
// first positional one.
func TestHarmlessArguments(t *testing.T) {
	for block, want := range map[string]string{
		`{}`: `[{}]`,
		`{"argument":[{"name":"a","flag":"-a"},{"name":"f","type":"path","repeat":true}]}`:                                                                   `[{},{"f":["."]}]`,
		`{"argument":[{"name":"n","type":"integer","minimum":3,"required":true}]}`:                                                                           `[{"n":3}]`,
		`{"argument":[{"name":"e","type":"enum","values":["x","y"],"required":true},{"name":"l","type":"list","flag":"-l","required":true}]}`:                `[{"e":"x","l":["."]}]`,
		`{"argument":[{"name":"m","type":"map","required":true},{"name":"b","type":"bool","required":true},{"name":"d","type":"duration","required":true}]}`: `[{"b":true,"d":"1s","m":{}}]`,
	} {
		tool := Tool{Block: []byte(block)}
		if got, err := json.Marshal(tool.Harmless(t.TempDir())); err != nil || string(got) != want {
			t.Errorf("%s: %s %v", block, got, err)
		}
	}
}

// TestTrials: a trial says what its tool needs, and the block sandbox that all of them need is
// proposed once.
func TestTrials(t *testing.T) {
	refused := func(stderr, list string) string {
		return `{"isError":true,"content":[],"structuredContent":{"stderr":"` + stderr + `","refused":[` + list + `]}}`
	}
	file := `{"what":"read","path":"/x","reason":"the sandbox refuses /x","allow":{"read":["/x"]}}`
	network := `{"what":"network","reason":"the sandbox refuses the network","allow":{"network":true}}`
	for result, want := range map[string]Trial{
		`{"content":[{"text":"x"}]}`:                                          {State: TrialWorks},
		`{"isError":true,"content":[{"text":"refused"}]}`:                     {State: TrialFailed, Said: "refused"},
		`{"isError":true,"content":[],"structuredContent":{"stderr":"a\nb"}}`: {State: TrialFailed, Said: "a b"},
		`{"isError":true}`: {State: TrialFailed, Said: "it failed and printed nothing"},
		`7`:                {State: TrialFailed, Said: "the result has an unexpected form"},
		refused("x", file): {State: TrialRefused, Said: "x"},
		refused("not logged in", network+","+file): {State: TrialRefused,
			Said: "not logged in"},
		refused("could not resolve host", network): {State: TrialNetwork,
			Said: "could not resolve host"},
		refused("To get started, run: gh auth login", ""): {State: TrialLogin,
			Said: "To get started, run: gh auth login"},
		refused("error: You must be logged in", ""): {State: TrialLogin,
			Said: "error: You must be logged in"},
		refused("Unable to locate credentials", ""): {State: TrialLogin,
			Said: "Unable to locate credentials"},
		refused("please set the GITHUB_TOKEN environment variable to a token", ""): {State: TrialLogin,
			Said: "please set the GITHUB_TOKEN environment variable to a token"},
		refused("unexpected token in line 3", ""): {State: TrialFailed, Said: "unexpected token in line 3"},
		refused("no such file: blogin.txt", ""):   {State: TrialFailed, Said: "no such file: blogin.txt"},
	} {
		if got := NewTrial([]byte(result)); got.State != want.State || got.Said != want.Said {
			t.Errorf("%s: %+v", result, got)
		}
	}
	trial := func(result string) *Trial { one := NewTrial([]byte(result)); return &one }
	tools := []Tool{{Name: "a", Tried: trial(refused("x", file))},
		{Name: "b", Tried: trial(refused("x", network+","+file))}, {Name: "c", Tried: trial(`{}`)}, {Name: "d"}}
	got := strings.Join(proposed(tools), "\n")
	want := "tried: a, b would need this in the block sandbox, if you agree:\n  read = [\"/x\"]\n  network = true"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if lines := proposed(tools[2:]); lines != nil {
		t.Errorf("%q", lines)
	}
}
