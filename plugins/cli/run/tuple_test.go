package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// TestTuples: an option with several values takes exactly so many, and none of them
// becomes an option.
func TestTuples(t *testing.T) {
	window := opt("-win", model.String, func(o *model.Option) { o.Value.Arity = 4 })
	found := discovered(t,
		&model.Command{Runnable: true, Confidence: 1, Options: []model.Option{window, opt("-v", model.Bool)},
			Positionals: []model.Positional{pos("file", "")}}, tool.Options{})
	block := byHand(t, `{"name":"w","description":"d","argv":["{file}"],"argument":[{"name":"file"},{"name":"win","flag":"-win","type":"number","count":2}]}`)
	for _, c := range []struct {
		tool                *tool.Tool
		arguments, want, no string
	}{
		{found, `{"win":["0","1","10","20"],"file":"a"}`, "-win 0 1 10 20 a", ""},
		{found, `{"win":["-5","-1.5","10","20"]}`, "-win -5 -1.5 10 20", ""},
		{found, `{"win":["0","1","10"]}`, "", "win: must have 4 values"},
		{found, `{"win":["0","1","10","20","/etc/passwd"]}`, "", "win: must have 4 values"},
		{found, `{"win":[]}`, "", "win: must have 4 values"},
		{found, `{"win":"0 1 10 20"}`, "", "win: must be a list"},
		{found, `{"win":["0","-v","10","20"]}`, "", "win[1]: must not begin with a dash"},
		{found, `{"win":["0","--","10","20"]}`, "", "win[1]: must not begin with a dash"},
		{found, `{"win":["0",1,"10","20"]}`, "", "win[1]: must be a string"},
		{block, `{"win":[-1,2],"file":"a"}`, "-win -1 2 a", ""},
		{block, `{"win":[1],"file":"a"}`, "", "win: must have 2 values"},
		{block, `{"win":[1,"x"],"file":"a"}`, "", "win[1]: must be a number"},
	} {
		argv, _, err := Argv(c.tool, json.RawMessage(c.arguments))
		switch {
		case c.no == "" && (err != nil || strings.Join(argv, " ") != c.want):
			t.Errorf("%s gives %q, %v", c.arguments, argv, err)
		case c.no != "" && (err == nil || !strings.Contains(err.Error(), c.no)):
			t.Errorf("%s gives %q, %v; want %s", c.arguments, argv, err, c.no)
		}
	}
}

// TestLeadingArguments: arguments that the usage has before the options come first, and one that is
// left out one changes no place.
func TestLeadingArguments(t *testing.T) {
	c := &model.Command{Runnable: true, Leading: 1, Options: []model.Option{opt("-over", model.Bool)},
		Positionals: []model.Positional{pos("word", ""), pos("file", "")}}
	for arguments, want := range map[string]string{
		`{"word":"dog","over":true}`:            "dog -over",
		`{"over":true,"file":"a"}`:              "-over a",
		`{"word":"dog","over":true,"file":"a"}`: "dog -over a",
		`{"word":"-over"}`:                      "!word: must not begin with a dash",
	} {
		argv, _, err := Argv(discovered(t, c, tool.Options{}), json.RawMessage(arguments))
		problem, refused := strings.CutPrefix(want, "!")
		switch {
		case refused && (err == nil || !strings.Contains(err.Error(), problem)):
			t.Errorf("%s gives %q, %v", arguments, argv, err)
		case !refused && (err != nil || strings.Join(argv, " ") != want):
			t.Errorf("%s gives %q, %v", arguments, argv, err)
		}
	}
}
