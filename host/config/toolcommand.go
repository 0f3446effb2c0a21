package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/command"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// programSettings are the settings of a transport or an auth provider that decide which
// programs it runs. The names of the fields are those of the settings of the bundled plugins, so a
// change there needs one here. Package host asks for the commands to protect their files.
type programSettings struct {
	Command []string
	Args    []string
	Cwd     string
	Env     map[string]string
	PassEnv []string   `json:"pass_env"`
	Tool    []toolRuns // of a wrapped program
}

// toolRuns are the settings of a tool block that decide what it runs.
type toolRuns struct {
	Name     string
	Command  []string
	Cwd      string
	Env      map[string]string
	Argv     []json.RawMessage
	Argument []struct {
		Name, Default string
		Map           map[string][]string
	}
}

// programs reads the settings of a block that are about programs. Those of other blocks
// have none.
func (b *Block) programs() (s programSettings) {
	_ = json.Unmarshal(b.Settings, &s) // members of other types are those of another transport
	return s
}

// words returns the fixed arguments, also those of nested lists, with the defaults of the
// others, and the arguments that values stand for.
func (t *toolRuns) words() (all []string) {
	add := func(word string) {
		for _, a := range t.Argument {
			word = strings.ReplaceAll(word, "{"+a.Name+"}", a.Default)
		}
		all = append(all, word)
	}
	for _, raw := range t.Argv {
		var one any
		_ = json.Unmarshal(raw, &one) // it comes from valid settings
		group, nested := one.([]any)
		if !nested {
			group = []any{one}
		}
		for _, word := range group {
			add(fmt.Sprint(word))
		}
	}
	for _, a := range t.Argument {
		for _, value := range slices.Sorted(maps.Keys(a.Map)) {
			all = append(all, a.Map[value]...)
		}
	}
	return all
}

// A ToolCommand is the program of a tool block that has its own command, working directory
// or environment.
type ToolCommand struct {
	Tool    string
	Path    string   // of the block in the settings of the transport, such as tool[0]
	Own     bool     // the block has a command of its own
	Command []string // the program and its fixed arguments
	Cwd     string   // as it is written
	Env     map[string]string
}

// ToolCommands returns the programs of the tool blocks of a transport that differ from the
// program of the transport.
func (b *Block) ToolCommands() (all []ToolCommand) {
	if b.Component != command.WrappingTransport {
		return nil
	}
	s := b.programs()
	for i, t := range s.Tool {
		if len(t.Command) == 0 && t.Cwd == "" && len(t.Env) == 0 {
			continue
		}
		c := s.toolCommand(&t)
		c.Path = fmt.Sprintf("tool[%d]", i)
		all = append(all, c)
	}
	return all
}

// toolCommand returns the program of a tool block.
func (s *programSettings) toolCommand(t *toolRuns) ToolCommand {
	c := ToolCommand{Tool: t.Name, Own: len(t.Command) > 0, Command: t.Command, Cwd: cmp.Or(t.Cwd, s.Cwd),
		Env: map[string]string{}}
	if !c.Own {
		c.Command = slices.Concat(s.Command, s.Args)
	}
	maps.Copy(c.Env, s.Env)
	maps.Copy(c.Env, t.Env)
	return c
}

// LoadsCode returns a program in the commands of a server, such as npm or python3, that loads code
// which they do not name, and the real directories in which it may look: see
// [command.LoadsCode]. It returns none for a transport without a command. A wrapped server counts, too.
func (s *Server) LoadsCode() (program string, dirs []string) {
	settings := s.Transport.programs()
	if len(settings.Command) == 0 {
		return "", nil
	}
	line := func(words []string, cwd string) command.Line {
		return command.Line{Words: words, Dir: source.AbsoluteIn(s.Transport.Dir, cwd)}
	}
	lines := []command.Line{line(slices.Concat(settings.Command, settings.Args), settings.Cwd)}
	for _, t := range s.Transport.ToolCommands() {
		lines = append(lines, line(t.Command, t.Cwd))
	}
	return command.LoadsCode(lines...)
}
