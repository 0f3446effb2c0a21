// Package launcher recognizes programs that install an MCP server before they
// start it, such as npx, uvx and docker. It detects them in command lines and
// explains the errors that a broken cache causes.
package launcher

import (
	"path"
	"slices"
	"strings"
)

// verbs maps a program to the subcommands that make it a launcher. A nil value
// means that the program is always a launcher.
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

// offline lists the flags that keep a launcher from installing packages.
var offline = []string{"--offline", "--no-install", "--no", "--pull=never", "--cached-only"}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh"}

// Of returns the launcher in a command line, such as "npx" or "go run", or "" if
// there is none. It looks through env, cmd /c and sh -c.
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
		case slices.Contains(shells, name) && len(rest) > 1 && strings.HasPrefix(rest[0], "-") &&
			strings.HasSuffix(rest[0], "c"):
			command = firstCommand(rest[1])
		default:
			return launcherName(name, rest)
		}
	}
	return ""
}

// launcherName returns the launcher that a program and its arguments form, or "".
func launcherName(name string, args []string) string {
	all, known := verbs[name]
	if !known {
		return ""
	}
	var words []string // arguments that are not flags
	for _, a := range args {
		if slices.Contains(offline, a) {
			return ""
		}
		if !strings.HasPrefix(a, "-") {
			words = append(words, a)
		}
		if len(words) > 0 && all == nil {
			break // the remaining arguments belong to the server
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

// firstCommand returns the first command of a shell script. It drops variable
// assignments and exec, and does not parse quotes.
func firstCommand(script string) []string {
	words := strings.Fields(script)
	for len(words) > 0 && (words[0] == "exec" || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	return words
}

// programName returns the lower-case name of a program without directory and
// extension.
func programName(file string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(file, `\`, "/")))
	for _, ext := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}
