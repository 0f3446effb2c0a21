package discover

import (
	"errors"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/sdk"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"logs", "logs", true},
		{"container", "container", true},
		{"container", "container ls", true},
		{"container *", "container ls", true},
		{"container *", "container a b", true},
		{"container **", "container a b", true},
		{"* ls", "container ls", true},
		{"** ls", "a b ls", true},
		{"** ls", "ls", true},
		{"*-list", "user-list", true},
		{"**", "a", true},
		{"*", "a b", true},
		{"l?", "ls", true},

		{"container *", "container", false},
		{"container *", "containers ls", false},
		{"log", "logs", false},
		{"logs", "log", false},
		{"ls", "container ls", false},
		{"* ls", "ls", false},
		{"* ls", "container rm", false},
		{"container ls", "container", false},
		{"*", "", false},
		{"**", "", false},
		{"[", "a", false},
		{"Logs", "logs", false},
	} {
		if got := Match(c.pattern, strings.Fields(c.path)); got != c.want {
			t.Errorf("%q, %q: %t", c.pattern, c.path, got)
		}
	}
}

// tree builds a tree of commands from their paths.
func tree(paths ...string) *model.Command {
	root := &model.Command{Runnable: true}
	for _, p := range paths {
		at := root
		for i, word := range strings.Fields(p) {
			var next *model.Command
			for _, c := range at.Commands {
				if lastWord(c) == word {
					next = c
				}
			}
			if next == nil {
				next = &model.Command{Path: strings.Fields(p)[:i+1], Runnable: true}
				at.Commands = append(at.Commands, next)
			}
			at = next
		}
	}
	return root
}

func TestFilter(t *testing.T) {
	for _, c := range []struct{ only, except, want string }{
		{"", "", "container|container ls|container rm|logs|volume|volume ls"},
		{"logs", "", "logs"},
		{"container *", "", "container|container ls|container rm"},
		{"* ls", "", "container|container ls|volume|volume ls"},
		{"container", "* rm", "container|container ls"},
		{"", "container", "logs|volume|volume ls"},
		{"", "container *", "container|logs|volume|volume ls"},
		{"", "**", ""},
		{"logs,nothing", "", "logs"},
	} {
		root := tree("container ls", "container rm", "logs", "volume ls")
		got, warnings, err := Filter(root, list(c.only), list(c.except))
		if err != nil {
			t.Errorf("%q, %q: %v", c.only, c.except, err)
			continue
		}
		var paths []string
		eachCommand(got, nil, func(c *model.Command, _ [][]string) { paths = append(paths, spell(c.Path)) })
		if strings.Join(paths, "|") != c.want {
			t.Errorf("%q, %q: %q", c.only, c.except, paths)
		}
		if strings.Contains(c.only, "nothing") != (len(warnings) == 1) {
			t.Errorf("%q: %q", c.only, warnings)
		}
		if len(c.only) > 0 && got.Runnable {
			t.Errorf("%q makes the program itself runnable", c.only)
		}
		if len(root.Commands) != 3 || !root.Runnable {
			t.Error("the tree itself was changed")
		}
	}
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// TestFilterByAlias checks that any spelling of a command selects it.
func TestFilterByAlias(t *testing.T) {
	root := tree("install", "remove")
	root.Commands[0].Aliases = []string{"i", "add"}
	got, _, err := Filter(root, []string{"i"}, nil)
	if err != nil || len(got.Commands) != 1 || lastWord(got.Commands[0]) != "install" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestFilterThatSelectsNothing checks the error and its suggestions.
func TestFilterThatSelectsNothing(t *testing.T) {
	big := tree("container ls", "container rm", "logs", "volume ls")
	for _, c := range []struct {
		root               *model.Command
		only, except, path string
		message, hint      string
	}{
		{big, "longs", "", "only", `no command matches "longs"`, `did you mean "logs"?`},
		{big, "contianer *", "", "only", `"contianer *"`, `"container"`},
		{big, "containers ls", "", "only", `"containers ls"`, `"container ls"`},
		{big, "rmm", "", "only", `"rmm"`, `"container rm"`},
		{big, "zzzzzzz", "", "only", `"zzzzzzz"`, "the commands are container, logs and volume"},
		{big, "x,y", "", "only", `"x" or "y"`, ""},
		{big, "logs", "log*", "except", `"log*" leaves no command of those that only selects`, ""},
		{tree(), "logs", "", "only", "the program has no sub-commands", "remove only"},
	} {
		_, _, err := Filter(c.root, list(c.only), list(c.except))
		e, ok := errors.AsType[*sdk.Error](err)
		if !ok || e.Code != sdk.Invalid || e.Path != c.path || !strings.Contains(e.Message, c.message) ||
			!strings.Contains(e.Hint, c.hint) {
			t.Errorf("%q, %q: %#v", c.only, c.except, err)
		}
	}
}

func TestUnselectedCommandsAreNotAsked(t *testing.T) {
	f := newFake(t, nested)
	p := f.run(func(o *Options) { o.Only = []string{"image *"}; o.Except = []string{"image store"} })
	wantNames(t, names(p), "image", "image list")
	wantNames(t, f.calls(), "--help", "--version", "image --help", "image list --help")
	if _, err := Run(t.Context(), f.options(func(o *Options) { o.Only = []string{"imgae"} })); err == nil ||
		!strings.Contains(err.(*sdk.Error).Hint, `"image"`) {
		t.Errorf("%#v", err)
	}
}

// TestMisspelledPatterns checks that one wrong pattern beside right ones is an
// error where every command is known, and a warning where some are not.
func TestMisspelledPatterns(t *testing.T) {
	f := newFake(t, `case "$*" in
--help) printf 'Usage: prog COMMAND\n\nCommands:\n  log    Shows\n  push   Sends\n  fetch  Gets\n' ;;
*) printf 'Usage: prog %s [OPTIONS]\n\nOptions:\n  -q, --quiet-%s   Say less\n' "$1" "$1" ;;
esac`)
	for _, c := range []struct {
		only, except string
		path, hint   string // of the error; empty if there is none
	}{
		{"log,lgo", "", "only[1]", `did you mean "log"?`},
		{"log", "psuh", "except[0]", `did you mean "push"?`},
		{"", "push,frobnicate", "except[1]", "check the spelling"},
		{"log x", "", "only", "did you mean"},
		{"log,push", "fetch", "", ""},
		{"log*", "pus?", "", ""},
		{"**", "log", "", ""},
	} {
		o := f.options()
		o.Only, o.Except = list(c.only), list(c.except)
		_, err := Run(t.Context(), o)
		e, failed := errors.AsType[*sdk.Error](err)
		if failed != (c.path != "") || failed && (e.Path != c.path || !strings.Contains(e.Hint, c.hint)) {
			t.Errorf("%q, %q: %v", c.only, c.except, err)
		}
	}
	deep := newFake(t, `n=$#
printf 'Usage: prog %s COMMAND\n\nCommands:\n  a%s  First\n  b%s  Second\n\nOptions:\n  -q, --quiet-%s  Say less\n' "$*" $n $n $n`)
	p := deep.run(func(o *Options) { o.Depth, o.Only, o.Except = 2, []string{"a1", "b1 x9"}, []string{"a1 b2 y9"} })
	if said := strings.Join(p.Incomplete, " "); !strings.Contains(said, `only: "b1 x9"`) ||
		!strings.Contains(said, `except: "a1 b2 y9"`) {
		t.Errorf("%q", p.Incomplete)
	}
}
