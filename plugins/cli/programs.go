package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/plugins/cli/wall"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// unattendedEnv lists environment variables for every run. They turn off pagers and
// prompts, because there is no terminal. The configuration can override them.
var unattendedEnv = []string{
	"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "MANPAGER=cat", "GIT_PAGER=cat", "SYSTEMD_PAGER=cat",
	"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive",
}

// A program is a resolved program with its fixed arguments, working directory and
// environment. open finds the programs once; they do not change afterwards.
type program struct {
	path    string
	command []string // with the fixed arguments
	dir     string
	env     []string
	set     map[string]string // the variables that the configuration sets
	wall    *wall.Wall
}

// programs are the programs of a server.
type programs struct {
	program                         // of the transport
	own     map[*tool.Block]program // of blocks with a command, cwd or env of their own
}

// of returns the program of a tool.
func (p *programs) of(t *tool.Tool) program {
	if own, ok := p.own[t.Block]; ok {
		return own
	}
	return p.program
}

// A programFinder resolves the programs of a server. Blocks with the same program in the
// same directory share a wall.
type programFinder struct {
	server *sdk.Server
	set    *settings
	walls  map[string]*wall.Wall
}

// findPrograms resolves the program of the transport and those of tool blocks.
func findPrograms(s *sdk.Server, set *settings) (programs, error) {
	f := programFinder{server: s, set: set, walls: map[string]*wall.Wall{}}
	base, err := f.find(program{command: set.Command, dir: directory(s, set.Cwd), set: set.Env})
	if err != nil {
		return programs{}, err
	}
	all := programs{program: base, own: map[*tool.Block]program{}}
	for i := range set.Tools {
		b := &set.Tools[i]
		if !b.Elsewhere() {
			continue
		}
		p := program{path: base.path, command: set.Command, dir: base.dir, set: maps.Clone(set.Env)}
		if b.Command != nil {
			p.path, p.command = "", b.Command
		}
		if b.Cwd != "" {
			p.dir = directory(s, b.Cwd)
		}
		if p.set == nil {
			p.set = map[string]string{}
		}
		maps.Copy(p.set, b.Env)
		if all.own[b], err = f.find(p); err != nil {
			return programs{}, inBlock(err, i, b)
		}
	}
	return all, nil
}

// find completes a program: its path, unless it is known, its environment and its wall.
func (f *programFinder) find(p program) (program, error) {
	p.env = stdio.Environ(append(append([]string(nil), unattendedEnv...), f.server.Env...), p.set)
	if p.path == "" {
		path, err := stdio.Resolve(p.command[0], p.dir, p.env)
		if err != nil {
			return p, err
		}
		p.path = path
	}
	search := stdio.Getenv(p.env, "PATH")
	key := strings.Join(slices.Concat([]string{p.path, p.dir, search}, p.command), "\x00")
	if p.wall = f.walls[key]; p.wall != nil {
		return p, nil
	}
	var err error
	p.wall, err = wall.New(wall.Options{
		Program: p.path, Command: p.command, Dir: p.dir, PathVar: search, ConfigDir: f.server.Dir,
		Private: f.server.Private, Protected: f.server.Protected, Changeable: f.server.Changeable,
		Caches: cacheName(f.server), Settings: f.set.Sandbox,
	})
	f.walls[key] = p.wall
	return p, err
}

// cacheName returns a name for the caches of a server's program, which other servers do not
// have: what one writes there, another one would run with its secrets.
func cacheName(s *sdk.Server) string {
	digest := sha256.Sum256([]byte(s.Dir + "\x00" + s.Name + "\x00" + s.Tenant))
	return fmt.Sprintf("%s-%x", s.Name, digest[:4])
}

// inBlock returns an error about a setting with the path of the tool block that has it.
func inBlock(err error, i int, b *tool.Block) error {
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok || e.Path != "command" && e.Path != "cwd" {
		return err
	}
	if e.Path == "command" && b.Command == nil || e.Path == "cwd" && b.Cwd == "" {
		return err
	}
	in := *e
	in.Path = tool.BlockPath(i) + "." + e.Path
	return &in
}
