package tool

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// configured holds one tool block, like the settings of the plugin.
type configured struct {
	Tools []Block `hcl:"tool,block" doc:"A tool."`
}

// decode decodes tool blocks from the JSON that the host sends.
func decode(t testing.TB, blocks string) []Block {
	t.Helper()
	var c configured
	if err := sdk.Decode(sdk.SchemaOf[configured](), []byte(`{"tool":[`+blocks+`]}`), &c); err != nil {
		t.Fatal(err)
	}
	return c.Tools
}

// fromBlocks returns the tools of blocks with the same options.
func fromBlocks(blocks []Block, o Options) []*Tool {
	var tools []*Tool
	for i := range blocks {
		tools = append(tools, FromBlock(&blocks[i], o))
	}
	return tools
}

func TestInvalidBlocks(t *testing.T) {
	arg := func(members string) string {
		return `{"name":"t","description":"d","argv":["{x}"],"argument":[{"name":"x",` + members + `}]}`
	}
	flag := func(members string) string {
		return `{"name":"t","description":"d","argument":[{"name":"x","flag":"--x",` + members + `}]}`
	}
	for _, c := range []struct{ name, blocks, path, says string }{
		{"no description", `{"name":"t","description":""}`, "tool[0].description", "is empty"},
		{"name with a space", `{"name":"a b","description":"d"}`, "tool[0].name", "letters"},
		{"name too long", `{"name":"` + strings.Repeat("a", 65) + `","description":"d"}`, "tool[0].name", "at most 64"},
		{"two of a name",
			`{"name":"t","description":"d"},{"name":"t","description":"d"}`, "tool[1].name", "another tool"},
		{"slot without argument",
			`{"name":"t","description":"d","argv":["a","--n={x}"]}`, "tool[0].argv[1]", `no argument "x"`},
		{"argument without slot",
			`{"name":"t","description":"d","argument":[{"name":"x"}]}`, "tool[0].argument[0].name", "neither a slot"},
		{"slot for a flag", `{"name":"t","description":"d","argv":["{x}"],"argument":[{"name":"x","flag":"-x"}]}`,
			"tool[0].argv[0]", "has a flag"},
		{"two arguments of a name",
			`{"name":"t","description":"d","argv":["{x}"],"argument":[{"name":"x"},{"name":"x"}]}`,
			"tool[0].argument[1].name", "another argument"},
		{"argument's name", `{"name":"t","description":"d","argument":[{"name":"1 x","flag":"-x"}]}`,
			"tool[0].argument[0].name", "begins with a letter"},
		{"argument called options", `{"name":"t","description":"d","argument":[{"name":"options","flag":"-x"}]}`,
			"tool[0].argument[0].name", "is reserved"},
		{"argument called stdin",
			`{"name":"t","description":"d","stdin":true,"argument":[{"name":"stdin","flag":"-x"}]}`,
			"tool[0].argument[0].name", "is reserved"},
		{"NUL", `{"name":"t","description":"d","argv":["a\u0000"]}`, "tool[0].argv[0]", "NUL"},
		{"options twice", `{"name":"t","description":"d","argv":["{options}","{options}"]}`, "tool[0].argv[1]", "once"},
		{"options behind --", `{"name":"t","description":"d","argv":["--","{options}"]}`, "tool[0].argv[1]", "before"},
		{"two lists in one element",
			`{"name":"t","description":"d","argv":["{x}{y}"],"argument":[{"name":"x","repeat":true},{"name":"y"}]}`,
			"tool[0].argv[0]", "cannot share"},
		{"bool in a slot", arg(`"type":"bool"`), "tool[0].argument[0].flag", "needs one"},
		{"count in a slot", arg(`"type":"count"`), "tool[0].argument[0].flag", "needs one"},
		{"negation of a slot", arg(`"negation":"--no-x"`), "tool[0].argument[0].negation", "needs a flag"},
		{"equals of a slot", arg(`"equals":true`), "tool[0].argument[0].equals", "needs a flag"},
		{"glued slot", arg(`"glued":true`), "tool[0].argument[0].glued", "needs a flag"},
		{"optional value of a slot",
			arg(`"optional_value":true`), "tool[0].argument[0].optional_value", "needs a flag"},
		{"enum without values", arg(`"type":"enum"`), "tool[0].argument[0].values", "needs its values"},
		{"values without enum", arg(`"values":["a"]`), "tool[0].argument[0].values", "only an enum"},
		{"minimum of a string", arg(`"minimum":1`), "tool[0].argument[0].minimum", "only an integer"},
		{"maximum of a string", arg(`"maximum":1`), "tool[0].argument[0].maximum", "only an integer"},
		{"maximum below minimum",
			arg(`"type":"integer","minimum":2,"maximum":1`), "tool[0].argument[0].maximum", "below"},
		{"pattern that does not compile",
			arg(`"pattern":"("`), "tool[0].argument[0].pattern", "not a regular expression"},
		{"pattern of a number", arg(`"type":"integer","pattern":"1"`), "tool[0].argument[0].pattern", "only text"},
		{"pattern that closes the group",
			arg(`"pattern":"a)|(b"`), "tool[0].argument[0].pattern", "not a regular expression"},
		{"separator of a string", arg(`"separator":","`), "tool[0].argument[0].separator", "neither"},
		{"list of maps", arg(`"type":"map","repeat":true`), "tool[0].argument[0].repeat", "already"},
		{"default of a list",
			arg(`"repeat":true,"default":"a"`), "tool[0].argument[0].default", "cannot have a default"},
		{"default of a required argument",
			arg(`"required":true,"default":"a"`), "tool[0].argument[0].default", "cannot have a default"},
		{"default of the wrong type",
			arg(`"type":"integer","default":"many"`), "tool[0].argument[0].default", "a number"},
		{"default that is no whole number",
			arg(`"type":"integer","default":"1.5"`), "tool[0].argument[0].default", "whole"},
		{"default out of bounds",
			arg(`"type":"integer","default":"9","maximum":5`), "tool[0].argument[0].default", "at most 5"},
		{"default that is no choice",
			arg(`"type":"enum","values":["a"],"default":"b"`), "tool[0].argument[0].default", "one of"},
		{"default that does not match",
			arg(`"pattern":"a+","default":"b"`), "tool[0].argument[0].default", "must match ^(?:a+)$"},
		{"flag that is a dash", `{"name":"t","description":"d","argument":[{"name":"x","flag":"--"}]}`,
			"tool[0].argument[0].flag", "spelling"},
		{"flag with a value", `{"name":"t","description":"d","argument":[{"name":"x","flag":"--x=1"}]}`,
			"tool[0].argument[0].flag", "without a value"},
		{"flag with a space", `{"name":"t","description":"d","argument":[{"name":"x","flag":"--x y"}]}`,
			"tool[0].argument[0].flag", "spelling"},
		{"negation of a string", flag(`"negation":"--no-x"`), "tool[0].argument[0].negation", "only a bool,"},
		{"negation with a value", flag(`"type":"bool","negation":"--x=0"`), "tool[0].argument[0].negation", "spelling"},
		{"equals and glued", flag(`"equals":true,"glued":true`), "tool[0].argument[0].glued", "not both"},
		{"equals of a bool", flag(`"type":"bool","equals":true`), "tool[0].argument[0].equals", "not written"},
		{"glued count", flag(`"type":"count","glued":true`), "tool[0].argument[0].glued", "not written"},
		{"optional value of a bool",
			flag(`"type":"bool","optional_value":true`), "tool[0].argument[0].optional_value", "not written"},
		{"nested list without a slot",
			`{"name":"t","description":"d","argv":[["-a","b"]]}`, "tool[0].argv[0]", "has no slot"},
		{"empty nested list", `{"name":"t","description":"d","argv":["a",[]]}`, "tool[0].argv[1]", "has no slot"},
		{"list in a nested list",
			`{"name":"t","description":"d","argv":[["-a",["{x}"],"{x}"]],"argument":[{"name":"x"}]}`,
			"tool[0].argv[0][1]", "cannot be nested further"},
		{"object in argv",
			`{"name":"t","description":"d","argv":["a",{"b":"c"}]}`, "tool[0].argv[1]", "a text, or a list of texts"},
		{"null in argv",
			`{"name":"t","description":"d","argv":[null]}`, "tool[0].argv[0]", "a text, or a list of texts"},
		{"null in a nested list", `{"name":"t","description":"d","argv":[["{x}",null]],"argument":[{"name":"x"}]}`,
			"tool[0].argv[0][1]", "must be a text"},
		{"options in a nested list",
			`{"name":"t","description":"d","argv":[["{options}","{x}"]],"argument":[{"name":"x"}]}`,
			"tool[0].argv[0][0]", "cannot be in a nested list"},
		{"two lists in a nested list", `{"name":"t","description":"d","argv":[["{x}","{y}"]],"argument":[{"name":"x","repeat":true},{"name":"y","type":"map"}]}`,
			"tool[0].argv[0]", "several lists"},
		{"slot without argument in a nested list",
			`{"name":"t","description":"d","argv":["a",["-b","{x}"]]}`, "tool[0].argv[1][1]", `no argument "x"`},
		{"NUL in a nested list", `{"name":"t","description":"d","argv":[["{x}","a\u0000"]],"argument":[{"name":"x"}]}`,
			"tool[0].argv[0][1]", "NUL"},
		{"optional slot behind an option",
			`{"name":"t","description":"d","argv":["-to","{x}","-i"],"argument":[{"name":"x"}]}`, "tool[0].argv[1]",
			`["-to", "{x}"], which is left out as a whole`},
		{"optional part behind an option",
			`{"name":"t","description":"d","argv":["-to","at{x}"],"argument":[{"name":"x"}]}`, "tool[0].argv[1]",
			"takes the next element"},
		{"map of a string", arg(`"map":{"a":["b"]}`), "tool[0].argument[0].map", "only an enum or a bool"},
		{"map beside a flag", flag(`"type":"bool","map":{"true":["b"]}`), "tool[0].argument[0].map", "beside a flag"},
		{"map without a value", arg(`"type":"enum","values":["a","b"],"map":{"a":[]}`), "tool[0].argument[0].map",
			`no arguments for the value "b"`},
		{"map with another value",
			arg(`"type":"enum","values":["a"],"map":{"a":[],"b":[]}`), `tool[0].argument[0].map["b"]`, "is no value"},
		{"map of a bool with another value",
			arg(`"type":"bool","map":{"yes":["b"]}`), `tool[0].argument[0].map["yes"]`, "is no value"},
		{"empty map", arg(`"type":"bool","map":{}`), "tool[0].argument[0].map", "is empty"},
		{"NUL in a map",
			arg(`"type":"bool","map":{"true":["a","b\u0000"]}`), `tool[0].argument[0].map["true"][1]`, "NUL"},
		{"long map", arg(`"type":"bool","map":{"true":["a"` + strings.Repeat(`,"a"`, 64) + `]}`),
			`tool[0].argument[0].map["true"]`, "more than 64"},
		{"list of bools with a map",
			arg(`"type":"bool","repeat":true,"map":{"true":["b"]}`), "tool[0].argument[0].repeat", "one value"},
		{"default that a map does not have",
			arg(`"type":"enum","map":{"a":["b"]},"default":"c"`), "tool[0].argument[0].default", "one of"},
		{"default of a bool with a map",
			arg(`"type":"bool","map":{"true":["b"]},"default":"yes"`), "tool[0].argument[0].default", "one of"},
		{"mapped slot in a part", `{"name":"t","description":"d","argv":["-x={x}"],"argument":[{"name":"x","type":"bool","map":{"true":["b"]}}]}`,
			"tool[0].argv[0]", "whole element"},
		{"mapped slot behind an option", `{"name":"t","description":"d","argv":["-x","{x}"],"argument":[{"name":"x","type":"bool","map":{"true":["b"]}}]}`,
			"tool[0].argv[1]", "takes the next element"},
		{"two files to write",
			`{"name":"t","description":"d","argv":["{out}","a","{out:png}"]}`, "tool[0].argv[2]", "may occur once"},
		{"two files to write in an element",
			`{"name":"t","description":"d","argv":["{out}{out:png}"]}`, "tool[0].argv[0]", "cannot share"},
		{"file to write in a nested list",
			`{"name":"t","description":"d","argv":[["{x}","{out}"]],"argument":[{"name":"x"}]}`, "tool[0].argv[0][1]",
			"cannot be in a nested list"},
		{"file beside an argument",
			`{"name":"t","description":"d","argv":["{file:x}:{y}"],"argument":[{"name":"x"},{"name":"y"}]}`,
			"tool[0].argv[0]", "cannot share"},
		{"file to write beside an argument",
			`{"name":"t","description":"d","argv":["{y}:{out}"],"argument":[{"name":"y"}]}`, "tool[0].argv[0]",
			"cannot share"},
		{"file and value", `{"name":"t","description":"d","argv":["{file:x}","{x}"],"argument":[{"name":"x"}]}`,
			"tool[0].argv[0]", "either a file or a value"},
		{"file of a list", `{"name":"t","description":"d","argv":["{file:x}"],"argument":[{"name":"x","repeat":true}]}`,
			"tool[0].argv[0]", "must be a string"},
		{"file of a path", `{"name":"t","description":"d","argv":["{file:x}"],"argument":[{"name":"x","type":"path"}]}`,
			"tool[0].argv[0]", "must be a string"},
		{"file of a mapped value", `{"name":"t","description":"d","argv":["{file:x}"],"argument":[{"name":"x","type":"bool","map":{"true":["b"]}}]}`,
			"tool[0].argv[0]", "must be a string"},
		{"file of no argument",
			`{"name":"t","description":"d","argv":["{file:x}"]}`, "tool[0].argv[0]", `no argument "x"`},
		{"file of a flag", `{"name":"t","description":"d","argv":["{file:x}"],"argument":[{"name":"x","flag":"-x"}]}`,
			"tool[0].argv[0]", "has a flag"},
		{"optional file behind an option",
			`{"name":"t","description":"d","argv":["-f","{file:x}"],"argument":[{"name":"x"}]}`, "tool[0].argv[1]",
			"takes the next element"},
		{"ending with a slash", `{"name":"t","description":"d","argv":["{file:x:a/b}"],"argument":[{"name":"x"}]}`,
			"tool[0].argument[0].name", "neither a slot"},
		{"required stdin of a tool without it", `{"name":"t","description":"d","stdin":false,"stdin_required":true}`,
			"tool[0].stdin_required", "needs stdin = true"},
		{"description of no stdin", `{"name":"t","description":"d","stdin":false,"stdin_description":"x"}`,
			"tool[0].stdin_description", "needs stdin = true"},
		{"conflict with nothing", flag(`"conflicts":["y"]`), "tool[0].argument[0].conflicts[0]", `no argument "y"`},
		{"one value behind a flag", flag(`"count":1`), "tool[0].argument[0].count", "must be from 2 to 8"},
		{"too many values behind a flag", flag(`"count":9`), "tool[0].argument[0].count", "must be from 2 to 8"},
		{"several values joined with the flag",
			flag(`"count":2,"equals":true`), "tool[0].argument[0].count", "only an option with values of its own"},
		{"several values of a list",
			flag(`"count":2,"repeat":true`), "tool[0].argument[0].count", "only an option with values of its own"},
		{"pair of a string", flag(`"pair":true`), "tool[0].argument[0].pair", "only a map"},
		{"words of a string", arg(`"words":["-a"]`), "tool[0].argument[0].words", "only an expression"},
		{"expression with a flag", flag(`"type":"expression"`), "tool[0].argument[0].flag", "does not apply"},
		{"expression with a default",
			arg(`"type":"expression","default":"x"`), "tool[0].argument[0].default", "cannot have a default"},
		{"expression that repeats",
			arg(`"type":"expression","repeat":true`), "tool[0].argument[0].repeat", "does not apply"},
		{"expression with a pattern",
			arg(`"type":"expression","pattern":"x"`), "tool[0].argument[0].pattern", "does not apply"},
		{"expression of an unknown program",
			arg(`"type":"expression"`), "tool[0].argument[0].type", "does not have this program"},
		{"expression in a part of an element",
			`{"name":"t","description":"d","argv":["x{x}"],"argument":[{"name":"x","type":"expression"}]}`,
			"tool[0].argv[0]", "element of its own"},
		{"expression of the transport's program in a block with another",
			`{"name":"t","description":"d","command":["cat"],"argv":["{x}"],"argument":[{"name":"x","type":"expression"}]}`,
			"tool[0].argument[0].type", "does not have this program"},
		{"in the place of nothing",
			flag(`"required_unless":["y"]`), "tool[0].argument[0].required_unless[0]", `no argument "y"`},
		{"in its own place",
			flag(`"required_unless":["x"]`), "tool[0].argument[0].required_unless[0]", "take its own place"},
		{"stdin without one",
			flag(`"required_unless":["stdin"]`), "tool[0].argument[0].required_unless[0]", `no argument "stdin"`},
		{"required and not",
			flag(`"required":true,"required_unless":["x"]`), "tool[0].argument[0].required_unless", "required = true"},
		{"conflict with itself", flag(`"conflicts":["x"]`), "tool[0].argument[0].conflicts[0]", "exclude itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := CheckBlocks(decode(t, c.blocks), []string{"git"})
			joined, _ := err.(interface{ Unwrap() []error })
			if joined == nil {
				t.Fatalf("the block was accepted: %v", err)
			}
			for _, err := range joined.Unwrap() {
				if e, ok := errors.AsType[*sdk.Error](err); ok && e.Path == c.path &&
					strings.Contains(e.Message, c.says) {
					return
				}
			}
			t.Errorf("%v", err)
		})
	}
}

// TestOptionalSlots checks argument lists in which a slot without a value drops no more
// than its own element, or its nested list.
func TestOptionalSlots(t *testing.T) {
	for _, argv := range []string{
		`[["-to","{x}"],"-i"]`, `["-l",["{x}"]]`, `["-l","{options}","{x}"]`, `["--","{x}"]`, `["-","{x}"]`,
		`["-l","--to={x}"]`, `["log","{x}"]`, `["--n=1","{x}"]`,
	} {
		if err := CheckBlocks(decode(t, `{"name":"t","description":"d","argv":`+argv+`,"argument":[{"name":"x"}]}`),
			nil); err != nil {
			t.Errorf("%s: %v", argv, err)
		}
	}
	for _, members := range []string{`"required":true`, `"default":"1"`} {
		if err := CheckBlocks(
			decode(t, `{"name":"t","description":"d","argv":["-to","{x}"],"argument":[{"name":"x",`+members+`}]}`), nil,
		); err != nil {
			t.Errorf("%s: %v", members, err)
		}
	}
}

func TestTemplate(t *testing.T) {
	for _, c := range []struct{ argv, want string }{
		{`[]`, `OPTIONS`},
		{`["log"]`, `log OPTIONS`},
		{`["log","{x}"]`, `log OPTIONS <x>`},
		{`["log","{x}","{y}"]`, `log OPTIONS <x> <y>`},
		{`["-C","{x}","log"]`, `-C <x> log OPTIONS`},
		{`["-n","{x}","{y}"]`, `-n <x> OPTIONS <y>`},
		{`["-n","{x}"]`, `-n <x> OPTIONS`},
		{`["--n=1","{x}"]`, `--n=1 OPTIONS <x>`},
		{`["log","--n={x}","--","{y}"]`, `log --n=<x> OPTIONS -- <y>`},
		{`["{options}","log","{x}"]`, `OPTIONS log <x>`},
		{`["a{x}b{y}"]`, `a<x>b<y> OPTIONS`},
		{`["{{json .}}","{{x}}","a{{.A}}{x}"]`, `{{json .}} {{x}} a{{.A}}<x> OPTIONS`},
		{`["\\{x}","stash@\\{1}","{ x}","{}"]`, `{x} stash@{1} { x} {} OPTIONS`},
		{`[""]`, ` OPTIONS`},
		{`["log",["-n","{x}"],"{y}"]`, `log -n <x> OPTIONS <y>`},
		{`["log",["-n","{x}"]]`, `log -n <x> OPTIONS`},
		{`["log",["{x}","{y}"]]`, `log OPTIONS <x> <y>`},
		{`["log",["a","--","{y}"]]`, `log OPTIONS a -- <y>`},
		{`["-n",5,true]`, `-n 5 true OPTIONS`},
	} {
		var argv []json.RawMessage
		if err := json.Unmarshal([]byte(c.argv), &argv); err != nil {
			t.Fatal(err)
		}
		b := blockBuilder{t: &Tool{}}
		b.argv(argv)
		var got []string
		for _, e := range placeOptions(b.t.Template) {
			text := ""
			if e.Options {
				text = "OPTIONS"
			}
			for _, p := range e.Parts {
				text += p.Text
				if p.Slot != "" {
					text += "<" + p.Slot + ">"
				}
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s becomes %q, want %q", c.argv, strings.Join(got, " "), c.want)
		}
	}
}

// TestStdinOfBlocks checks the schema of standard input.
func TestStdinOfBlocks(t *testing.T) {
	tools := fromBlocks(decode(t, `{"name":"a","description":"d","stdin":true,"stdin_required":true,"stdin_description":"The query."},{"name":"b","description":"d","stdin":true}`),
		Options{})
	for i, want := range []string{
		`"properties":{"stdin":{"type":"string","description":"The query."}},"required":["stdin"]`,
		`"properties":{"stdin":{"type":"string","description":"What the program reads from its standard input."}},"additionalProperties"`,
	} {
		if got := string(tools[i].Input); !strings.Contains(got, want) {
			t.Errorf("%s, without %s", got, want)
		}
	}
}

// TestConflictPairs checks that two arguments which name each other are one
// conflict.
func TestConflictPairs(t *testing.T) {
	tools := fromBlocks(decode(t, `{"name":"t","description":"d","argument":[
		{"name":"b","type":"bool","flag":"-b","conflicts":["a"]},{"name":"a","type":"bool","flag":"-a","conflicts":["b"]}]}`),
		Options{})
	if c := tools[0].Conflicts; len(c) != 1 || !slices.Equal(c[0], []string{"a", "b"}) ||
		!strings.Contains(tools[0].Description, "At most one of: a, b.") {
		t.Errorf("%v %q", c, tools[0].Description)
	}
}
