package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/run"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/plugins/cli/wall"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// tempVariables name the directory for temporary files.
var tempVariables = []string{"TMPDIR", "TMP", "TEMP"}

// A turn is what one run of the program may use: its temporary directory and the
// rules of the wall. The goroutine of the request makes it, and ends it with end.
type turn struct {
	wall  *wall.Wall
	rules *sandbox.Rules
	temp  string
	files *run.FileDir // of the call, in temp; nil if it has none
	env   []string
}

// newTurn prepares a run of a tool. The caller must call end.
func (s *server) newTurn(t *tool.Tool, call *run.Call) (*turn, error) {
	p := s.programs.of(t)
	n := &turn{wall: p.wall, env: p.env}
	temp, err := wall.NewTemp()
	if err != nil {
		return nil, fmt.Errorf("making a directory for temporary files: %s", errorWithoutPath(err))
	}
	n.temp = temp
	if n.rules, err = n.wall.Call(wall.Use{Writes: t.MayChange(), Anywhere: t.MayLeave(), Temp: temp}); err != nil {
		n.end()
		return nil, err
	}
	if len(call.Files) > 0 || call.Out != "" {
		if n.files, err = run.OpenFiles(temp, call); err != nil {
			n.end()
			return nil, fmt.Errorf("writing the files of the call: %s", errorWithoutPath(err))
		}
	}
	n.rules.Limits = s.limits(t)
	n.env = slices.Clone(n.env)
	for _, name := range tempVariables {
		if _, set := p.set[name]; !set {
			// Some programs take the first value.
			n.env = slices.DeleteFunc(n.env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
			n.env = append(n.env, name+"="+temp)
		}
	}
	for _, cache := range n.wall.Environment() {
		name, _, _ := strings.Cut(cache, "=")
		if !slices.ContainsFunc(n.env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }) {
			n.env = append(n.env, cache)
		}
	}
	return n, nil
}

// end removes the temporary directory.
func (n *turn) end() {
	if n.files != nil {
		n.files.Close()
	}
	if n.temp != "" {
		wall.RemoveTemp(n.temp)
	}
}

// explain returns what the wall may have refused.
func (n *turn) explain(o *run.Outcome, args []string) []wall.Refusal {
	output := o.Stderr.Text()
	if o.ExitCode != 0 { // what a program prints after a success may be about anything
		output += "\n" + o.Stdout.Text()
	}
	return n.wall.Explain(n.rules, output, args)
}

// errorWithoutPath returns an error without the path of the program, which may be
// private.
func errorWithoutPath(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
