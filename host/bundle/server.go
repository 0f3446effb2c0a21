package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// Name returns the name of the bundle as that of a directory.
func (b *Bundle) Name() string { return strings.ReplaceAll(b.manifest.Name, " ", "-") }

// Server returns the server as it is started from dir, where the bundle is or will be
// unpacked, on the operating system goos. It sets Problem if the manifest cannot be
// followed. The inputs are the settings that a user must give.
func (b *Bundle) Server(dir, goos string) (clientconfig.Server, []clientconfig.Input) {
	w := starter{settings: b.manifest.UserConfig, dir: dir, goos: goos}
	s := clientconfig.Server{Name: b.Name(), Dir: dir}
	run := b.start(goos)
	for i, word := range append([]string{run.Command}, run.Args...) {
		words := w.words(word)
		if i == 0 && len(words) == 1 && strings.Contains(words[0], "/") && !filepath.IsAbs(words[0]) &&
			!strings.HasPrefix(words[0], "${") {
			words[0] = filepath.Join(dir, filepath.FromSlash(words[0]))
		}
		s.Command = append(s.Command, words...)
	}
	for _, name := range slices.Sorted(maps.Keys(run.Env)) {
		if text := w.text(run.Env[name]); text != "" || run.Env[name] == "" {
			if s.Env == nil {
				s.Env = map[string]string{}
			}
			s.Env[name] = text
		}
	}
	s.Notes = w.notes
	if platforms := b.manifest.Compatibility.Platforms; len(platforms) > 0 &&
		!slices.Contains(platforms, platform(goos)) {
		s.Notes = append(s.Notes, "its manifest does not name this operating system among the ones that it works on")
	}
	switch {
	case strings.Contains(dir, "${"):
		w.fail("the directory of the bundle has ${ in its name")
	case len(s.Command) == 0 || s.Command[0] == "":
		w.fail("server.mcp_config.command is empty")
	}
	if w.problem != "" {
		return clientconfig.Server{Name: b.Name(), Problem: w.problem}, nil
	}
	return s, w.inputs
}

// platform returns the name that manifests have for an operating system.
func platform(goos string) string {
	if goos == "windows" {
		return "win32"
	}
	return goos
}

// start returns the command line for an operating system.
func (b *Bundle) start(goos string) start {
	if b.manifest.Server.Config == nil { // of uv, whose command is always the same
		return start{Command: "uv", Args: []string{"run", "--directory", "${__dirname}", b.manifest.Server.EntryPoint}}
	}
	run := *b.manifest.Server.Config
	other, ok := run.Platforms[platform(goos)]
	if !ok {
		return run
	}
	if other.Command != "" {
		run.Command = other.Command
	}
	if other.Args != nil {
		run.Args = other.Args
	}
	run.Env = maps.Clone(run.Env)
	for name, value := range other.Env {
		if run.Env == nil {
			run.Env = map[string]string{}
		}
		run.Env[name] = value
	}
	return run
}

// A starter replaces references.
type starter struct {
	settings map[string]setting
	dir      string
	goos     string
	inputs   []clientconfig.Input
	notes    []string
	problem  string
}

func (w *starter) fail(format string, args ...any) {
	if w.problem == "" {
		w.problem = fmt.Sprintf(format, args...)
	}
}

func (w *starter) note(text string) {
	if !slices.Contains(w.notes, text) {
		w.notes = append(w.notes, text)
	}
}

var (
	anyReference  = lazyregexp.New(`\$\{([^{}]*)\}`)
	wholeSetting  = lazyregexp.New(`^\$\{user_config\.([^{}]*)\}$`)
	settingName   = lazyregexp.New(`^[A-Za-z0-9_.-]{1,100}$`)
	homeDirectory = map[string]string{"HOME": "", "DESKTOP": "/Desktop",
		"DOCUMENTS": "/Documents", "DOWNLOADS": "/Downloads"}
)

// words replaces the references in an argument. A setting with several values becomes several
// arguments, and an optional one without a value none.
func (w *starter) words(text string) []string {
	if m := wholeSetting.FindStringSubmatch(text); m != nil {
		return w.values(m[1])
	}
	return []string{w.text(text)}
}

// text replaces the references in a text.
func (w *starter) text(text string) string {
	return anyReference.ReplaceAllStringFunc(text, func(reference string) string {
		name := reference[2 : len(reference)-1]
		if key, ok := strings.CutPrefix(name, "user_config."); ok {
			return strings.Join(w.values(key), ",")
		}
		switch below, home := homeDirectory[name]; {
		case home:
			return "${HOME}" + below
		case name == "__dirname":
			return w.dir
		case name == "/" || name == "pathSeparator":
			if w.goos == "windows" {
				return `\`
			}
			return "/"
		}
		return reference
	})
}

// values returns the values of a setting: its defaults, or a reference to an input.
func (w *starter) values(key string) []string {
	s, ok := w.settings[key]
	if !ok || !settingName.MatchString(key) {
		w.fail("user_config has no %q, or its name has other characters than letters, digits and . _ -", key)
		return nil
	}
	defaults := w.defaults(key, s)
	switch {
	case s.Sensitive, defaults == nil && s.Required:
		in := clientconfig.Input{ID: key, Secret: s.Sensitive}
		if !slices.Contains(w.inputs, in) {
			w.inputs = append(w.inputs, in)
		}
		if !s.Required {
			w.note(fmt.Sprintf("user_config.%s is optional: remove what refers to it if you have no value", key))
		}
		return []string{"${input:" + key + "}"}
	case defaults == nil:
		w.note(fmt.Sprintf("user_config.%s is optional and was left out", key))
	}
	return defaults
}

// defaults returns the default of a setting as texts; nil: it has none.
func (w *starter) defaults(key string, s setting) (all []string) {
	var v any
	if len(s.Default) == 0 || json.Unmarshal(s.Default, &v) != nil || v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, v := range list {
		switch v := v.(type) {
		case string:
			if strings.Contains(v, "${user_config.") {
				w.fail("the default of user_config.%s refers to a setting", key)
				return nil
			}
			all = append(all, w.text(v))
		case bool:
			all = append(all, strconv.FormatBool(v))
		case float64:
			all = append(all, strconv.FormatFloat(v, 'f', -1, 64))
		default:
			w.fail("the default of user_config.%s is neither a text, a number, true, false nor a list of them", key)
		}
	}
	return all
}
