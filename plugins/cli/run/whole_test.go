package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/confine"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// TestWholeTexts checks that the text which a value forms with others, or with the fixed text
// beside it, is no path that leads out, although each part is harmless.
func TestWholeTexts(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	for _, name := range []string{"sub", "free"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{"lk.txt", "sub/lk.txt", "lk"} {
		if err := os.Symlink(outside, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		argv, argument, arguments string
		want                      string // empty if the call is refused
	}{
		{`"{a}"`, `"type":"list","separator":"/"`, `{"a":["","etc","passwd"]}`, ""},
		{`"{a}"`, `"type":"path","repeat":true,"separator":"/"`, `{"a":["","etc","passwd"]}`, ""},
		{`"{a}"`, `"type":"list","separator":"/"`, `{"a":["..","x"]}`, ""},
		{`"{a}"`, `"type":"list","separator":"/"`, `{"a":["sub","lk.txt"]}`, ""},
		{`"{a}"`, `"type":"list","separator":"/","pattern":"[a-z.]*"`, `{"a":["sub","lk.txt"]}`, ""},
		{`"{a}"`, `"type":"list","separator":"."`, `{"a":["","","/x"]}`, ""},
		{`"{a}"`, `"type":"list","separator":".","values":["lk","txt"]`, `{"a":["lk","txt"]}`, ""},
		{`"{a}"`, `"type":"list","separator":"/"`, `{"a":["sub","x.txt"]}`, "sub/x.txt"},
		{`"{a}"`, `"type":"list","separator":","`, `{"a":["x","y z"]}`, "x,y z"},
		{`"{a}"`, `"type":"path","repeat":true,"separator":":"`, `{"a":["sub","free"]}`, "sub:free"},
		{`"{a}"`, `"type":"map","separator":"/"`, `{"a":{"x":"0","y":"1"}}`, "x=0/y=1"},
		{`"{a}"`, `"type":"map","separator":"/"`, `{"a":{"x":"","y":"1"}}`, ""},
		{`"{options}"`, `"type":"list","separator":"/","flag":"--to"`, `{"a":["..","x"]}`, ""},

		{`"{a}.txt"`, `"type":"path"`, `{"a":"lk"}`, ""},
		{`"{a}.txt"`, `"type":"string"`, `{"a":"lk"}`, ""},
		{`"{a}.txt"`, `"type":"string"`, `{"a":"x"}`, "x.txt"},
		{`"sub/{a}.txt"`, `"type":"path"`, `{"a":"lk"}`, ""},
		{`"sub/{a}"`, `"type":"string"`, `{"a":"lk.txt"}`, ""},
		{`"sub/{a}"`, `"type":"string"`, `{"a":"../../x"}`, ""},
		{`"sub/{a}"`, `"type":"string"`, `{"a":"x.txt"}`, "sub/x.txt"},
		{`"--file=sub/{a}.txt"`, `"type":"string"`, `{"a":"lk"}`, ""},
		{`"-fsub/{a}"`, `"type":"string"`, `{"a":"lk.txt"}`, ""},
		{`"--file={a}.txt"`, `"type":"string"`, `{"a":"x"}`, "--file=x.txt"},
		{`"@{a}.txt"`, `"type":"string"`, `{"a":"lk"}`, ""},
		{`".{a}"`, `"type":"string"`, `{"a":"./x"}`, ""},
		{`"/{a}"`, `"type":"string"`, `{"a":"etc/passwd"}`, "/etc/passwd"}, // the configuration leads out
		{`"/var/log/{a}.log"`, `"type":"string"`, `{"a":"x"}`, "/var/log/x.log"},
		{`"/var/log/{a}.log"`, `"type":"string"`, `{"a":"../x"}`, ""},
		{`"{a}:/data"`, `"type":"path"`, `{"a":"sub"}`, "sub:/data"},
		{`"{a}:/data"`, `"type":"path"`, `{"a":"lk"}`, ""},
		{`"https://x.test/{a}?q=1"`, `"type":"string"`, `{"a":"y"}`, "https://x.test/y?q=1"},
		{`"file-{a}.txt"`, `"type":"integer"`, `{"a":3}`, "file-3.txt"},
		{`"l{a}"`, `"type":"enum","values":["k.txt"]`, `{"a":"k.txt"}`, "lk.txt"}, // the configuration names it
		{`"{file:a}.txt"`, `"type":"string"`, `{"a":"../x"}`, "D/junctor-in-a.txt"},
	} {
		dirOf, err := confine.New(dir)
		if err != nil {
			t.Fatal(err)
		}
		tl := byHand(t, `{"name":"t","description":"d","argv":[`+c.argv+`],"argument":[{"name":"a",`+c.argument+`}]}`)
		call, err := Prepare(tl, json.RawMessage(c.arguments), Within(dirOf))
		got := ""
		if err == nil {
			got = strings.Join(call.Argv("D"), " ")
		}
		if got != c.want {
			t.Errorf("%s %s %s: %q %v, want %q", c.argv, c.argument, c.arguments, got, err, c.want)
		}
	}
}

// TestProgramsAndNamesOnStandardInput checks what standard input is for a program: a program in
// a small language, or names of files.
func TestProgramsAndNamesOnStandardInput(t *testing.T) {
	const evil = `BEGIN{system(1)}`
	for _, c := range []struct {
		command, argv, stdin string
		refused              bool
	}{
		{"mawk", `"-f","-"`, evil, true}, {"mawk", `"-f","/dev/stdin","a.txt"`, evil, true},
		{"mawk", `"-f-"`, evil, true}, {"gawk", `"--file=/dev/stdin"`, evil, true},
		{"gawk", `"-bf","/proc/self/fd/0"`, evil, true},
		{"gawk", `"-E","-"`, evil, true}, {"mawk", `"-f","-","a.txt"`, `{print}`, false},
		{"mawk", `"1","-"`, evil, false}, {"mawk -f -", `"a.txt"`, evil, true}, {"nice mawk", `"-f","-"`, evil, true},
		{"jq", `"-n","-f","/dev/stdin"`, "env", true}, {"jq", `"-nf","/dev/stdin"`, "env", true},
		{"jq", `"--from-file","/dev/stdin","a.json"`, "$ENV", true}, {"jq", `"-f","/dev/stdin","a.json"`, ".x", false},
		{"jq", `"."`, `{"env":"env"}`, false}, {"find", `".","-exec","mawk","-f","-",";"`, evil, true},
		{"sqlite3", `"x.db"`, ".shell id", true}, {"find", `".","-exec","sqlite3","x.db",";"`, ".shell id", true},

		{"xargs", `"cat"`, "../x", true}, {"xargs cat", `"-n"`, "a\n/etc/passwd", true},
		{"xargs", `"cat"`, "-n a", true}, {"xargs", `"cat"`, `"../x"`, true}, {"xargs", `"cat"`, `.\./x`, true},
		{"xargs", `"-0","cat"`, "a\x00../x", true}, {"xargs", `"-0","cat"`, "a\x00-n", true},
		{"xargs", `"cat"`, "a b\nsub/c\n", false}, {"nice xargs", `"cat"`, "../x", true},
		{"parallel", `"cat"`, "../x", true}, {"find", `".","-exec","xargs","cat",";"`, "../x", true},
		{"tar", `"-cf","-","-T","-"`, "../x", true},
		{"tar", `"-cf","-","--files-from=-"`, "--checkpoint-action=exec=id", true},
		{"tar", `"-cf","-","-T","-"`, "a\nsub/b", false}, {"tar", `"-tf","-"`, "../x", false},
		{"cat", `"-"`, "../x", false}, {"du", `"--files0-from=-"`, "a\x00/etc", true},
	} {
		dir, err := confine.New(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		tl := blockOf(t, strings.Fields(c.command), c.argv, `,"stdin":true`)
		text, err := json.Marshal(map[string]string{tool.StdinName: c.stdin})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Prepare(tl, text, Within(dir)); (err != nil) != c.refused {
			t.Errorf("%s %s %q: %v", c.command, c.argv, c.stdin, err)
		}
	}
}
