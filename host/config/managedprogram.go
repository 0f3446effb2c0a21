package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/command"
	"github.com/junctor-mcp/junctor/host/managed"
	"github.com/junctor-mcp/junctor/host/ownership"
)

// A managedCheck compares servers with rules about them, for the load and for Refused. It reads the file
// system to learn which programs only the administrator can change.
type managedCheck struct {
	plugins *pluginTable
	path    string // the variable PATH
}

// unmanaged returns why the managed configuration does not allow a server, or "" if it does.
// The programs of tool blocks and of an auth provider are allowed as that of a server is.
func (c managedCheck) unmanaged(s *Server, rules managed.Rules) string {
	if why := c.unmanagedUse(c.managedUse(s.Name, s.Transport), rules); why != "" {
		return why
	}
	for _, t := range s.Transport.ToolCommands() {
		use := managed.Server{Name: s.Name, Command: t.Command, Altered: true}
		if why := c.unmanagedUse(use, rules); why != "" && c.plugins.isBundled(s.Transport) {
			return fmt.Sprintf("the program of its tool %q is %s", t.Tool, why)
		}
	}
	if s.Auth == nil {
		return ""
	}
	use := c.managedUse(s.Name, *s.Auth)
	if use.URL = ""; use.Command == nil && c.plugins.isBundled(*s.Auth) {
		return "" // it runs no program
	}
	if why := c.unmanagedUse(use, rules); why != "" {
		return "the program of its auth block is " + why
	}
	return ""
}

// unmanagedUse checks one block of a server.
func (c managedCheck) unmanagedUse(use managed.Server, rules managed.Rules) string {
	why := rules.Blocked(use)
	if why == "" && rules.ByCommand(use) && !rules.Own {
		why = c.exposedProgram(use.Command[0])
	}
	return why
}

// managedUse returns what the managed configuration is to know of a block of a server. Of a
// plugin that is not bundled only the name of the server counts, because the meaning of its
// settings is its own.
func (c managedCheck) managedUse(name string, b Block) managed.Server {
	m := managed.Server{Name: name}
	if !c.plugins.isBundled(b) {
		return m
	}
	var settings struct {
		Command []string          `json:"command"`
		Args    []string          `json:"args"`
		URL     string            `json:"url"`
		Env     map[string]string `json:"env"`
		PassEnv []string          `json:"pass_env"`
	}
	_ = json.Unmarshal(b.Settings, &settings) // members of other types are those of another transport
	m.URL = settings.URL
	if len(settings.Command) > 0 && m.URL == "" {
		m.Command = slices.Concat(settings.Command, settings.Args)
		variables := slices.Concat(slices.Collect(maps.Keys(settings.Env)), settings.PassEnv)
		m.Altered = b.Component != "stdio" && b.Component != "command" ||
			slices.ContainsFunc(variables, command.ChoosesCode)
	}
	return m
}

// exposedProgram returns why a program without a path may be another one than the
// administrator means, or "". The user chooses PATH, so that the program that it finds must be
// one that only the administrator can change.
func (c managedCheck) exposedProgram(name string) string {
	if strings.ContainsAny(name, `/`+string(filepath.Separator)) {
		return ""
	}
	path := command.SearchPath{List: c.path, Known: true}.Find(name)
	if !filepath.IsAbs(path) {
		return "" // there is no such program
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return name + " cannot be found"
	}
	for _, place := range []string{filepath.Dir(path), filepath.Dir(real), real} {
		if dir, err := filepath.EvalSymlinks(place); err == nil {
			place = dir // /bin is a link on many systems
		}
		if why := ownership.Unmanaged(place); why != "" {
			return "not run, because the PATH leads to " + path + ", and " + place + " " + why
		}
	}
	return ""
}
