package command

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// maxInterpreters bounds the scripts of a command whose first line is read.
const maxInterpreters = 256

var (
	assignment = lazyregexp.New(`(?:^|[\s;&|(])([A-Za-z_][A-Za-z0-9_]*)=([^\s;&|()]*)`)
	workingDir = strings.NewReplacer("$(pwd)", "$PWD", "`pwd`", "$PWD", `"$PWD"`, "$PWD")
	ownHome    = lazyregexp.New(`(?:^|[\s"';&|(=:])~/`)
)

// expand returns a line for a shell with the values of variables that are known: those of the
// configuration, of assignments in the line, HOME and PWD.
func (r *reader) expand(line string) string {
	if ownHome.MatchString(line) {
		line = strings.ReplaceAll(line, "~/", "$HOME/")
	}
	if !strings.ContainsAny(line, "$`") {
		return line
	}
	line = workingDir.Replace(line)
	variables := map[string]string{"PWD": r.Dir, "HOME": sandbox.Home()}
	for name, value := range r.Env {
		variables[name] = value
	}
	for _, match := range assignment.FindAllStringSubmatch(line, maxDirs) {
		variables[match[1]] = strings.Trim(match[2], `"'`)
	}
	expanded := os.Expand(line, func(name string) string {
		name, otherwise, _ := strings.Cut(name, ":-")
		if value := variables[name]; value != "" {
			return value
		}
		return otherwise
	})
	if len(expanded) > MaxText {
		return line
	}
	return expanded
}

// interpreters adds the programs that the first lines of scripts name.
func (r *reader) interpreters() {
	seen := map[string]bool{}
	for i := 0; i < len(r.found) && len(seen) < maxInterpreters; i++ {
		path := r.found[i]
		if seen[path] {
			continue
		}
		seen[path] = true
		words := sandbox.Interpreter(path)
		started := false // the program of env is known
		for at, word := range words {
			r.behindLinks(word)
			switch {
			case at == 0 && !filepath.IsAbs(word):
				r.existing(r.Dir, word)
			case filepath.IsAbs(word):
				r.existing("", word)
			case filepath.Base(words[0]) == "env":
				if !started && !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
					started = true
					r.program(word)
				}
				for _, part := range strings.FieldsFunc(word, separatesWords) {
					r.named(part, true)
				}
			}
		}
	}
}
