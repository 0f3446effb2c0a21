package danger

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// Words in the names of options that are not in the table. An option is judged
// by its last word, as in --diff-program, or by its first, as in --exec-batch.
var (
	lastRuns = []string{"program", "prog", "command", "cmd", "exec", "execute", "executable", "pager", "editor",
		"shell", "browser", "viewer", "interpreter", "runner", "wrapper", "askpass", "hook", "hooks", "eval", "script",
		"rsh", "renderer", "toolexec", "launcher"}
	firstRuns = []string{"exec", "execute", "eval", "script", "run"}
	lastLoads = []string{"config", "configuration", "conf", "rc", "rcfile", "rcpath", "settings", "plugin", "plugins",
		"preload", "require", "loader", "defaults"}
	anyLoads = []string{"config", "conf", "rcfile", "plugin", "plugins", "preload"}
	// negating begin the name of an option that leaves out what it names, and harmless end
	// the name of one whose value is no program.
	negating  = []string{"no", "disable", "disabled", "exclude", "ignore", "skip", "without"}
	harmless  = []string{"lang", "language", "timeout"}
	anyWrites = []string{"output", "out", "outfile", "outdir", "write", "save", "dump", "log", "logfile", "trace",
		"report", "dest", "destination", "export", "append", "record"}
)

// programWords are placeholders of options whose value is a program.
var programWords = []string{"command", "cmd", "program", "prog", "shell", "script", "editor", "pager", "commandline",
	"executable", "hook"}

// codeWords are placeholders of options whose value is a text that the program runs.
var codeWords = []string{"code", "statement", "statements", "javascript", "lua", "perl", "python", "ruby"}

// runsText matches the description of an option whose value the program runs as a text.
var runsText = regexp.MustCompile(`(?i)^\W*(?:evaluate|execute|eval|exec|run)s?\s+(?:the\s+|this\s+|a\s+|an\s+|given\s+|each\s+|specified\s+|following\s+|<?[A-Z]+>?\s+as\s+|one\s+line\s+of\s+)*(?:expr(?:ession)?s?|code|statements?|scripts?|programs?|commands?|javascript|lua|perl|python|ruby|sql|text|string|input|argument|one-liner)\b`)

var aboutFiles = regexp.MustCompile(`(?i)\b(files?|filenames?|director(?:y|ies)|dir|folder|path|disk)\b`)

// guessEffect guesses the effect of an option from its name. It returns "" if the
// name does not suggest any.
func guessEffect(o *model.Option) Effect {
	if !o.Value.Kind.TakesValue() {
		return ""
	}
	switch o.Value.Kind {
	case model.Integer, model.Number, model.Duration, model.Enum:
		return ""
	}
	if holder := strings.ToLower(strings.Trim(o.Value.Placeholder, "<>[]{} ")); slices.Contains(programWords,
		last(words(holder))) {
		return Runs
	} else if slices.Contains(codeWords, holder) || runsText.MatchString(o.Description) {
		return Runs
	}
	for _, name := range o.Names {
		parts := words(strings.TrimLeft(name, "-+"))
		if len(parts) == 0 || len(strings.TrimLeft(name, "-+")) < 2 {
			continue
		}
		if effect := byName(parts, o); effect != "" {
			return effect
		}
	}
	return ""
}

// byName guesses the effect of an option from the words of one spelling.
func byName(parts []string, o *model.Option) Effect {
	has := func(list []string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(list, p) })
	}
	switch {
	case slices.Contains(lastRuns, last(parts)),
		slices.Contains(firstRuns, parts[0]) && !slices.Contains(harmless, last(parts)):
		return Runs
	case slices.Contains(negating, parts[0]) && !namesFile(o) && !has(anyWrites):
		return ""
	case slices.Contains(lastLoads, last(parts)), has(anyLoads):
		return Loads
	case has(anyWrites) && namesFile(o):
		return Writes
	case last(parts) == "template" && namesFile(o):
		return Loads
	}
	return ""
}

// namesFile reports whether the value of an option is a file and not, for
// example, a format or a level.
func namesFile(o *model.Option) bool {
	if o.Value.Kind == model.Path {
		return true
	}
	for _, text := range append([]string{o.Value.Placeholder}, o.Names...) {
		switch last(words(strings.ToLower(text))) {
		case "file", "files", "filename", "path", "dir", "directory", "folder", "outfile", "outdir", "logfile":
			return true
		case "format", "level", "type", "mode", "style", "fmt", "encoding", "color", "size", "comma", "separator",
			"sep", "delimiter", "delim":
			return false
		}
	}
	first, _, _ := strings.Cut(inBraces.ReplaceAllString(o.Description, ""), ".")
	return aboutFiles.MatchString(first) && !strings.Contains(strings.ToLower(first), "format")
}

// inBraces matches a part of a format, as in "{file}|{line}".
var inBraces = regexp.MustCompile(`\{[^{}]*\}`)

// positional returns Runs if a command has a program among its arguments, as in
// "timeout DURATION COMMAND [ARG]...".
func positional(c *model.Command) Effect {
	for i := range c.Positionals {
		name := strings.ToLower(c.Positionals[i].Name)
		switch last(words(name)) {
		case "command", "cmd", "program", "prog", "subcommand", "commandline", "executable", "script":
			return Runs
		}
	}
	return ""
}

var camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// words splits a name into words, as in use-compress-program or outDir.
func words(name string) []string {
	name = camel.ReplaceAllString(name, "$1-$2")
	return strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return strings.ContainsRune("-_. :/=<>[]", r) })
}

func last(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}
