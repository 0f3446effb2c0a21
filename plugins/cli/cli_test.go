package main

import (
	"encoding/json"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/internal/docscheck"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// sayTool is a tool block as the JSON that the host sends.
const sayTool = `{"name":"say","description":"Says it.","argv":["{words}"],"argument":[{"name":"words","repeat":true}]}`

var cliCase = plugintest.Transport{
	Name:   "cli",
	Serves: true,
	Peer: func(t testing.TB) plugintest.Peer {
		settings, err := json.Marshal(map[string]any{
			"command": []string{"echo"}, "env": map[string]string{"TOKEN": plugintest.Canary}, "cwd": t.TempDir(),
			"tool": []json.RawMessage{json.RawMessage(sayTool)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return plugintest.Peer{Settings: string(settings)}
	},
	Refused: refusedSettings,
}

var refusedSettings = []plugintest.Refusal{
	{Settings: `{"command":[]}`, Paths: []string{"command"}},
	{Settings: `{"command":["x","a\u0000b"]}`, Paths: []string{"command[1]"}},
	{Settings: `{"command":["x"],"ok_codes":[],"data_codes":[1,256,-1],"timeout":"0s"}`,
		Paths: []string{"ok_codes", "data_codes[1]", "data_codes[2]", "timeout"}},
	{Settings: `{"command":["x"],"tool":[{"name":"t","description":"d","argument":[{"name":"a","flag":"all"}]}]}`,
		Paths: []string{"tool[0].argument[0].flag"}},
	{Settings: `{"command":["x"],"depth":0,"parallel":0,"max_output":0,"max_stderr":-1}`,
		Paths: []string{"depth", "parallel", "max_output", "max_stderr"}},
	{Settings: `{"command":["x"],"max_output":1000000000,"max_stderr":1000000000}`,
		Paths: []string{"max_output", "max_stderr"}},
	{Settings: `{"command":["x"],"probe":"never"}`, Paths: []string{"probe"}},
	{Settings: `{"command":["x"],"probe":"explicit"}`, Paths: []string{"probe"}},
	{Settings: `{"command":["x"],"output":"xml","timeout":"soon","ok_codes":["x"]}`,
		Paths: []string{"output", "timeout", "ok_codes[0]"}},
	{Settings: `{"command":["x"],"args":"(","only":[""],"except":["["]}`,
		Paths: []string{"args", "only[0]", "except[0]"}},
	{Settings: `{"command":["x"],"globals":["[a"],"omit":[" "],"read":["["],"write":["["],"destructive":["["],"idempotent":["["]}`,
		Paths: []string{"globals[0]", "omit[0]", "read[0]", "write[0]", "destructive[0]", "idempotent[0]"}},
	{Settings: `{"command":["x"],"dangerous":["<*>","**","-*"," * ","*"]}`,
		Paths: []string{"dangerous[3]", "dangerous[4]"}},
	{Settings: `{"command":["x"],"env":{"A=B":"1","":"2","C":"\u0000"}}`,
		Paths: []string{`env["A=B"]`, `env[""]`, `env["C"]`}},
	{Settings: `{"command":["x"],"limits":{"memory":"lots","files":-1,"processes":-1,"cpu":"1"}}`,
		Paths: []string{"limits.cpu"}},
	{Settings: `{"command":["x"],"limits":{"memory":"lots","files":-1,"processes":-1}}`,
		Paths: []string{"limits.memory", "limits.files", "limits.processes"}},
	{Settings: `{"command":["x"],"limits":{"memory":"99999999999TiB"}}`, Paths: []string{"limits.memory"}},
	{Settings: `{"command":["x"],"tool":[{"name":"a","description":"d"},{"name":"b","description":"d","command":[],"timeout":"0s","max_output":0,"ok_codes":[],"data_codes":[256],"env":{"A=":"b"}}]}`,
		Paths: []string{"tool[1].command", "tool[1].timeout", "tool[1].max_output", "tool[1].ok_codes",
			"tool[1].data_codes[0]", `tool[1].env["A="]`}},
	{Settings: `{"command":["x"],"tool":[{"name":"b","description":"d","command":["x\u0000"],"max_output":99999999999,"ok_codes":[-1],"env":{"A":"\u0000"},"limits":{"memory":"lots","files":-1}}]}`,
		Paths: []string{"tool[0].command[0]", "tool[0].max_output", "tool[0].ok_codes[0]", `tool[0].env["A"]`,
			"tool[0].limits.memory", "tool[0].limits.files"}},
	{Settings: `{"command":["x"],"select":".a"}`, Paths: []string{"select"}},
	{Settings: `{"command":["x"],"output":"json","select":".a | b","tool":[{"name":"b","description":"d","output":"text","select":".a"},{"name":"c","description":"d","select":".a["}]}`,
		Paths: []string{"select", "tool[0].select", "tool[1].select"}},
	{Settings: `{"command":["x"],"tool":[{"name":"b","description":"d","output":"xml","timeout":"soon"}]}`,
		Paths: []string{"tool[0].output", "tool[0].timeout"}},
	// Attributes for discovered commands have no effect if there are none.
	{Settings: `{"command":["x"],"only":["a"],"read":["a"],"args":"a","stdin":true,"tool":[` + sayTool + `]}`,
		Paths: []string{"only", "read", "args", "stdin"}},
	{Settings: `{"command":["x"],"tool":[` + sayTool + `,` + sayTool + `]}`, Paths: []string{"tool[1].name"}},
	{Settings: `{"command":["x"],"tool":[{"name":"a","description":"d","argument":[{"name":"x","type":"enum","flag":"-x"}]}]}`,
		Paths: []string{"tool[0].argument[0].values"}},
}

func TestPlugin(t *testing.T) { plugintest.InProcess(t, plugin(), cliCase) }

func TestProgram(t *testing.T) { plugintest.Binary(t, plugintest.Build(t, "."), cliCase) }

// TestMissingProgram checks that opening a server fails at the attribute.
func TestMissingProgram(t *testing.T) {
	for settings, path := range map[string]string{
		`{"command":["no-such-program-5f0c"]}`:           "command",
		`{"command":["./sub"],"cwd":"/"}`:                "command",
		`{"command":["echo"],"cwd":"no-such-directory"}`: "cwd",
	} {
		_, err := plugin().Transports["cli"].Open(t.Context(), &sdk.Server{Dir: t.TempDir()}, []byte(settings))
		if e, ok := err.(*sdk.Error); !ok || e.Path != path || e.Hint == "" {
			t.Errorf("%s: %v", settings, err)
		}
	}
}

// TestDocuments checks that the changelog has the version of the code and that
// the README describes every setting.
func TestDocuments(t *testing.T) { docscheck.Check(t, plugin()) }
