package tool

import (
	"errors"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

// TestUnused checks that a pattern for options that matches nothing is an
// error.
func TestUnused(t *testing.T) {
	p := &model.Program{Name: "p",
		Root: &model.Command{Commands: []*model.Command{{Path: []string{"a"}, Runnable: true, Options: []model.Option{
			{Names: []string{"--output", "-o"}}, {Names: []string{"--name"}, Inherited: true},
		}}}}}
	for _, c := range []struct {
		o    Options
		path string // of the error; empty if there is none
	}{
		{Options{Omit: []string{"--output", "o", "out*", "name"}, Globals: []string{"na*"}}, ""},
		{Options{Omit: []string{"--output", "--outptu"}}, "omit[1]"},
		{Options{Globals: []string{"output"}}, "globals[0]"},
		{Options{Omit: []string{"--output json"}}, "omit[0]"},
		{Options{}, ""},
	} {
		err := c.o.Unused(p)
		e, failed := errors.AsType[*sdk.Error](err)
		if failed != (c.path != "") || failed && e.Path != c.path {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

// TestUnusedCommands checks that a pattern for commands that matches nothing,
// or only what is left out as dangerous, is an error.
func TestUnusedCommands(t *testing.T) {
	p := &model.Program{Name: "git", Root: &model.Command{Commands: []*model.Command{
		{Path: []string{"log"}, Runnable: true}, {Path: []string{"push"}, Runnable: true},
		{Path: []string{"bisect"}, Runnable: true},
		{Path: []string{"remote"}, Commands: []*model.Command{{Path: []string{"remote", "add"}, Runnable: true}}},
		{Path: []string{"late"}, Runnable: true, Unasked: true},
	}}}
	rules := danger.For([]string{"git"}, "")
	for _, c := range []struct {
		o       Options
		path    string // of the error; empty if there is none
		message string
		hint    string
	}{
		{Options{Read: []string{"lgo"}}, "read[0]", `no offered command matches "lgo"`, `did you mean "log"`},
		{Options{Read: []string{"log", "psuh"}}, "read[1]", `no offered command matches "psuh"`, `did you mean "push"`},
		{Options{Write: []string{"frobnicate"}}, "write[0]", "no offered command", "check the spelling"},
		{Options{Destructive: []string{"psh"}}, "destructive[0]", "no offered command", `did you mean "push"`},
		{Options{Idempotent: []string{"remote ad"}}, "idempotent[0]", "no offered command",
			`did you mean "remote add"`},
		{Options{Read: []string{"remote add x"}}, "read[0]", "no offered command", ""},
		{Options{Read: []string{"x*"}}, "read[0]", "no offered command", ""},
		{Options{Rules: rules, Read: []string{"bisect"}}, "read[0]",
			`"bisect" matches only what is left out as dangerous: it runs a program`, `dangerous = ["bisect"]`},
		{Options{Rules: rules, Commands: []string{"log", "bisect"}}, "only[1]", "only what is left out as dangerous",
			`dangerous = ["bisect"]`},
		{Options{Rules: rules, Commands: []string{"log", "bi*"}}, "only[1]", "only what is left out as dangerous",
			`dangerous = ["bi*"]`},

		{Options{Rules: rules, Commands: []string{"log", "bisect"}, Dangerous: []string{"bisect"}}, "", "", ""},
		{Options{Rules: rules, Commands: []string{"late"}}, "", "", ""},
		{Options{Rules: rules, Read: []string{"log", "re*", "remote *", "**"}, Destructive: []string{"*"}}, "", "", ""},
	} {
		err := c.o.Unused(p)
		e, failed := errors.AsType[*sdk.Error](err)
		if failed != (c.path != "") || failed &&
			(e.Path != c.path || !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint)) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}
