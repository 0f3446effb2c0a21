package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/sdk"
)

// blockOf returns a tool of a block with the texts a and b, an integer w, a list l and an enum e
// for a command.
func blockOf(t *testing.T, command []string, argv, more string) *tool.Tool {
	t.Helper()
	type settings struct {
		Tools []tool.Block `hcl:"tool,block" doc:"A tool."`
	}
	arguments := ""
	for _, argument := range [][2]string{{"a", ""}, {"b", ""}, {"w", `"type":"integer",`}, {"l", `"type":"list",`},
		{"e", `"type":"enum","values":["clone","log"],`}} {
		if name := argument[0]; strings.Contains(argv, "{"+name+"}") || strings.Contains(argv, "{file:"+name+"}") {
			arguments += `,{"name":"` + name + `",` + argument[1] + `"required":true}`
		}
	}
	var c settings
	text := `{"tool":[{"name":"t","description":"d","access":"read","argv":[` + argv + `],"argument":[` +
		strings.TrimPrefix(arguments, ",") + `]` + more + `}]}`
	if err := sdk.Decode(sdk.SchemaOf[settings](), []byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if err := tool.CheckBlocks(c.Tools, command); err != nil {
		t.Fatalf("%q %s: %v", command, argv, err)
	}
	return tool.FromBlock(&c.Tools[0],
		tool.Options{Command: command, Rules: danger.For(command, ""), Confined: true, Bounded: true})
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
		{"jq -n --indent", `"{a}"`, `{"a":"2"}`, "2"},
		{"jq -n --indent", `"2","{a}"`, `{"a":"env"}`, ""},
		{"jq -n --new", `"{a}"`, `{"a":"env"}`, ""},
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
		{"ffmpeg", `"-i","{a}","-vf","{b}","out.png"`, `{"a":"in.mp4","b":"scale=80:-2,hflip"}`,
			"-i in.mp4 -vf scale=80:-2,hflip out.png"},
		{"ffmpeg", `"-i","{a}","-vf","{b}","out.png"`, `{"a":"in.mp4","b":"metadata=print:file=x"}`, ""},
		{"ffmpeg", `"-i","in.mp4","-vf","scale={w}:-2","out.png"`, `{"w":80}`, "-i in.mp4 -vf scale=80:-2 out.png"},
		{"ffmpeg",
			`"-i","in.mp4","-filter:v:0","{a}","out.png"`, `{"a":"hflip"}`, "-i in.mp4 -filter:v:0 hflip out.png"},
		{"ffmpeg", `"-i","in.mp4","-filter:v:0","{a}","out.png"`, `{"a":"hflip,metadata=print:file=x"}`, ""},
		{"ffmpeg", `"-f","lavfi","-i","{a}","out.png"`, `{"a":"testsrc=d=1,metadata=print:file=x"}`, ""},
		{"ffmpeg", `"-f","lavfi","-t","1","-i","{a}","out.png"`, `{"a":"movie=x"}`, ""},
		{"ffmpeg", `"-i","in.mp4","-vf","{a}","-metadata","{a}","out.png"`, `{"a":"hflip,metadata=print:file=x"}`, ""},
		{"ffmpeg -f lavfi", `"-i","{a}","out.png"`, `{"a":"movie=x"}`, ""},
		{"ffmpeg", `"-f","lavfi","-i","{a}","out.png"`, `{"a":"testsrc=d=1"}`, "-f lavfi -i testsrc=d=1 out.png"},
		{"ffmpeg", `"-f","lavfi","-i","testsrc=duration={w}","-i","{a}","out.png"`, `{"w":2,"a":"in.mp4"}`,
			"-f lavfi -i testsrc=duration=2 -i in.mp4 out.png"},
		{"ffmpeg", `"-f","{a}","-i","{b}","out.png"`, `{"a":"lavfi","b":"x"}`, ""},
		{"ffmpeg", `"-f","{a}","-i","{b}","out.png"`, `{"a":"rawvideo","b":"x"}`, "-f rawvideo -i x out.png"},
		{"ffmpeg", `"-i","in.mp4","{a}"`, `{"a":"l%d.png"}`, ""},
		{"ffmpeg", `"-i","{a}","out.png"`, `{"a":"l%03d.png"}`, ""},
		// Forced arguments behind runners, and with a fixed database.
		{"sqlite3", `"x.db","{a}"`, `{"a":"select 1"}`, "-safe x.db select 1"},
		{"sqlite3 x.db", `"{a}"`, `{"a":"select 1"}`, "-safe select 1"},
		{"sqlite3", `":memory:","{a}"`, `{"a":"select 1"}`, "-safe :memory: select 1"},
		{"env sqlite3", `"x.db","{a}"`, `{"a":"select 1"}`, "-safe x.db select 1"},
		{"sqlite3", `"x.db","select 1"`, `{}`, "x.db select 1"},
		{"nice sed", `"{a}","x.txt"`, `{"a":"1d"}`, "--sandbox 1d x.txt"},
		{"timeout 5 sed", `"{a}","x.txt"`, `{"a":"1d"}`, "--sandbox 1d x.txt"},
		{"env -C . sed", `"{a}","x.txt"`, `{"a":"1d"}`, "--sandbox 1d x.txt"},
		{"nice", `"-n","5","sed","{a}","x.txt"`, `{"a":"1d"}`, "-n 5 sed --sandbox 1d x.txt"},
		{"xargs -a names", `"sed","-e","{a}"`, `{"a":"1d"}`, "sed --sandbox -e 1d"},
		{"nice sed", `"1w out","{a}"`, `{"a":"x.txt"}`, "1w out x.txt"},
		{"nice sed --sandbox", `"{a}"`, `{"a":"1d"}`, "1d"},
		{"timeout", `"{w}","sed","{a}"`, `{"w":5,"a":"1d"}`, "5 sed --sandbox 1d"},
		{"timeout", `"{a}","mawk","{b}"`, `{"a":"5","b":"` + evil + `"}`, ""},
		{"timeout 5 curl", `"-s","{a}"`, `{"a":"http://x.test/"}`, "--proto =http,https -s http://x.test/"},
		{"curl",
			`"http://x.test/","{a}"`, `{"a":"http://y.test/"}`, "--proto =http,https http://x.test/ http://y.test/"},
		{"env", `"--","sed","{a}"`, `{"a":"-e1d"}`, ""},
		{"env", `"--","sed","--","{a}"`, `{"a":"1d"}`, "-- sed --sandbox -- 1d"},

		// Programs behind the fixed words of others.
		{"find", `".","-exec","sed","-n","{a}","x.txt",";"`, `{"a":"1p"}`, ". -exec sed --sandbox -n 1p x.txt ;"},
		{"find", `".","-exec","mawk","{a}","x.txt",";"`, `{"a":"` + evil + `"}`, ""},
		{"find", `".","-exec","mawk","{a}","{}",";"`, `{"a":"{print}"}`, ". -exec mawk {print} {} ;"},
		{"find", `"{a}","-name","x","-execdir","mawk","{b}","{}","+"`, `{"a":"sub","b":"` + evil + `"}`, ""},
		{"find", `".","-ok","nice","-n","2","mawk","{a}","{}",";"`, `{"a":"` + evil + `"}`, ""},
		{"find . -exec", `"mawk","{a}","{}",";"`, `{"a":"` + evil + `"}`, ""},
		{"find . -exec mawk", `"{a}","{}",";"`, `{"a":"` + evil + `"}`, ""},
		{"env", `"find",".","-exec","mawk","{a}",";"`, `{"a":"` + evil + `"}`, ""},
		{"find", `".","-exec","grep","-l","{a}","{}","+"`, `{"a":"x"}`, ". -exec grep -l x {} +"},
		{"find", `".","-exec","sed","1w out","{}",";","-name","{a}"`, `{"a":"x"}`, ". -exec sed 1w out {} ; -name x"},
		{"find", `".","-exec","sed","{a}","x",";","-exec","mawk","{b}","{}",";"`, `{"a":"1p","b":"` + evil + `"}`, ""},
		{"find", `".","-exec","sed","{a}","x",";","-exec","mawk","{b}","{}",";"`, `{"a":"1p","b":"1"}`,
			". -exec sed --sandbox 1p x ; -exec mawk 1 {} ;"},
		{"find", `".","-exec","sqlite3","x.db","{a}",";"`, `{"a":"select readfile(1)"}`, ""},
		{"fd", `"-x","mawk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"pyenv", `"exec","gawk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"uv", `"run","--with","x","gawk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"uv run --with x", `"gawk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"uv", `"run","--with","x","sed","{a}"`, `{"a":"1d"}`, "run --with x sed --sandbox 1d"},
		{"pyenv exec", `"gawk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"pyenv exec gawk", `"{a}"`, `{"a":"` + evil + `"}`, ""},

		// Words of runners that are names of programs.
		{"env -C find mawk", `"{a}"`, `{"a":"` + evil + `"}`, ""},
		{"env -C find", `"mawk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"xargs -I file mawk", `"{a}"`, `{"a":"` + evil + `"}`, ""},
		{"xargs", `"-a","cat","-n","1","mawk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"/lib64/ld-linux-x86-64.so.2 /usr/bin/gawk", `"{a}"`, `{"a":"` + evil + `"}`, ""},
		{"ld.so --library-path find", `"gawk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"sudo -u git", `"gawk","{a}"`, `{"a":"` + evil + `"}`, ""},
		{"flock jq", `"gawk","{a}"`, `{"a":"` + evil + `"}`, ""},

		// Commands behind options and slots.
		{"git", `"ls-remote","{a}"`, `{"a":"ext::sh -c id"}`, ""},
		{"git", `"--no-pager","ls-remote","{a}"`, `{"a":"ext::sh -c id"}`, ""},
		{"git", `"-C","sub","clone","{a}"`, `{"a":"ext::sh -c id"}`, ""},
		{"git", `"-c","x=y","-C","sub","clone","{a}"`, `{"a":"ext::sh -c id"}`, ""},
		{"git", `"{e}","{a}"`, `{"e":"clone","a":"ext::sh -c id"}`, ""},
		{"git", `"-C","{b}","fetch","{a}"`, `{"b":"sub","a":"ext::sh -c id"}`, ""},
		{"git", `"{b}","{a}"`, `{"b":"fetch","a":"ext::sh -c id"}`, ""},
		{"nice", `"git","-C","sub","clone","{a}"`, `{"a":"ext::sh -c id"}`, ""},
		{"git", `"-C","sub","log","--grep","{a}"`, `{"a":"a::b"}`, "-C sub log --grep a::b"},
		{"git", `"--no-pager","ls-remote","{a}"`, `{"a":"origin"}`, "--no-pager ls-remote origin"},
		{"git", `"ls-remote","{a}::{b}"`, `{"a":"ext","b":"sh -c id"}`, ""},
		{"git", `"ls-remote","https://x.test/{a}"`, `{"a":"y"}`, "ls-remote https://x.test/y"},
		{"make", `"{a}"`, `{"a":"x:=$(shell id)"}`, ""},
		{"make", `"-n","{a}"`, `{"a":"x!=id"}`, ""},
		{"make", `"{a}"`, `{"a":"all"}`, "all"},
		{"curl", `"-sd","{a}","http://x.test/"`, `{"a":"@a.txt"}`, ""},
		{"curl", `"-sd","{a}","http://x.test/"`, `{"a":"x=1"}`, "--proto =http,https -sd x=1 http://x.test/"},
		{"tar", `"-tf","{a}"`, `{"a":"host:x"}`, ""},
		{"tar", `"-tf","{a}"`, `{"a":"x.tar"}`, "-tf x.tar"},
		{"psql", `"--dbname","{a}"`, `{"a":"host=/tmp sslkey=k"}`, ""},

		// Lists before a program, or with one.
		{"mawk", `"-F","{l}","x.txt"`, `{"l":[":","` + evil + `"]}`, ""},
		{"mawk", `"-F","{l}","x.txt"`, `{"l":[":"]}`, "-F : x.txt"},
		{"mawk", `"-v","{l}","x.txt"`, `{"l":["x=1","` + evil + `"]}`, ""},
		{"mawk", `"{l}"`, `{"l":["1","a.txt","b.txt"]}`, "1 a.txt b.txt"},
		{"mawk", `"{l}"`, `{"l":["` + evil + `","a.txt"]}`, ""},
		{"jq", `"--indent","{l}","a.json"`, `{"l":["1","env|keys"]}`, ""},
		{"jq", `"-n","--arg","{l}"`, `{"l":["x","y","env|keys"]}`, ""},
		{"jq", `"-n","--arg","{l}"`, `{"l":["x","it is","$x"]}`, "-n --arg x it is $x"},
		{"jq", `"-n","--new","{l}"`, `{"l":["x","y","env|keys"]}`, ""},

		// Programs from files and standard input.
		{"mawk", `"-f","{file:a}","x.txt"`, `{"a":"` + evil + `"}`, ""},
		{"mawk", `"-f{file:a}","x.txt"`, `{"a":"` + evil + `"}`, ""},
		{"gawk", `"--file={file:a}","x.txt"`, `{"a":"` + evil + `"}`, ""},
		{"gawk", `"-E","{file:a}","x.txt"`, `{"a":"` + evil + `"}`, ""},
		{"gawk", `"-bf","{file:a}","x.txt"`, `{"a":"` + evil + `"}`, ""},
		{"gawk", `"-i","{file:a}","1","x.txt"`, `{"a":"` + evil + `"}`, ""},
		{"gawk -f", `"{file:a}","x.txt"`, `{"a":"` + evil + `"}`, ""},
		{"gawk", `"-E","{file:a}","x.txt"`, `{"a":"{print}"}`, "-E D/junctor-in-a x.txt"},
		{"gawk", `"-bf","{file:a}","x.txt"`, `{"a":"{print}"}`, "-bf D/junctor-in-a x.txt"},
		{"gawk", `"-i","{file:a}","1","x.txt"`, `{"a":"function f(x) { return x }"}`, "-i D/junctor-in-a 1 x.txt"},
		{"mawk", `"-f{file:a}","{b}"`, `{"a":"{print}","b":"x.txt"}`, "-fD/junctor-in-a x.txt"},
		{"mawk", `"1","{file:a}"`, `{"a":"` + strings.ReplaceAll(evil, "B", "b") + `"}`, "1 D/junctor-in-a"},
		{"jq", `"-f","{file:a}","x.json"`, `{"a":"env"}`, ""},
		{"jq", `"--from-file","{file:a}","x.json"`, `{"a":"env"}`, ""},
		{"jq", `"-nf","{file:a}"`, `{"a":"env"}`, ""},
		{"jq", `"-f","{file:a}","x.json"`, `{"a":".x"}`, "-f D/junctor-in-a x.json"},
		{"jq", `".x","{file:a}"`, `{"a":"{\"env\":1}"}`, ".x D/junctor-in-a"},

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
	call, err := Prepare(blockOf(t, []string{"sqlite3"}, `"x.db"`, `,"stdin":true`),
		json.RawMessage(`{"stdin":"select 1"}`))
	if err != nil || strings.Join(call.Argv("D"), " ") != "-safe x.db" {
		t.Errorf("%+v %v", call, err)
	}
}
