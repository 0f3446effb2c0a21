package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/sdk"
)

// discovered returns the tool of one command.
func discovered(t testing.TB, c *model.Command, o tool.Options) *tool.Tool {
	t.Helper()
	c.Runnable = true
	p := &model.Program{Name: "prog", Root: &model.Command{Commands: []*model.Command{c}}}
	if len(c.Path) == 0 {
		p.Root = c
	}
	return tool.FromProgram(p, o)[0]
}

// byHand returns the tool of a block, given as the JSON that the host sends.
func byHand(t testing.TB, block string) *tool.Tool {
	t.Helper()
	var c struct {
		Tools []tool.Block `hcl:"tool,block" doc:"A tool."`
	}
	if err := sdk.Decode(sdk.SchemaOf[struct {
		Tools []tool.Block `hcl:"tool,block" doc:"A tool."`
	}](), []byte(`{"tool":[`+block+`]}`), &c); err != nil {
		t.Fatal(err)
	}
	if err := tool.CheckBlocks(c.Tools, nil); err != nil {
		t.Fatal(err)
	}
	return tool.FromBlock(&c.Tools[0], tool.Options{})
}

// Argv returns the argument list and the standard input of a call without files.
func Argv(t *tool.Tool, arguments json.RawMessage, checks ...Check) (argv []string, stdin *string, err error) {
	c, err := Prepare(t, arguments, checks...)
	if err != nil {
		return nil, nil, err
	}
	return c.Argv("DIR"), c.Stdin, nil
}

type change func(*model.Option)

func opt(names string, kind model.Kind, changes ...change) model.Option {
	o := model.Option{Names: strings.Fields(names), Value: model.Value{Kind: kind}}
	for _, c := range changes {
		c(&o)
	}
	return o
}

func optional(o *model.Option) { o.Value.Optional = true }
func equals(o *model.Option)   { o.Value.Equals = true }
func glued(o *model.Option)    { o.Value.Glued = true }
func repeat(o *model.Option)   { o.Repeatable = true }
func required(o *model.Option) { o.Required = true }
func commas(o *model.Option)   { o.Value.Separator = "," }
func byDefault(v string) change {
	return func(o *model.Option) { o.Value.Default = v }
}
func no(o *model.Option) { o.Negation = "--no-" + strings.TrimLeft(o.Names[0], "-") }
func choices(list ...string) change {
	return func(o *model.Option) { o.Value.Choices = list }
}

func pos(name string, flags string) model.Positional {
	return model.Positional{
		Name: name, Value: model.Value{Kind: model.String},
		Required: strings.Contains(flags, "!"), Repeatable: strings.Contains(flags, "*"),
		AfterTerminator: strings.Contains(flags, "-"),
	}
}

// sample is a command with every kind of option and positional.
func sample() *model.Command {
	return &model.Command{
		Path: []string{"sub", "leaf"},
		Options: []model.Option{
			opt("--bool", model.Bool), opt("--color", model.Bool, no, byDefault("true")),
			opt("--verify", model.Bool, no), opt("--off", model.Bool, no, byDefault("false")), opt("-v", model.Count),
			opt("--text -t", model.String), opt("-s", model.String), opt("-single", model.String),
			opt("--int", model.Integer), opt("-n", model.Integer), opt("--num", model.Number),
			opt("--enum", model.Enum, choices("a", "-b")), opt("--eq", model.String, equals),
			opt("-j", model.Integer, glued), opt("--when", model.Enum, optional, no, choices("always", "never")),
			opt("-w", model.String, optional), opt("-e", model.String, equals), opt("--list", model.List),
			opt("--comma", model.List, commas), opt("--many", model.String, repeat), opt("--map", model.Map),
			opt("--maps", model.Map, commas), opt("--path", model.Path), opt("--wait", model.Duration),
			opt("-G", model.String, glued), opt("--on", model.Bool, byDefault("true")),
			opt("-O", model.Bool, byDefault("true")),
		},
		Positionals: []model.Positional{pos("first", ""), pos("rest", "*")},
	}
}

func terminated() *model.Command {
	c := sample()
	c.Terminator = true
	return c
}

// separated is a command with "--" in its usage: [first] [-- rest...].
func separated() *model.Command {
	c := terminated()
	c.Positionals = []model.Positional{pos("first", ""), pos("rest", "*-")}
	return c
}

// grouped has nested lists, which are left out as a whole.
const grouped = `{"name":"t","description":"d","argv":[["-to","{end}"],["-map","0:{map}","x"],["-s","{w}x{h}","{w}"],"-i","{input}","{options}",["--","{rest}"],"{last}"],"argument":[
	{"name":"end"},{"name":"map","repeat":true},{"name":"w"},{"name":"h"},{"name":"input","required":true},{"name":"rest"},{"name":"last"}]}`

// mapped and mappedSlot have values that stand for arguments.
const mapped = `{"name":"t","description":"d","argv":["{options}","-i","end"],"argument":[
	{"name":"speed","type":"enum","map":{"fast":["-preset","ultrafast"],"plain":[]}},
	{"name":"now","type":"bool","map":{"true":["--grace=0","--force"]}}]}`

const mappedSlot = `{"name":"t","description":"d","argv":["a","{s}","{b}","{l}",["with","{g}"],"z"],"argument":[
	{"name":"s","type":"enum","values":["slow","fast"],"default":"slow","map":{"fast":["--fast"],"slow":["--slow"]}},
	{"name":"b","type":"bool","map":{"true":["--yes"],"false":["--no"]}},
	{"name":"g","type":"bool","map":{"true":["-g"]}},
	{"name":"l","type":"enum","repeat":true,"map":{"x":["-x"],"y":["-y","1"]}}]}`

const asksStdin = `{"name":"t","description":"d","stdin":true,"stdin_required":true,"stdin_description":"The query."}`

// filed has files of arguments and one that the program writes.
const filed = `{"name":"t","description":"d","argv":["@{file:body:json}",["--more","{file:more}"],"-o","{out:tar.gz}"],"argument":[{"name":"body","required":true},{"name":"more"}]}`

// TestCallFiles checks which files a call needs.
func TestCallFiles(t *testing.T) {
	call, err := Prepare(byHand(t, `{"name":"t","description":"d","argv":["{file:a}","{file:a:txt}","{file:a}","{file:A}","{file:b}","{out}"],"argument":[{"name":"a"},{"name":"A"},{"name":"b","default":"B"}]}`),
		json.RawMessage(`{"a":"x","A":"x"}`),
		func(*tool.Parameter, string) error { return errors.New("no path is allowed") })
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(call.Files, call.Out, call.Argv("D")); got !=
		"[{junctor-in-a x} {junctor-in-a.txt x} {junctor-in-A-2 x} {junctor-in-b B}]junctor-out"+
			"[D/junctor-in-a D/junctor-in-a.txt D/junctor-in-a D/junctor-in-A-2 D/junctor-in-b D/junctor-out]" {
		t.Error(got)
	}
}

func TestArgv(t *testing.T) {
	free := func(pattern string) tool.Options {
		re, err := tool.Whole(pattern)
		if err != nil {
			t.Fatal(err)
		}
		return tool.Options{Free: re}
	}
	for _, c := range []struct {
		name string
		tool *tool.Tool
		args string
		want string // elements, joined by "|"
	}{
		{"nothing", discovered(t, sample(), tool.Options{}), `{}`, "sub|leaf"},
		{"no arguments at all", discovered(t, sample(), tool.Options{}), ``, "sub|leaf"},
		{"null is nothing", discovered(t, sample(), tool.Options{}), `{"bool":null,"first":null}`, "sub|leaf"},
		{"in the model's order", discovered(t, sample(), tool.Options{}), `{"first":"f","text":"x","bool":true}`,
			"sub|leaf|--bool|--text|x|f"},
		{"false is nothing", discovered(t, sample(), tool.Options{}), `{"bool":false,"off":false}`, "sub|leaf"},
		{"negation", discovered(t, sample(), tool.Options{}), `{"color":false,"verify":false}`,
			"sub|leaf|--no-color|--no-verify"},
		{"true of what can be negated",
			discovered(t, sample(), tool.Options{}), `{"color":true,"off":true}`, "sub|leaf|--color|--off"},
		{"false of what is on by itself",
			discovered(t, sample(), tool.Options{}), `{"on":false,"opt_O":false}`, "sub|leaf|--on=false"},
		{"true of what is on by itself", discovered(t, sample(), tool.Options{}), `{"on":true}`, "sub|leaf|--on"},
		{"count", discovered(t, sample(), tool.Options{}), `{"opt_v":3}`, "sub|leaf|-v|-v|-v"},
		{"count of none", discovered(t, sample(), tool.Options{}), `{"opt_v":0}`, "sub|leaf"},
		{"no shell", discovered(t, sample(), tool.Options{}), `{"text":"a b; $(c) \"d' \\ * ~\n"}`,
			"sub|leaf|--text|a b; $(c) \"d' \\ * ~\n"},
		{"empty", discovered(t, sample(), tool.Options{}), `{"text":"","eq":"","first":""}`, "sub|leaf|--text||--eq=|"},
		{"dash behind a long option", discovered(t, sample(), tool.Options{}),
			`{"text":"-x","path":"--","list":["-a","b"]}`, "sub|leaf|--text=-x|--list=-a|--list|b|--path=--"},
		{"dash behind an equals sign", discovered(t, sample(), tool.Options{}),
			`{"eq":"-x","opt_e":"-y","opt_G":"-z","enum":"-b"}`, "sub|leaf|--enum=-b|--eq=-x|-e=-y|-G-z"},
		{"negative numbers", discovered(t, sample(), tool.Options{}), `{"int":-1,"num":-1.5,"opt_j":-2}`,
			"sub|leaf|--int=-1|--num=-1.5|-j-2"},
		{"numbers are written plainly", discovered(t, sample(), tool.Options{}), `{"int":1e3,"num":1e20,"opt_n":2.0}`,
			"sub|leaf|--int|1000|-n|2|--num|100000000000000000000"},
		{"digits are kept", discovered(t, sample(), tool.Options{}), `{"int":12345678901234567890,"num":0.10}`,
			"sub|leaf|--int|12345678901234567890|--num|0.10"},
		{"minus nothing", discovered(t, sample(), tool.Options{}), `{"int":-0}`, "sub|leaf|--int|0"},
		{"glued", discovered(t, sample(), tool.Options{}), `{"opt_j":4}`, "sub|leaf|-j4"},
		{"optional value",
			discovered(t, sample(), tool.Options{}), `{"when":"always","opt_w":"x"}`, "sub|leaf|--when=always|-wx"},
		{"optional value left out",
			discovered(t, sample(), tool.Options{}), `{"when":true,"opt_w":true}`, "sub|leaf|--when|-w"},
		{"optional value refused",
			discovered(t, sample(), tool.Options{}), `{"when":false,"opt_w":false}`, "sub|leaf|--no-when"},
		{"list", discovered(t, sample(), tool.Options{}), `{"list":["a","b"],"comma":["a","b"],"many":["x"]}`,
			"sub|leaf|--list|a|--list|b|--comma|a,b|--many|x"},
		{"empty list", discovered(t, sample(), tool.Options{}), `{"list":[],"comma":[],"rest":[]}`, "sub|leaf"},
		{"list that begins with a dash",
			discovered(t, sample(), tool.Options{}), `{"comma":["-a","b"]}`, "sub|leaf|--comma=-a,b"},
		{"map", discovered(t, sample(), tool.Options{}), `{"map":{"b":"2","a":"1=x"},"maps":{"k":"v","l":""}}`,
			"sub|leaf|--map|a=1=x|--map|b=2|--maps|k=v,l="},
		{"map with a dash", discovered(t, sample(), tool.Options{}), `{"map":{"-a":"1"}}`, "sub|leaf|--map=-a=1"},
		{"positionals", discovered(t, sample(), tool.Options{}), `{"rest":["b","c"],"first":"a"}`, "sub|leaf|a|b|c"},
		{"dash where -- ends the options", discovered(t, terminated(), tool.Options{}),
			`{"bool":true,"first":"-a","rest":["b"]}`, "sub|leaf|--bool|--|-a|b"},
		{"no dash, no --", discovered(t, terminated(), tool.Options{}), `{"first":"a","rest":["b-"]}`, "sub|leaf|a|b-"},
		{"behind the -- of the usage",
			discovered(t, separated(), tool.Options{}), `{"first":"a","rest":["-b","c"]}`, "sub|leaf|a|--|-b|c"},
		{"nothing behind the -- of the usage",
			discovered(t, separated(), tool.Options{}), `{"first":"a"}`, "sub|leaf|a"},
		{"free", discovered(t, sample(), free("[a-z]+")), `{"first":"a","args":["b","c"]}`, "sub|leaf|a|b|c"},
		{"free with a dash that is meant",
			discovered(t, sample(), free("-x|[a-z]+")), `{"first":"a","args":["-x","c"]}`, "sub|leaf|-x|c|a"},
		{"program without sub-commands",
			discovered(t, &model.Command{Positionals: []model.Positional{pos("x", "")}}, tool.Options{}),
			`{"x":"a"}`, "a"},

		{"block", byHand(t, block), `{}`, "log|--max-count=20|--"},
		{"block filled", byHand(t, block), `{"path":["a b","-c"],"count":5,"all":true,"grep":"x"}`,
			"log|--max-count=5|--all|--grep=x|--|a b|-c"},
		{"negative in a part", byHand(t, block), `{"count":-5}`, "log|--max-count=-5|--"},
		{"text in slots stays text",
			byHand(t, block), `{"path":["{count}","$HOME"]}`, "log|--max-count=20|--|{count}|$HOME"},
		{"list in a part", byHand(t, `{"name":"t","description":"d","argv":["--x={a}","{b}"],"argument":[{"name":"a","type":"list"},{"name":"b","type":"list","separator":","}]}`),
			`{"a":["1","-2"],"b":["x","y"]}`, "--x=1|--x=-2|x,y"},
		{"two slots in an element",
			byHand(t, `{"name":"t","description":"d","argv":["x{a}:{b}"],"argument":[{"name":"a"},{"name":"b","default":"B"}]}`),
			`{"a":"-A"}`, "x-A:B"},
		{"an element with a slot that is empty",
			byHand(t, `{"name":"t","description":"d","argv":["x{a}:{b}"],"argument":[{"name":"a"},{"name":"b"}]}`),
			`{"a":"A"}`, ""},
		{"nested list", byHand(t, grouped), `{"input":"a"}`, "-i|a"},
		{"nested list with a value", byHand(t, grouped), `{"input":"a","end":"7"}`, "-to|7|-i|a"},
		{"nested list with a list", byHand(t, grouped), `{"input":"a","map":["1","2"]}`, "-map|0:1|x|-map|0:2|x|-i|a"},
		{"nested list with an empty list", byHand(t, grouped), `{"input":"a","map":[]}`, "-i|a"},
		{"nested list with one of two values", byHand(t, grouped), `{"input":"a","w":"4"}`, "-i|a"},
		{"nested list with two values", byHand(t, grouped), `{"input":"a","w":"4","h":"3"}`, "-s|4x3|4|-i|a"},
		{"nested list with --", byHand(t, grouped), `{"input":"a","rest":"-x"}`, "-i|a|--|-x"},
		{"value that stands for arguments", byHand(t, mapped), `{"speed":"fast"}`, "-preset|ultrafast|-i|end"},
		{"value that stands for none", byHand(t, mapped), `{"speed":"plain"}`, "-i|end"},
		{"no value, with a default", byHand(t, mapped), `{}`, "-i|end"},
		{"default that stands for arguments", byHand(t, mappedSlot), `{}`, "a|--slow|z"},
		{"true that stands for arguments",
			byHand(t, mapped), `{"now":true,"speed":"plain"}`, "--grace=0|--force|-i|end"},
		{"false that stands for none", byHand(t, mapped), `{"now":false}`, "-i|end"},
		{"false that stands for arguments", byHand(t, mappedSlot), `{"b":false,"s":"fast"}`, "a|--fast|--no|z"},
		{"list of values that stand for arguments", byHand(t, mappedSlot), `{"l":["y","x"]}`, "a|--slow|-y|1|-x|z"},
		{"nested list with a mapped value", byHand(t, mappedSlot), `{"g":true}`, "a|--slow|with|-g|z"},
		{"nested list with a value that stands for none", byHand(t, mappedSlot), `{"g":false}`, "a|--slow|z"},
		{"files",
			byHand(t, filed), `{"body":"-x /etc/passwd ../.."}`, "@DIR/junctor-in-body.json|-o|DIR/junctor-out.tar.gz"},
		{"files, one of them optional", byHand(t, filed), `{"body":"a","more":""}`,
			"@DIR/junctor-in-body.json|--more|DIR/junctor-in-more|-o|DIR/junctor-out.tar.gz"},
		{"an argument that is called out", byHand(t,
			`{"name":"t","description":"d","argv":["{out}","\\{file:x}","{fil:x}"],"argument":[{"name":"out"}]}`),
			`{"out":"a"}`, "a|{file:x}|{fil:x}"},
		{"map in a slot",
			byHand(t, `{"name":"t","description":"d","argv":["set","{a}"],"argument":[{"name":"a","type":"map"}]}`),
			`{"a":{"k":"v"}}`, "set|k=v"},
		{"default of a flag is not given",
			byHand(t, `{"name":"t","description":"d","argument":[{"name":"a","flag":"--a","default":"1"}]}`), `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			argv, stdin, err := Argv(c.tool, json.RawMessage(c.args))
			if err != nil || stdin != nil || strings.Join(argv, "|") != c.want {
				t.Errorf("%q, %v, %v; want %q", strings.Join(argv, "|"), stdin, err, c.want)
			}
		})
	}
}

const block = `{"name":"log","description":"d","argv":["log","--max-count={count}","--","{path}"],"argument":[
	{"name":"count","type":"integer","default":"20","maximum":500},{"name":"path","type":"path","repeat":true},
	{"name":"all","type":"bool","flag":"--all"},{"name":"grep","flag":"--grep","equals":true,"pattern":"[a-z]*","conflicts":["author"]},
	{"name":"author","flag":"--author","required":false}]}`

func TestArgvRejectsInvalidArguments(t *testing.T) {
	any, _ := tool.Whole(".*")
	words, _ := tool.Whole("[a-z]+|-x")
	withStdin := tool.Options{Stdin: true, Free: words}
	conflicting := sample()
	conflicting.Conflicts = [][]string{{"--bool", "--text", "-v"}}
	demanding := &model.Command{Path: []string{"x"},
		Options:     []model.Option{opt("--need", model.String, required), opt("--needs", model.List, required)},
		Positionals: []model.Positional{pos("first", "!"), pos("rest", "!*")}}
	for _, c := range []struct {
		name string
		tool *tool.Tool
		args string
		path string
		says string
	}{
		{"no object", discovered(t, sample(), tool.Options{}), `[]`, "", "must be an object"},
		{"undeclared", discovered(t, sample(), tool.Options{}), `{"force":true}`, "force", "not an argument"},
		{"as the program spells it",
			discovered(t, sample(), tool.Options{}), `{"--bool":true}`, "--bool", "not an argument"},
		{"other letters", discovered(t, sample(), tool.Options{}), `{"Bool":true}`, "Bool", "not an argument"},
		{"undeclared and null", discovered(t, sample(), tool.Options{}), `{"force":null}`, "force", "not an argument"},
		{"args without a pattern",
			discovered(t, sample(), tool.Options{}), `{"args":["x"]}`, "args", "not an argument"},
		{"stdin that is not offered",
			discovered(t, sample(), tool.Options{}), `{"stdin":"x"}`, "stdin", "not an argument"},
		{"string for a bool", discovered(t, sample(), tool.Options{}), `{"bool":"true"}`, "bool", "true or false"},
		{"number for a string", discovered(t, sample(), tool.Options{}), `{"text":1}`, "text", "must be a string"},
		{"string for a number", discovered(t, sample(), tool.Options{}), `{"int":"1"}`, "int", "whole number"},
		{"fraction for an integer", discovered(t, sample(), tool.Options{}), `{"int":1.5}`, "int", "whole number"},
		{"too large to be whole", discovered(t, sample(), tool.Options{}), `{"int":1e21}`, "int", "whole number"},
		{"too long", discovered(t, sample(), tool.Options{}), `{"num":1e300}`, "num", "at most 64 digits"},
		{"no number", discovered(t, sample(), tool.Options{}), `{"num":1e999}`, "num", "must be a number"},
		{"bool for a number", discovered(t, sample(), tool.Options{}), `{"num":true}`, "num", "must be a number"},
		{"negative count", discovered(t, sample(), tool.Options{}), `{"opt_v":-1}`, "opt_v", "from 0 to 16"},
		{"endless count", discovered(t, sample(), tool.Options{}), `{"opt_v":1000000000}`, "opt_v", "from 0 to 16"},
		{"no choice", discovered(t, sample(), tool.Options{}), `{"enum":"c"}`, "enum", `one of "a", "-b"`},
		{"string for a list", discovered(t, sample(), tool.Options{}), `{"list":"a"}`, "list", "must be a list"},
		{"number in a list",
			discovered(t, sample(), tool.Options{}), `{"list":["a",1]}`, "list[1]", "must be a string"},
		{"null in a list",
			discovered(t, sample(), tool.Options{}), `{"list":["a",null]}`, "list[1]", "must be a string"},
		{"separator in an element",
			discovered(t, sample(), tool.Options{}), `{"comma":["a","b,c"]}`, "comma[1]", "separates elements"},
		{"separator in a map",
			discovered(t, sample(), tool.Options{}), `{"maps":{"a":"b,c"}}`, "maps.a", "separates elements"},
		{"list for a map", discovered(t, sample(), tool.Options{}), `{"map":["a"]}`, "map", "must be an object"},
		{"equals sign in a key",
			discovered(t, sample(), tool.Options{}), `{"map":{"a=b":"c"}}`, "map.a=b", "not a valid key"},
		{"empty key", discovered(t, sample(), tool.Options{}), `{"map":{"":"c"}}`, "map.", "not a valid key"},
		{"number in a map", discovered(t, sample(), tool.Options{}), `{"map":{"a":1}}`, "map.a", "must be a string"},
		{"NUL", discovered(t, sample(), tool.Options{}), `{"text":"a\u0000b"}`, "text", "NUL"},
		{"NUL in a positional", discovered(t, sample(), tool.Options{}), `{"rest":["a","\u0000"]}`, "rest[1]", "NUL"},
		{"NUL in a key",
			discovered(t, sample(), tool.Options{}), `{"map":{"\u0000":"c"}}`, "map.\\x00", "not a valid key"},
		{"dash behind a letter",
			discovered(t, sample(), tool.Options{}), `{"opt_s":"-x"}`, "opt_s", "begin with a dash"},
		{"negative number behind a letter",
			discovered(t, sample(), tool.Options{}), `{"opt_n":-1}`, "opt_n", "begin with a dash"},
		{"dash behind a long option of one dash",
			discovered(t, sample(), tool.Options{}), `{"single":"-x"}`, "single", "begin with a dash"},
		{"nothing to glue", discovered(t, sample(), tool.Options{}), `{"opt_G":""}`, "opt_G", "must not be empty"},
		{"positional that is an option",
			discovered(t, sample(), tool.Options{}), `{"first":"--evil"}`, "first", "begin with a dash"},
		{"positional that is a dash",
			discovered(t, sample(), tool.Options{}), `{"first":"-"}`, "first", "begin with a dash"},
		{"one of many", discovered(t, sample(), tool.Options{}), `{"rest":["a","-b"]}`, "rest[1]", "begin with a dash"},
		{"before the -- of the usage",
			discovered(t, separated(), tool.Options{}), `{"first":"-a","rest":["b"]}`, "first", "begin with a dash"},
		{"before the -- that is not there",
			discovered(t, separated(), tool.Options{}), `{"first":"-a"}`, "first", "begin with a dash"},
		{"required", discovered(t, demanding, tool.Options{}), `{}`, "need", "is required"},
		{"required and null", discovered(t, demanding, tool.Options{}), `{"first":null}`, "first", "is required"},
		{"required and empty", discovered(t, demanding, tool.Options{}), `{"rest":[]}`, "rest", "must not be empty"},
		{"required list and empty",
			discovered(t, demanding, tool.Options{}), `{"needs":[]}`, "needs", "must not be empty"},
		{"conflict",
			discovered(t, conflicting, tool.Options{}), `{"bool":true,"text":"x"}`, "text", "together with bool"},
		{"conflict with a count",
			discovered(t, conflicting, tool.Options{}), `{"opt_v":1,"text":"x"}`, "opt_v", "together with text"},
		{"free that does not match",
			discovered(t, sample(), withStdin), `{"args":["a","B"]}`, "args[1]", "not allowed"},
		{"free that matches in part", discovered(t, sample(), withStdin), `{"args":["a b"]}`, "args[0]", "not allowed"},
		{"free with a dash",
			discovered(t, sample(), tool.Options{Free: any}), `{"args":["--evil"]}`, "args[0]", "not allowed"},
		{"free with NUL", discovered(t, sample(), tool.Options{Free: any}), `{"args":["a\u0000"]}`, "args[0]", "NUL"},
		{"free that is a string", discovered(t, sample(), withStdin), `{"args":"a"}`, "args", "must be a list"},
		{"stdin that is a list", discovered(t, sample(), withStdin), `{"stdin":["a"]}`, "stdin", "must be a string"},

		{"block: undeclared", byHand(t, block), `{"args":["--output=x"]}`, "args", "not an argument"},
		{"block: too many", byHand(t, block), `{"count":501}`, "count", "at most 500"},
		{"block: pattern", byHand(t, block), `{"grep":"a\n"}`, "grep", "must match"},
		{"block: conflict", byHand(t, block), `{"grep":"a","author":"b"}`, "grep", "together with author"},
		{"block: a slot that begins an element",
			byHand(t, `{"name":"t","description":"d","argv":["{x}"],"argument":[{"name":"x"}]}`), `{"x":"-x"}`, "x",
			"begin with a dash"},
		{"block: a slot before text",
			byHand(t, `{"name":"t","description":"d","argv":["{x}-y"],"argument":[{"name":"x"}]}`), `{"x":""}`, "x",
			"begin with a dash"},
		{"block: two slots",
			byHand(t, `{"name":"t","description":"d","argv":["{x}{y}"],"argument":[{"name":"x"},{"name":"y"}]}`),
			`{"x":"","y":"-y"}`, "y", "begin with a dash"},
		{"block: a dash in a nested list", byHand(t, grouped), `{"input":"-i"}`, "input", "begin with a dash"},
		{"block: a dash behind a nested list with -- that is left out",
			byHand(t, grouped), `{"input":"a","last":"-x"}`, "last", "begin with a dash"},
		{"block: a dash in an element of a nested list",
			byHand(t, `{"name":"t","description":"d","argv":[["-x","{a}"]],"argument":[{"name":"a","repeat":true}]}`),
			`{"a":["b","-c"]}`, "a[1]", "begin with a dash"},
		{"block: a value without arguments", byHand(t, mapped), `{"speed":"-preset"}`, "speed", "must be one of"},
		{"block: a text for a bool with arguments", byHand(t, mapped), `{"now":"--grace=0"}`, "now", "true or false"},
		{"block: a value in a list without arguments",
			byHand(t, mappedSlot), `{"l":["x","-y"]}`, "l[1]", "must be one of"},
		{"block: a file that is too long", byHand(t, filed), `{"body":"` + strings.Repeat("a", tool.MaxFile+1) + `"}`,
			"body", "at most 4194304 bytes"},
		{"block: a file that is no text", byHand(t, filed), `{"body":["a"]}`, "body", "must be a string"},
		{"block: NUL in a file", byHand(t, filed), `{"body":"a\u0000b"}`, "body", "NUL"},
		{"block: a file for the program to write",
			byHand(t, filed), `{"body":"a","out":"/etc/x"}`, "out", "not an argument"},
		{"block: no stdin", byHand(t, asksStdin), `{}`, "stdin", "is required"},
		{"block: null as stdin", byHand(t, asksStdin), `{"stdin":null}`, "stdin", "is required"},
		{"block: a list as stdin", byHand(t, asksStdin), `{"stdin":["a"]}`, "stdin", "must be a string"},
		{"block: a negative number",
			byHand(t, `{"name":"t","description":"d","argv":["{x}"],"argument":[{"name":"x","type":"integer"}]}`),
			`{"x":-1}`, "x", "begin with a dash"},
	} {
		t.Run(c.name, func(t *testing.T) {
			argv, _, err := Argv(c.tool, json.RawMessage(c.args))
			e, ok := errors.AsType[*ArgumentError](err)
			if !ok {
				t.Fatalf("the arguments were accepted: %q, %v", argv, err)
			}
			for _, p := range e.Problems {
				if p.Path == c.path && strings.Contains(p.Reason, c.says) {
					return
				}
			}
			t.Errorf("%+v", e.Problems)
		})
	}
}

func TestArgumentErrorNeverContainsValues(t *testing.T) {
	_, _, err := Argv(discovered(t, sample(), tool.Options{}),
		json.RawMessage(`{"int":"secret","enum":"secret","first":"-secret","list":[{"secret":1}]}`))
	if err == nil || strings.Contains(err.Error(), "secret") || strings.Count(err.Error(), "\n- ") != 4 {
		t.Errorf("%v", err)
	}
}

func TestArgvReturnsStdin(t *testing.T) {
	with := discovered(t, sample(), tool.Options{Stdin: true})
	for args, want := range map[string]string{`{"stdin":"a\u0000\n"}`: "a\x00\n", `{"stdin":""}`: ""} {
		if _, stdin, err := Argv(with, json.RawMessage(args)); err != nil || stdin == nil || *stdin != want {
			t.Errorf("%s: %v, %v", args, stdin, err)
		}
	}
	if _, stdin, err := Argv(with, json.RawMessage(`{"stdin":null}`)); err != nil || stdin != nil {
		t.Errorf("%v, %v", stdin, err)
	}
}

func TestAdmitsDashOnlyIfThePatternNamesIt(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"[a-z]+", "abc", true}, {"[a-z]+", "abcD", false}, {"a|b", "ab", false}, {"a", "a\n", false},
		{".*", "x", true}, {".*", "-x", false}, {".*", "--upload-pack=sh", false}, {"(?s).*", "-x", false},
		{`\S+`, "-x", false}, {"[^ ]+", "-x", false}, {"[!-~]+", "-x", false}, {"[[:ascii:]]+", "-x", false},
		{"[[:punct:]a-z]*", "-x", false}, {"-x|.*", "-x", false}, {"x?.*", "-x", false}, {"()*.+", "-", false},
		{"-x", "-x", true}, {"-x", "-xy", false}, {"(-x|[a-z]+)", "-x", true}, {"-?[0-9]+", "-5", true},
		{"--[a-z]+=.*", "--a=-b", true}, {`[-\w]+`, "-rf", true}, {`^-v$`, "-v", true},
	} {
		re, err := tool.Whole(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := admits(re, c.text); got != c.want {
			t.Errorf("%q admits %q: %t", c.pattern, c.text, got)
		}
	}
}

// TestStandardInput checks that a call without a file is refused where the
// program would read standard input, which is empty.
func TestStandardInput(t *testing.T) {
	grep := func(o tool.Options, options ...model.Option) *tool.Tool {
		return discovered(t, &model.Command{Options: options, Positionals: []model.Positional{
			{Name: "patterns", Value: model.Value{Kind: model.String}, Required: true},
			{Name: "file", Value: model.Value{Kind: model.Path}, Repeatable: true},
		}}, o)
	}
	rules := danger.For([]string{"grep"}, "")
	recursive := opt("--recursive -r", model.Bool)
	for _, c := range []struct {
		name      string
		tool      *tool.Tool
		arguments string
		refused   string // empty if the call is allowed
	}{
		{"no file", grep(tool.Options{Rules: rules, NoStdin: true}, recursive), `{"patterns":"x"}`,
			"file: is required, except with --recursive: without it the program reads standard input, which is empty"},
		{"null", grep(tool.Options{Rules: rules, NoStdin: true}, recursive), `{"patterns":"x","file":null}`,
			"file: is required"},
		{"no such option", grep(tool.Options{Rules: rules, NoStdin: true}), `{"patterns":"x"}`, "file: is required"},
		{"an empty list",
			grep(tool.Options{Rules: rules, NoStdin: true}), `{"patterns":"x","file":[]}`, "file: must not be empty"},
		{"a file", grep(tool.Options{Rules: rules, NoStdin: true}, recursive), `{"patterns":"x","file":["a"]}`, ""},
		{"the option",
			grep(tool.Options{Rules: rules, NoStdin: true}, recursive), `{"patterns":"x","recursive":true}`, ""},
		{"a required file or stdin", grep(tool.Options{Rules: rules}, recursive), `{"patterns":"x"}`,
			"file: is required, except with --recursive or stdin"},
		{"an empty list and no stdin",
			grep(tool.Options{Rules: rules}), `{"patterns":"x","file":[]}`, "file: is required, except with stdin"},
		{"stdin is null",
			grep(tool.Options{Rules: rules}), `{"patterns":"x","stdin":null}`, "file: is required, except with stdin"},
		{"stdin by itself", grep(tool.Options{Rules: rules}), `{"patterns":"x","stdin":"x"}`, ""},
		{"a dash for stdin", grep(tool.Options{Rules: rules}), `{"patterns":"x","file":["-"],"stdin":"x"}`, ""},
		{"stdin is off", grep(tool.Options{Rules: rules, NoStdin: true}), `{"patterns":"x","stdin":"x"}`,
			"stdin: is not an argument"},
		{"standard input",
			grep(tool.Options{Rules: rules, Stdin: true}, recursive), `{"patterns":"x","stdin":"x"}`, ""},
		{"another program",
			grep(tool.Options{Rules: danger.For([]string{"rg"}, "")}, recursive), `{"patterns":"x"}`, ""},
		{"a tool block", byHand(t, `{"name":"t","description":"d","argv":["{patterns}","{file}"],"argument":[{"name":"patterns"},{"name":"file"}]}`),
			`{"patterns":"x"}`, ""},
	} {
		_, _, err := Argv(c.tool, json.RawMessage(c.arguments))
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestNegativeNumbers checks that a negative number is a value where the program
// cannot take it for an option, and that the error for a tool block names the
// way.
func TestNegativeNumbers(t *testing.T) {
	move := func(change func(*model.Command)) *tool.Tool {
		c := &model.Command{Source: "help", Confidence: 1,
			Options: []model.Option{opt("-n", model.Integer), opt("--quiet", model.Bool)},
			Positionals: []model.Positional{
				{Name: "by", Value: model.Value{Kind: model.Integer}},
				{Name: "name", Value: model.Value{Kind: model.String}},
			}}
		change(c)
		return discovered(t, c, tool.Options{})
	}
	plain := move(func(*model.Command) {})
	block := `{"name":"t","description":"d","argv":["move"%s,"{by}"],"argument":[{"name":"by","type":"integer"},{"name":"n","type":"number","flag":"-n"}]}`
	for _, c := range []struct {
		name      string
		tool      *tool.Tool
		arguments string
		want      string // the argument list, or a part of the error
	}{
		{"a positional", plain, `{"by":-5}`, "-5"},
		{"a short option", plain, `{"opt_n":-5,"by":-6}`, "-n|-5|-6"},
		{"after --", move(func(c *model.Command) { c.Terminator = true }), `{"by":-5}`, "--|-5"},
		{"a fraction",
			move(func(c *model.Command) { c.Positionals[0].Value.Kind = model.Number }), `{"by":-0.5}`, "-0.5"},
		{"a block with --", byHand(t, fmt.Sprintf(block, `,"--"`)), `{"by":-5}`, "move|--|-5"},

		{"a text", plain, `{"name":"-5"}`, "name: must not begin with a dash"},
		{"a digit is an option", move(func(c *model.Command) { c.Options = append(c.Options, opt("-1", model.Bool)) }),
			`{"by":-5}`, "by: must not begin with a dash"},
		{"a number is an option",
			move(func(c *model.Command) { c.Numbered = true }), `{"by":-5}`, "by: must not begin with a dash"},
		{"an option that follows a digit",
			move(func(c *model.Command) { c.Numbered = true }), `{"opt_n":-5}`, "opt_n: must not begin with a dash"},
		{"a help that was not understood",
			move(func(c *model.Command) { c.Confidence = 0.5 }), `{"by":-5}`, "by: must not begin with a dash"},
		{"a command of a list",
			move(func(c *model.Command) { c.Source = "list" }), `{"by":-5}`, "by: must not begin with a dash"},
		{"a block", byHand(t, fmt.Sprintf(block, "")), `{"by":-5}`, `with "--" before its slot in argv`},
		{"a flag of a block", byHand(t, fmt.Sprintf(block, "")), `{"n":-0.5}`, "equals = true"},
	} {
		argv, _, err := Argv(c.tool, json.RawMessage(c.arguments))
		got := strings.Join(argv, "|")
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
