package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/sdk"
)

// blockOf returns a tool of a block with the arguments a and b for a command.
func blockOf(t *testing.T, command []string, argv, more string) *tool.Tool {
	t.Helper()
	type settings struct {
		Tools []tool.Block `hcl:"tool,block" doc:"A tool."`
	}
	arguments := ""
	for _, name := range []string{"a", "b"} {
		if strings.Contains(argv, "{"+name+"}") {
			arguments += `,{"name":"` + name + `","required":true}`
		}
	}
	var c settings
	text := `{"tool":[{"name":"t","description":"d","access":"read","argv":[` + argv + `],"argument":[` + strings.TrimPrefix(arguments, ",") + `]` + more + `}]}`
	if err := sdk.Decode(sdk.SchemaOf[settings](), []byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if err := tool.CheckBlocks(c.Tools, command); err != nil {
		t.Fatalf("%q %s: %v", command, argv, err)
	}
	return tool.FromBlock(&c.Tools[0], tool.Options{Command: command, Rules: danger.For(command, ""), Confined: true, Bounded: true})
}

// TestRulesOfBlocks: the rules about small programs and operators hold in tool blocks, whatever
// comes before a slot, and the arguments that tame a program are given there, too.
func TestRulesOfBlocks(t *testing.T) {
	const evil = `BEGIN{system(1)}`
	for _, c := range []struct {
		command   string
		argv      string
		arguments string
		want      string // joined by spaces; empty if the call is refused
	}{
		{"jq", `"-n","--arg","x","{a}","{b}"`, `{"a":"it is","b":"$x"}`, "-n --arg x it is $x"},
		{"jq", `"-n","--arg","x","{a}","{b}"`, `{"a":"1","b":"env"}`, ""},
		{"jq", `"-n","--arg","x","1","{b}"`, `{"b":"env"}`, ""},
		{"jq", `"-n","--argjson","x","{a}","{b}"`, `{"a":"1","b":"$ENV"}`, ""},
		{"jq", `"-n",["--arg","x","{a}"],"{b}"`, `{"a":"1","b":"env"}`, ""},
		{"jq", `"--slurpfile","x","{a}","{b}"`, `{"a":"x.json","b":"env"}`, ""},
		{"jq", `".x","{a}"`, `{"a":"env"}`, ".x env"},
		{"jq --arg x", `"{a}","{b}"`, `{"a":"1","b":"env"}`, ""},
		{"jq --arg", `"x","{a}","{b}"`, `{"a":"it is","b":"env"}`, ""},
		{"jq --arg", `"x","{a}","{b}"`, `{"a":"it is","b":"$x"}`, "x it is $x"},
		{"jq -n --indent", `"{a}"`, `{"a":"env"}`, ""},
		{"mawk -F", `"{a}","{b}"`, `{"a":":","b":"` + evil + `"}`, ""},
		{"mawk -F :", `"{a}"`, `{"a":"` + evil + `"}`, ""},
		{"mawk", `"-v","x=1","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"mawk", `"-v","x={a}","{b}"`, `{"a":"1","b":"` + evil + `"}`, ""},
		{"mawk", `"-v","x=1","-F",":","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"mawk -v x=1", `"{a}"`, `{"a":"` + evil + `"}`, ""},
		{"gawk", `"--assign","x=1","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"mawk", `"-v","x=1","{print x}","{a}"`, `{"a":"x.txt"}`, "-v x=1 {print x} x.txt"},
		{"mawk {print}", `"{a}"`, `{"a":"x.txt"}`, "x.txt"},
		{"busybox", `"awk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"env", `"gawk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"nice", `"mawk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"find", `"--","{a}"`, `{"a":"-delete"}`, ""},
		{"find", `"--","{a}"`, `{"a":"sub"}`, "-- sub"},
		{"cat", `"--","{a}"`, `{"a":"-n"}`, "-- -n"},
		{"find", `"{a}","-name","*.log","-delete"`, `{"a":"!"}`, ""},
		{"find", `"{a}","-name","*.log","-delete"`, `{"a":"("}`, ""},
		{"find", `"{a}","-name","*.log","-delete"`, `{"a":"sub"}`, "sub -name *.log -delete"},
		{"sed", `"-e","{a}","x.txt"`, `{"a":"1d"}`, "--sandbox -e 1d x.txt"},
		{"sed", `"--expression={a}","x.txt"`, `{"a":"1d"}`, "--sandbox --expression=1d x.txt"},
		{"sed", `"{a}","x.txt"`, `{"a":"1d"}`, "--sandbox 1d x.txt"},
		{"sed", `"--sandbox","{a}"`, `{"a":"1d"}`, "--sandbox 1d"},
		{"sed", `"1w out","{a}"`, `{"a":"x.txt"}`, "1w out x.txt"},
		{"sqlite3", `"{a}"`, `{"a":"x.db"}`, "-safe x.db"},
		{"sqlite3 -safe", `"{a}"`, `{"a":"x.db"}`, "x.db"},
		{"ffmpeg", `"-i","{a}","-vf","{b}","out.png"`, `{"a":"in.mp4","b":"scale=80:-2,hflip"}`, "-i in.mp4 -vf scale=80:-2,hflip out.png"},
		{"ffmpeg", `"-i","{a}","-vf","{b}","out.png"`, `{"a":"in.mp4","b":"metadata=print:file=x"}`, ""},
		{"ffmpeg", `"-i","in.mp4","-vf","scale={a}:-2","out.png"`, `{"a":"80"}`, "-i in.mp4 -vf scale=80:-2 out.png"},
		{"ffmpeg", `"-i","in.mp4","-vf","scale={a}:-2","out.png"`, `{"a":"32:32,metadata=print:file=x,scale=32"}`, ""},
		{"ffmpeg", `"-i","in.mp4","{a}"`, `{"a":"l%d.png"}`, ""},
		{"ffmpeg", `"-i","{a}","out.png"`, `{"a":"l%03d.png"}`, ""},
		{"curl", `"{a}"`, `{"a":"http://x.test/"}`, "--proto =http,https http://x.test/"},
	} {
		call, err := Prepare(blockOf(t, strings.Fields(c.command), c.argv, ""), json.RawMessage(c.arguments))
		got := ""
		if err == nil {
			got = strings.Join(call.Argv("D"), " ")
		}
		if got != c.want {
			t.Errorf("%s %s %s: %q %v, want %q", c.command, c.argv, c.arguments, got, err, c.want)
		}
	}
	call, err := Prepare(blockOf(t, []string{"sqlite3"}, `"x.db"`, `,"stdin":true`), json.RawMessage(`{"stdin":"select 1"}`))
	if err != nil || strings.Join(call.Argv("D"), " ") != "-safe x.db" {
		t.Errorf("%+v %v", call, err)
	}
}
