package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/confine"
	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/sdk"
)

// wrappedTool returns the discovered tool of a program with an empty help.
func wrappedTool(t testing.TB, program string, dangerous ...string) *tool.Tool {
	t.Helper()
	c := &model.Command{Runnable: true,
		Positionals: []model.Positional{{Name: "path", Value: model.Value{Kind: model.Path}, Repeatable: true}}}
	p := &model.Program{Name: program, Root: c}
	return tool.FromProgram(p,
		tool.Options{Rules: danger.For([]string{program}, ""), Dangerous: dangerous, Confined: true, Bounded: true})[0]
}

// expressionCases are calls of discovered programs: what dangerous names, the arguments,
// and the argument list or a part of the error.
var expressionCases = []struct {
	program, dangerous, arguments, want, problem string
}{
	{"find", "", `{"path":["."],"expression":["-name","x"]}`, `. -name x`, ""},
	{"find", "", `{}`, ``, ""},
	{"find", "", `{"expression":[]}`, ``, ""},
	{"find", "", `{"expression":null}`, ``, ""},
	{"find", "", `{"expression":["(","-name","-x",")",",","-print"]}`, `( -name -x ) , -print`, ""},
	{"find", "", `{"expression":["-name","-name"]}`, `-name -name`, ""},
	{"find", "-delete", `{"expression":["-name","x","-delete"]}`, `-name x -delete`, ""},
	{"find", "-delete", `{"expression":["-exec","x",";"]}`, ``,
		`expression[0]: -exec is left out because it runs a program; dangerous = ["-exec"] would allow it`},
	{"find", "-exec", `{"expression":["-exec","cat","{}",";","-print"]}`, `-exec cat {} ; -print`, ""},
	{"find", "-exec", `{"expression":["-exec","cat","{}","+"]}`, `-exec cat {} +`, ""},
	{"find", "-exec", `{"expression":["-exec","cat","+",";"]}`, `-exec cat + ;`, ""},
	{"find", "-exec", `{"expression":["-exec","cat","{}"]}`, ``, `expression: ends within -exec`},
	{"find", "-exec", `{"expression":["-exec","cat","/etc/passwd",";"]}`, ``, `expression[2]: leads out`},
	{"find", "-fprint", `{"expression":["-fprint","../x"]}`, ``, `expression[1]: leads out`},
	{"find", "-fprint", `{"expression":["-fprint","-"]}`, `-fprint -`, ""},
	{"find", "", `{"expression":["-name"]}`, ``, `expression: ends after -name, which needs a value of the kind text`},
	{"find", "", `{"expression":["-name","x","y"]}`, ``,
		`expression[2]: is not a word of the expression, and no word before it takes a value`},
	{"find",
		"", `{"expression":["-prin"]}`, ``, `expression[0]: is not a word of the expression, and no word before it takes a value; similar words are -print`},
	{"find", "", `{"expression":["-name","-delete"]}`, ``,
		`expression[1]: must not be a word that is left out because it does harm`},
	{"find", "", `{"expression":["-newer","../x"]}`, ``, `expression[1]: leads out`},
	{"find", "", `{"expression":["-name","a\u0000b"]}`, ``, `expression[1]: must not contain NUL`},
	{"find", "", `{"expression":["-name",null]}`, ``, `expression[1]: must be a string`},
	{"find", "", `{"expression":{"-name":"x"}}`, ``, `expression: must be a list`},
	{"find", "", `{"expression":[` + strings.Repeat(`"-print",`, tool.MaxWords) + `"-print"]}`,
		``, `expression: must have at most 256 elements`},
	{"find", "", `{"expression":["-name","` + strings.Repeat("x", 20000) + `"]}`,
		``, `expression[1]: must have at most 16384 bytes`},
	{"test", "", `{"expression":["-f","x","-a","-3","-lt","2"]}`, `-f x -a -3 -lt 2`, ""},
	{"test", "", `{"expression":["-f","/etc/passwd"]}`, ``, `expression[1]: leads out`},
	{"test", "", `{}`, ``, `expression: is required`},
	{"[", "", `{"expression":["a","=","b"]}`, `a = b ]`, ""},
	{"[", "", `{"expression":["a","=","]"]}`, `a = ] ]`, ""},
	{"expr", "", `{"expression":["/etc","=","/etc"]}`, `/etc = /etc`, ""},
	{"expr", "", `{"expression":["-x"]}`, ``, `expression[0]: is not a word`},
	{"ffprobe", "", `{"arguments":["-show_format","in.mp4"]}`,
		`-show_format -protocol_whitelist file,pipe -format_whitelist F in.mp4`, ""},
	{"ffprobe", "", `{"arguments":["-show_format","in.mp4","-o","x"]}`, ``, `arguments[2]: is not a word`},
	{"ffmpeg", "", `{"arguments":["-i","a%d.png","-vf","scale=2:2","out.gif"]}`,
		`-protocol_whitelist file,pipe -format_whitelist F -i a%d.png -vf scale=2:2 out.gif`, ""},
	{"ffmpeg", "", `{"arguments":["-i","a%d/b.png","out.gif"]}`, ``,
		`arguments[1]: must have a number such as %03d only in the name`},
	{"ffmpeg", "", `{"arguments":["-i","in.mp4","-vf","movie=x","out.gif"]}`, ``,
		`arguments[3]: the filter movie at byte 0 is not one of those`},
}

func TestExpression(t *testing.T) {
	dir, err := confine.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range expressionCases {
		var dangerous []string
		if c.dangerous != "" {
			dangerous = []string{c.dangerous}
		}
		tl := wrappedTool(t, c.program, dangerous...)
		argv, _, err := Argv(tl, json.RawMessage(c.arguments), Within(dir))
		for i, arg := range argv {
			if i > 0 && argv[i-1] == "-format_whitelist" && strings.Contains(arg, "matroska") {
				argv[i] = "F"
			}
		}
		if got := strings.Join(argv, " "); got != c.want || (err == nil) != (c.problem == "") {
			t.Errorf("%s %.200s: %q, %v", c.program, c.arguments, got, err)
		}
		if e, ok := errors.AsType[*ArgumentError](err); err != nil && (!ok || !strings.Contains(e.Error(), c.problem)) {
			t.Errorf("%s %.200s: %v, want %s", c.program, c.arguments, err, c.problem)
		}
	}
}

// TestFirstPositionalIsScanned checks that the first positional of a call is the one
// that the program takes for its program, in discovered tools and in tool blocks.
func TestFirstPositionalIsScanned(t *testing.T) {
	const evil = `BEGIN{system(1)}`
	for _, c := range []struct {
		argv      string
		arguments map[string]any
		refused   bool
	}{
		{`"{program}","{file}"`, map[string]any{"program": "{print}", "file": "a.txt"}, false},
		{`"{program}","{file}"`, map[string]any{"program": evil}, true},
		{`"{program}","{file}"`, map[string]any{"file": evil}, true},
		{`"--","{program}","{file}"`, map[string]any{"program": evil}, true},
		{`"--","{program}","{file}"`, map[string]any{"program": "1", "file": "a.txt"}, false},
		{`"-F:","--","{program}","{file}"`, map[string]any{"program": "1", "file": "a.txt"}, false},
		{`"-F",":","{program}","{file}"`, map[string]any{"program": evil}, true},
		{`"-n","{program}","{file}"`, map[string]any{"program": evil}, true},
		{`"-q","{program}","{file}"`, map[string]any{"program": evil}, true},
		{`"-q","{program}","{file}"`, map[string]any{"program": "1", "file": evil}, true},
		{`"-nq","{program}","{file}"`, map[string]any{"program": "1", "file": evil}, true},
		{`"-n","{program}","{file}"`, map[string]any{"program": "1", "file": "a.txt"}, false},
		{`"-F:","{program}","{file}"`, map[string]any{"program": "1", "file": "a.txt"}, false},
		{`"-nF:","{program}","{file}"`, map[string]any{"program": "1", "file": "a.txt"}, false},
		{`"-nF","{file}","{program}"`, map[string]any{"program": evil, "file": ":"}, true},
		{`"-F{file}","{program}"`, map[string]any{"program": evil, "file": ":"}, true},
		{`"-{file}","{program}"`, map[string]any{"program": evil, "file": "n"}, true},
		{`["-f","{file}"],"{program}"`, map[string]any{"program": evil}, true},
		{`"-e","{program}"`, map[string]any{"program": evil}, true},
		{`"--source={program}"`, map[string]any{"program": evil}, true},
		{`"-ne{program}"`, map[string]any{"program": evil}, true},
		{`"-e","{program}","{file}"`, map[string]any{"program": "{print}", "file": "a.txt"}, false},
		{`"\\{print}","{file}"`, map[string]any{"file": "a.txt"}, false},
		{`"--field-separator=,","{program}"`, map[string]any{"program": evil}, true},
		{`"-v","x={file}","{program}"`, map[string]any{"program": evil, "file": "y"}, true},
		{`["-F:","{program}"],"{file}"`, map[string]any{"program": evil}, true},
		{`["-F:","{program}"],"{file}"`, map[string]any{"file": evil}, true},
		{`["-F:","--","{program}"],"{file}"`, map[string]any{"program": "1", "file": "a.txt"}, false},
		{`["--","{program}","{file}"]`, map[string]any{"program": evil, "file": "a.txt"}, true},
		{`["-q","{program}"],"{file}"`, map[string]any{"program": "1", "file": evil}, true},
		{`"{out}","{program}"`, map[string]any{"program": "1"}, false},
	} {
		names := ""
		for _, name := range []string{"program", "file"} {
			if strings.Contains(c.argv, "{"+name+"}") {
				names += fmt.Sprintf(`{"name":%q,"required":%t},`, name, c.arguments[name] != nil)
			}
		}
		tl := blockFor(t, "awk",
			`{"name":"t","description":"d","argv":[`+c.argv+`],"argument":[`+strings.TrimSuffix(names, ",")+`]}`)
		raw, err := json.Marshal(c.arguments)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = Argv(tl, raw)
		if (err != nil) != c.refused {
			t.Errorf("%s %s: %v", c.argv, raw, err)
		}
	}
}

// blockFor returns the tool of a block for a program.
func blockFor(t testing.TB, program, block string) *tool.Tool {
	t.Helper()
	type settings struct {
		Tools []tool.Block `hcl:"tool,block" doc:"A tool."`
	}
	var c settings
	if err := sdk.Decode(sdk.SchemaOf[settings](), []byte(`{"tool":[`+block+`]}`), &c); err != nil {
		t.Fatal(err)
	}
	rules := danger.For([]string{program}, "")
	if err := tool.CheckBlocks(c.Tools, []string{program}); err != nil {
		t.Fatal(err)
	}
	return tool.FromBlock(&c.Tools[0], tool.Options{Rules: rules, Confined: true, Bounded: true})
}

func TestExpressionOfABlock(t *testing.T) {
	tl := blockFor(t, "find", `{"name":"t","description":"d","argv":["{dir}","{words}"],"argument":[{"name":"dir","type":"path","default":"."},{"name":"words","type":"expression","words":["-name","-type"]}]}`)
	for arguments, want := range map[string]string{
		`{"words":["-name","*.go"]}`:            ". -name *.go",
		`{"dir":"sub","words":["-type","f"]}`:   "sub -type f",
		`{}`:                                    ".",
		`{"words":["-print"]}`:                  "",
		`{"words":["-delete"]}`:                 "",
		`{"words":["-name","x","-exec","y"]}`:   "",
		`{"dir":"-delete","words":["-name"]}`:   "",
		`{"words":["sub","-name","x"]}`:         "",
		`{"words":["-name","x"],"more":["-x"]}`: "",
	} {
		argv, _, err := Argv(tl, json.RawMessage(arguments))
		if got := strings.Join(argv, " "); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", arguments, got, err)
		}
	}
	pair := byHand(t,
		`{"name":"t","description":"d","argument":[{"name":"arg","type":"map","flag":"--arg","pair":true}]}`)
	if argv, _, err := Argv(pair, json.RawMessage(`{"arg":{"a":"-x=1"}}`)); err != nil ||
		!slices.Equal(argv, []string{"--arg", "a", "-x=1"}) {
		t.Errorf("%q, %v", argv, err)
	}
}

// FuzzExpression checks accepted calls of find: every element is a word of the table, or
// a value of one, and none is a word that is left out.
func FuzzExpression(f *testing.F) {
	f.Add("-name\n*.go\n-print")
	f.Add("(\n-name\n-exec\n)\n-size\n+1k")
	f.Add("-newer\n../x\n-delete")
	f.Add("!\n-fprintf\na\nb")
	tl := wrappedTool(f, "find")
	table := danger.For([]string{"find"}, "").Expression(nil)
	dir, err := confine.New(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		words := strings.Split(lines, "\n")
		raw, err := json.Marshal(map[string]any{"expression": words})
		if err != nil {
			t.Fatal(err)
		}
		argv, _, err := Argv(tl, raw, Within(dir))
		if err != nil {
			return
		}
		for i := 0; i < len(argv); i++ {
			w := table.Find(argv[i])
			if w == nil || w.Effect != "" || i+len(w.Values) >= len(argv) {
				t.Fatalf("%q was accepted", argv)
			}
			for _, k := range w.Values {
				i++
				if v := table.Find(argv[i]); v != nil && v.Effect != "" {
					t.Fatalf("%q was accepted", argv)
				}
				if k.Path && (strings.HasPrefix(argv[i], "/") && !strings.HasPrefix(argv[i], "/dev/null") ||
					strings.HasPrefix(argv[i], "..")) && dir.Path(argv[i]) != nil {
					t.Fatalf("%q was accepted", argv)
				}
			}
		}
	})
}
