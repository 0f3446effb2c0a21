package launcher

import (
	"path"
	"slices"
	"strings"
)

// verbs are the words after a launcher's name that make it one; none: it always
// is.
var verbs = map[string][][]string{
	"npx": nil, "bunx": nil, "uvx": nil, "pnpx": nil,
	"npm":    {{"exec"}, {"x"}},
	"pnpm":   {{"dlx"}, {"exec"}},
	"yarn":   {{"dlx"}},
	"bun":    {{"x"}},
	"uv":     {{"run"}, {"tool", "run"}, {"x"}},
	"pipx":   {{"run"}},
	"deno":   {{"run"}},
	"go":     {{"run"}},
	"docker": {{"run"}, {"compose", "run"}, {"container", "run"}},
	"podman": {{"run"}, {"container", "run"}},
}

// offline are the flags that keep a launcher from installing anything.
var offline = []string{"--offline", "--no-install", "--no", "--pull=never", "--cached-only"}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh"}

// Of returns the launcher of a command line as people write it, such as "npx" or
// "go run"; empty when there is none. It looks through env, cmd /c and sh -c.
func Of(command []string) string {
	for len(command) > 0 {
		name, rest := programName(command[0]), command[1:]
		switch {
		case name == "env":
			command = slices.Clone(rest)
			for len(command) > 0 && (strings.HasPrefix(command[0], "-") || strings.Contains(command[0], "=")) {
				command = command[1:]
			}
		case name == "cmd" && len(rest) > 0 && strings.EqualFold(rest[0], "/c"):
			command = rest[1:]
		case slices.Contains(shells, name) && len(rest) > 1 && strings.HasPrefix(rest[0], "-") && strings.HasSuffix(rest[0], "c"):
			command = firstCommand(rest[1])
		default:
			return named(name, rest)
		}
	}
	return ""
}

// named returns the launcher that a program is with these arguments.
func named(name string, args []string) string {
	all, known := verbs[name]
	if !known {
		return ""
	}
	var words []string // without flags
	for _, a := range args {
		if slices.Contains(offline, a) {
			return ""
		}
		if !strings.HasPrefix(a, "-") {
			words = append(words, a)
		}
		if len(words) > 0 && all == nil {
			break // what follows is the server's own
		}
	}
	if all == nil {
		return name
	}
	for _, verb := range all {
		if len(words) >= len(verb) && slices.Equal(words[:len(verb)], verb) {
			return name + " " + strings.Join(verb, " ")
		}
	}
	return ""
}

// firstCommand is the first command of a shell's script, roughly: what sets
// variables and exec are left out.
func firstCommand(script string) []string {
	words := strings.Fields(script)
	for len(words) > 0 && (words[0] == "exec" || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	return words
}

// programName is a program's name without its directory and extension.
func programName(file string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(file, `\`, "/")))
	for _, ext := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}
