package doctor

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

// ProgramsOf lists the commands of the enabled servers on standard input and output.
func ProgramsOf(c *config.Config) (all []Program) {
	for _, s := range c.Servers {
		if s.Enabled {
			all = append(all, programsOf(s)...)
		}
	}
	return all
}

// programsOf lists the command of a server, and those of its tools.
func programsOf(s *config.Server) (all []Program) {
	var set struct {
		Command []string          `json:"command"`
		Args    []string          `json:"args"`
		Cwd     string            `json:"cwd"`
		Env     map[string]string `json:"env"`
	}
	if json.Unmarshal(s.Transport.Settings, &set) != nil || len(set.Command) == 0 {
		return nil
	}
	own := config.ToolCommand{Command: append(set.Command, set.Args...), Cwd: set.Cwd, Env: set.Env}
	loader, dirs := s.LoadsCode()
	for _, c := range append([]config.ToolCommand{own}, s.Transport.ToolCommands()...) {
		place := s.Transport.PositionOf(strings.TrimPrefix(c.Path+".command", "."))
		one := Program{
			Server:     s.Name,
			Command:    c.Command,
			Dir:        filepath.Join(s.Transport.Dir, c.Cwd),
			At:         place.String(),
			Env:        os.Environ(),
			Changeable: s.Changeable(),
			Loader:     loader,
			CodeDirs:   dirs,
			place:      place,
		}
		if filepath.IsAbs(c.Cwd) {
			one.Dir = c.Cwd
		}
		if path, ok := c.Env["PATH"]; ok {
			one.Env = append(slices.DeleteFunc(one.Env, func(v string) bool { return strings.HasPrefix(v, "PATH=") }),
				"PATH="+path)
		}
		all = append(all, one)
	}
	return all
}

// MissingPrograms returns a warning for each server with a program that cannot be found, with the
// place of the first one. It starts no program.
func MissingPrograms(all []Program) (warnings source.Diagnostics) {
	said := map[string]bool{}
	for _, p := range all {
		if said[p.Server] || len(p.Command) == 0 {
			continue
		}
		_, err := stdio.Resolve(p.Command[0], p.Dir, p.Env)
		if err == nil {
			continue
		}
		said[p.Server] = true
		message := err.Error()
		if e, ok := errors.AsType[*sdk.Error](err); ok {
			message = e.Message
		}
		warnings = append(warnings, source.Diagnostic{
			Severity: source.Warning,
			Summary:  "server \"" + p.Server + "\" cannot start: " + message,
			Hint:     ofProgram(p, err).Remedy,
			In:       "server \"" + p.Server + "\"",
			At:       p.place,
		})
	}
	return warnings
}
