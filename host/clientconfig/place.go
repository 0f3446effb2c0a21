package clientconfig

import (
	"path/filepath"
	"strings"
)

// A Scope says where an entry applies: in all directories of the user, or for all
// users of one directory.
type Scope string

// The scopes.
const (
	User    Scope = "user"
	Project Scope = "project"
	Local   Scope = "local" // of Claude Code: one directory, in the file of the user; only read
)

// Scopes are the names of the scopes in which Junctor writes.
var Scopes = []string{string(User), string(Project)}

// ReadScopes are the names of the scopes that Junctor reads.
var ReadScopes = append(Scopes[:len(Scopes):len(Scopes)], string(Local))

// A Home locates the files of a user's clients.
type Home struct {
	OS     string              // as in runtime.GOOS
	Dir    string              // the home directory
	Config string              // as of os.UserConfigDir
	Lookup func(string) string // environment variables; unset is empty
}

// Places returns the paths that the client reads in a scope. The last is the one to
// create. It returns nil if the client has no such scope.
func (c *Client) Places(s Scope, h Home) []string {
	where := c.places[s]
	if where == nil {
		return nil
	}
	return where(h)
}

// ForPath returns the client that a path is the usual one of, or nil. The names of other
// clients' files say nothing.
func ForPath(path string) *Client {
	unset := Home{Lookup: func(string) string { return "" }}
	for _, c := range Clients {
		for _, s := range []Scope{User, Project} {
			for _, usual := range c.Places(s, unset) {
				if path == usual || strings.HasSuffix(path, string(filepath.Separator)+usual) {
					return c
				}
			}
		}
	}
	switch filepath.Base(path) {
	case "mcporter.json", "mcporter.jsonc":
		return Find("mcporter")
	case "cline_mcp_settings.json":
		return Find("cline")
	case "mcp_settings.json":
		return Find("roo")
	case "gemini-extension.json":
		return Find("gemini")
	}
	return nil
}

func home(path ...string) func(Home) []string {
	return func(h Home) []string { return []string{filepath.Join(append([]string{h.Dir}, path...)...)} }
}

func config(path ...string) func(Home) []string {
	return func(h Home) []string { return []string{filepath.Join(append([]string{h.Config}, path...)...)} }
}

// here returns a path in the current directory.
func here(path ...string) func(Home) []string {
	return func(Home) []string { return []string{filepath.Join(path...)} }
}

// either returns several paths in the current directory.
func either(names ...string) func(Home) []string {
	return func(Home) []string { return names }
}

func (h Home) claudeCode() []string {
	return []string{filepath.Join(h.or("CLAUDE_CONFIG_DIR", h.Dir), ".claude.json")}
}

func (h Home) codex() []string {
	return []string{filepath.Join(h.or("CODEX_HOME", filepath.Join(h.Dir, ".codex")), "config.toml")}
}

// zed returns Zed's path, which on macOS is not in the usual directory.
func (h Home) zed() []string {
	dir := filepath.Join(h.Dir, ".config", "zed")
	switch h.OS {
	case "windows":
		dir = filepath.Join(h.Config, "Zed")
	case "linux":
		dir = filepath.Join(h.xdg(), "zed")
	}
	return []string{filepath.Join(dir, "settings.json")}
}

// openCode returns OpenCode's paths, which follow XDG on every system.
func (h Home) openCode() []string {
	dir := filepath.Join(h.xdg(), "opencode")
	return []string{filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "opencode.json")}
}

// mcporter returns mcporter's paths, which follow XDG only if the variable is set.
func (h Home) mcporter() []string {
	dir := filepath.Join(h.Dir, ".mcporter")
	if xdg := h.or("XDG_CONFIG_HOME", ""); xdg != "" {
		dir = filepath.Join(xdg, "mcporter")
	}
	return []string{filepath.Join(dir, "mcporter.jsonc"), filepath.Join(dir, "mcporter.json")}
}

// goose returns the path of Goose, which on Windows has two more directories.
func (h Home) goose() []string {
	if h.OS == "windows" {
		return []string{filepath.Join(h.Config, "Block", "goose", "config", "config.yaml")}
	}
	return []string{filepath.Join(h.xdg(), "goose", "config.yaml")}
}

func (h Home) crush() []string { return []string{filepath.Join(h.xdg(), "crush", "crush.json")} }

// continues returns the paths of Continue, the older one first if there is no newer one.
func (h Home) continues() []string {
	dir := filepath.Join(h.Dir, ".continue")
	return []string{filepath.Join(dir, "config.yaml"), filepath.Join(dir, "config.json")}
}

// mcp returns the path of avelino's mcp, which does not follow XDG.
func (h Home) mcp() []string {
	dir := h.or("MCP_CONFIG_DIR", filepath.Join(h.Dir, ".config", "mcp"))
	return []string{h.or("MCP_CONFIG_PATH", filepath.Join(dir, "servers.json"))}
}

func (h Home) xdg() string { return h.or("XDG_CONFIG_HOME", filepath.Join(h.Dir, ".config")) }

// or returns the directory in a variable, if it is an absolute path, and otherwise the
// default.
func (h Home) or(variable, otherwise string) string {
	if dir := h.Lookup(variable); filepath.IsAbs(dir) {
		return dir
	}
	return otherwise
}
