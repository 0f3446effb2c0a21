package clientconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// program reads the command and its arguments. serverOf calls it for each entry.
func (r *entryReader) program() {
	command, _ := r.take("command", "executable", "cmd")
	switch c := command.(type) {
	case nil:
	case string:
		r.s.Command = []string{c}
		if args, isList := r.members["args"].([]any); r.members["args"] == nil || isList && len(args) == 0 {
			r.s.Command = r.split(c)
		}
	case []any:
		r.members["command"] = c
		r.s.Command = r.texts("command")
	case map[string]any: // of Zed: path, args and env
		for k, v := range c {
			if r.members[k] == nil {
				r.members[k] = v
			}
		}
		r.s.Command = []string{r.text("path")}
	default:
		r.fail("command is neither a text nor a list of texts")
	}
	if args := r.texts("args"); len(r.s.Command) > 0 {
		r.s.Command = append(r.s.Command, args...)
	}
	if len(r.s.Command) > 0 && r.s.Command[0] == "" {
		r.fail("command is empty")
	}
	if len(r.s.Command) > 0 && r.flag("cli") == true {
		r.fail("it offers a command-line program as tools; run `junctor wrap %s` instead",
			filepath.Base(r.s.Command[0]))
	}
}

// surroundings reads the variables and the directory of a program.
func (r *entryReader) surroundings() {
	r.s.Env = r.textMap("env", "environment", "envs")
	for _, name := range r.texts("env_keys") { // of Goose, which keeps the values itself
		if !variableName.MatchString(name) {
			r.fail("env_keys has a name that is not that of a variable")
			continue
		}
		if r.s.Env == nil {
			r.s.Env = map[string]string{}
		}
		r.s.Env[name] = "${{ secrets." + name + " }}"
	}
	r.passed()
	r.s.Dir = r.reference(r.text("cwd", "workingDirectory"))
	if below, ok := strings.CutPrefix(r.s.Dir, "~/"); ok {
		r.s.Dir = "${HOME}/" + below
	}
	if files, isList := r.members["envFile"].([]any); isList {
		r.members["envFile"] = files
		r.s.EnvFiles = r.texts("envFile")
	} else if path := r.text("envFile", "env_file"); path != "" {
		r.s.EnvFiles = []string{r.reference(path)}
	}
}

// passed reads the variables that a program gets from the environment: names, or of Codex
// also objects that say where the value is.
func (r *entryReader) passed() {
	v, name := r.take("env_vars", "env_passthrough")
	if v == nil {
		return
	}
	all, ok := v.([]any)
	if !ok {
		r.fail("%s is not a list", name)
	}
	for _, one := range all {
		if m, ok := one.(map[string]any); ok {
			if source, _ := m["source"].(string); source != "" && source != "local" {
				r.remark("%s has a variable of the source %q, which is left out", name, source)
				continue
			}
			one = m["name"]
		}
		text, ok := one.(string)
		if !ok {
			r.fail("%s is not a list of names of variables", name)
			return
		}
		if !variableName.MatchString(text) {
			r.remark("%s has %q, which is the name of no variable and is left out", name, text)
			continue
		}
		r.s.PassEnv = append(r.s.PassEnv, text)
	}
}

// split splits a command without arguments into words, as mcporter does. Other clients take
// it for the path of a program, which may have spaces.
func (r *entryReader) split(command string) []string {
	all, closed := words(command)
	mcporter := r.client != nil && r.client.Name == "mcporter"
	switch {
	case len(all) < 2, !mcporter && (!closed || isProgram(command, all[0]) || oddEscape.MatchString(command)):
		return []string{command}
	case !closed:
		r.fail("command has a quote that is not closed")
	case !mcporter:
		r.s.Notes = append(r.s.Notes, fmt.Sprintf("command was one text without args, and became %d words", len(all)))
	}
	return all
}

// oddEscape matches a backslash that escapes nothing, as in paths of Windows.
var oddEscape = lazyregexp.New(`\\[^ "'\\$]`)

// isProgram reports whether a command with spaces is probably the path of a program, and
// not a program with arguments that begins with first. It reads no path of a network.
func isProgram(command, first string) bool {
	switch {
	case windowsPath.MatchString(command), strings.Contains(first, `\`), strings.HasPrefix(command, "//"):
		return true
	case !strings.Contains(first, "/"):
		return isFile(command)
	}
	return !filepath.IsAbs(first) || isFile(command) || !isFile(first)
}

// windowsPath matches paths of Windows with a drive or a host.
var windowsPath = lazyregexp.New(`^(?:[A-Za-z]:[\\/]|\\\\)`)

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// words splits a text at spaces that are not quoted. closed is false if a quote is open at
// the end.
func words(text string) (all []string, closed bool) {
	var word strings.Builder
	var quote rune
	escaped, some := false, false
	for _, c := range text {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, some = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, some = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if some || word.Len() > 0 {
				all = append(all, word.String())
			}
			word.Reset()
			some = false
		default:
			word.WriteRune(c)
		}
	}
	if some || word.Len() > 0 {
		all = append(all, word.String())
	}
	return all, quote == 0 && !escaped
}
