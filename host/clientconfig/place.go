package clientconfig

import "path/filepath"

// A Scope says for whom an entry is: the user, wherever they work, or whoever
// works in one directory.
type Scope string

// The scopes there are.
const (
	User    Scope = "user"
	Project Scope = "project"
)

// Scopes are the names of all scopes.
var Scopes = []string{string(User), string(Project)}

// A Home is where the files of a user's clients are.
type Home struct {
	OS     string              // as in runtime.GOOS
	Dir    string              // the home directory
	Config string              // as of os.UserConfigDir
	Lookup func(string) string // environment variables; unset is empty
}

// Places are the paths that the client reads in a scope, the one to make last.
// There are none when the client has no such scope.
func (c *Client) Places(s Scope, h Home) []string {
	where := c.places[s]
	if where == nil {
		return nil
	}
	return where(h)
}

func home(path ...string) func(Home) []string {
	return func(h Home) []string { return []string{filepath.Join(append([]string{h.Dir}, path...)...)} }
}

func config(path ...string) func(Home) []string {
	return func(h Home) []string { return []string{filepath.Join(append([]string{h.Config}, path...)...)} }
}

// here is a path in the directory in which the command runs.
func here(path ...string) func(Home) []string {
	return func(Home) []string { return []string{filepath.Join(path...)} }
}

// either is any of several files in that directory.
func either(names ...string) func(Home) []string {
	return func(Home) []string { return names }
}

func (h Home) claudeCode() []string {
	return []string{filepath.Join(h.or("CLAUDE_CONFIG_DIR", h.Dir), ".claude.json")}
}

func (h Home) codex() []string {
	return []string{filepath.Join(h.or("CODEX_HOME", filepath.Join(h.Dir, ".codex")), "config.toml")}
}

// zed is not where programs of a Mac have their files.
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

// openCode follows XDG on every system.
func (h Home) openCode() []string {
	dir := filepath.Join(h.xdg(), "opencode")
	return []string{filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "opencode.json")}
}

func (h Home) xdg() string { return h.or("XDG_CONFIG_HOME", filepath.Join(h.Dir, ".config")) }

// or is the directory that a variable names, if it names one; a relative path
// is no answer.
func (h Home) or(variable, otherwise string) string {
	if dir := h.Lookup(variable); filepath.IsAbs(dir) {
		return dir
	}
	return otherwise
}
