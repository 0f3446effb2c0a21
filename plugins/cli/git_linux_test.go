package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/cli/danger"
	"github.com/junctor-mcp/junctor/plugins/cli/discover"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
)

// gitBudget bounds the tokens of log, diff, status and show together.
const gitBudget = 3000

var manOption = regexp.MustCompile(`(?:^|[\s\[(|])(--[a-z][\w-]*|-[a-zA-Z])`)

// TestGitFitsTheTokenBudget checks the default tools of four git commands. They
// must fit into the budget and offer every option in the synopsis or the
// examples of their man pages.
func TestGitFitsTheTokenBudget(t *testing.T) {
	for _, program := range []string{"git", "man"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	set := &settings{Command: []string{"git"}, Only: []string{"log", "diff", "status", "show"}}
	p, err := discover.Run(t.Context(),
		discover.Options{Command: set.Command, Only: set.Only, Env: os.Environ(), Depth: 3})
	if err != nil {
		t.Fatal(err)
	}
	if p.Short {
		t.Skipf("the machine is too busy: %q", p.Incomplete)
	}
	tools := tool.FromProgram(p, newCatalog(set, programs{program: program{command: set.Command}}).options)
	// Without --no-index, which is dangerous.
	full := tool.FromProgram(p, tool.Options{Rules: danger.For(set.Command, "")})
	if len(tools) != 4 || len(full) != 4 {
		t.Fatalf("%d and %d tools", len(tools), len(full))
	}
	bytes := 0
	for i, made := range tools {
		bytes += len("git__") + len(made.Name) + len(made.Description) + len(made.Input)
		named := namedInManual(t, made.Command)
		for _, option := range named {
			if parameterOf(full[i], option) && !parameterOf(made, option) {
				t.Errorf("git %s does not offer %s, which its man page shows", made.Name, option.Names[0])
			}
		}
		t.Logf("git %s: %d of %d options, of which the man page shows %d",
			made.Name, len(made.Parameters), len(full[i].Parameters), len(named))
	}
	if tokens := bytes / 4; tokens > gitBudget {
		t.Errorf("the tools take %d tokens, want at most %d", tokens, gitBudget)
	} else {
		t.Logf("they take %d tokens", tokens)
	}
}

// namedInManual returns the options in the synopsis and the examples of a
// command's man page.
func namedInManual(t *testing.T, c *model.Command) []*model.Option {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), "man", "-P", "cat", "git-"+c.Path[0])
	cmd.Env = append(os.Environ(), "MANWIDTH=200", "LC_ALL=C.UTF-8", "MAN_KEEP_FORMATTING=")
	text, err := cmd.Output()
	if err != nil {
		t.Skipf("there is no man page of git %s", c.Path[0])
	}
	var named []*model.Option
	in := false
	for line := range strings.Lines(regexp.MustCompile(".\b").ReplaceAllString(string(text), "")) {
		if line != "\n" && line[0] != ' ' {
			in = strings.HasPrefix(line, "SYNOPSIS") || strings.HasPrefix(line, "EXAMPLES")
		}
		if !in {
			continue
		}
		for _, m := range manOption.FindAllStringSubmatch(line, -1) {
			for i := range c.Options {
				if o := &c.Options[i]; slices.Contains(o.Names, m[1]) && !slices.Contains(named, o) {
					named = append(named, o)
				}
			}
		}
	}
	return named
}

// parameterOf reports whether a tool offers an option.
func parameterOf(made *tool.Tool, o *model.Option) bool {
	return slices.ContainsFunc(made.Parameters,
		func(p tool.Parameter) bool { return slices.Contains(o.Names, p.Spelling) })
}
