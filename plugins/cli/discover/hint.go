package discover

import (
	"regexp"
	"slices"
	"strings"
)

// alternatives are asked if --help told little.
var alternatives = [][]string{{"-help"}, {"help"}, {"-H"}, {"-?"}, {"--usage"}}

// tails are the only arguments that hints may lead to. Each of them asks for
// help or for a list of commands, and does nothing else in any program that
// mentions it this way.
var tails = append(alternatives[:len(alternatives):len(alternatives)], [][]string{
	{"help", "-a"}, {"help", "--all"}, {"help", "-all"}, {"help", "all"}, {"help", "commands"},
	{"--help", "all"}, {"--help=all"}, {"--help", "--all"}, {"--help", "options"}, {"-h", "all"}, {"--help-all"},
	{"-help-all"}, {"--help", "-a"}, {"-h", "long"}, {"--help-long"}, {"--longhelp"}, {"--long-help"},
	{"--help", "long"}, {"--help=full"}, {"--help", "full"}, {"-h", "full"}, {"--help-full"}, {"--helpfull"},
	{"--fullhelp"}, {"--full-help"}, {"--help-more"}, {"--more-help"}, {"--help-extra"}, {"--help", "-v"},
	{"-v", "--help"}, {"--help", "--verbose"}, {"--help=verbose"}, {"--list"}, {"--list-commands"}, {"--commands"},
	{"commands"}, {"options"}, {"help", "options"},
}...)

// A hint is a further question that a text suggests. It is a value.
type hint struct {
	args []string
	// shared is true if the answer lists options of every command.
	shared bool
	// instead is true if the question is another form of --help.
	instead bool
}

var (
	// more matches a line that leads to more help.
	more = regexp.MustCompile(
		`(?i)\b(help|lists?|all|commands?|options?|usage|details?|more|complete|full|information)\b`,
	)

	// tooMuch matches the warning about an answer that is too long to be
	// useful.
	tooMuch = regexp.MustCompile(`(?i)\bvery long\b`)

	commands   = regexp.MustCompile(`(?i)\bcommands?\b`)
	everywhere = regexp.MustCompile(`(?i)\b(global|any command|all commands|every command)\b`)
)

// hints returns the questions that a text about the command at path suggests.
func hints(text, program string, path []string) []hint {
	var found []hint
	if all, ok := everyTopic(text); ok && len(path) == 0 {
		found = append(found, hint{args: all})
	}
	for _, m := range wider.FindAllStringSubmatch(text, -1) {
		if option := m[1]; option != string(longFlag) && !tooMuch.MatchString(m[0]) {
			found = append(found, hint{args: slices.Concat(path, []string{string(longFlag), option})})
		}
	}
	lines := strings.Split(text, "\n")
	if listsAlone(lines, program) && len(path) == 0 {
		found = append(found, hint{args: path})
	}
	for i, tail := range append(tails[:len(tails):len(tails)], slices.Concat([]string{"help"}, path)) {
		for _, whole := range [][]string{tail, slices.Concat(path, tail)} {
			for _, line := range lines {
				if mentions(line, program, whole) {
					h := hint{args: whole, shared: whole[len(whole)-1] == "options" && everywhere.MatchString(line),
						instead: i < len(alternatives)}
					if !slices.ContainsFunc(found, func(f hint) bool { return slices.Equal(f.args, h.args) }) {
						found = append(found, h)
					}
				}
			}
		}
	}
	return found
}

// listsAlone reports whether a line says that the program lists its commands if
// it is run without arguments: 'Type "prog" to list available commands'.
func listsAlone(lines []string, program string) bool {
	for _, line := range lines {
		if m := typeAlone.FindStringSubmatch(line); m != nil && m[1] == program {
			return true
		}
	}
	return false
}

var typeAlone = regexp.MustCompile("(?i)\\b(?:type|run|use) [\"'`]([^\"'` ]+)[\"'`] (?:to (?:list|see|show)|for) (?:an? |the )?(?:all |available |list of )*commands\\b")

// topics matches the list of arguments of --help, such as "--help
// <simple|list|all>".
var topics = regexp.MustCompile(`--help([ =])[<\[{(]+([a-z]+(?:\|[a-z]+)+)[>\]})]`)

// wider matches an option that makes the help longer. It is asked together with
// --help, so that the program does nothing else.
var wider = regexp.MustCompile(`(?mi)^\s+(?:-\w, ?)?(--[a-z][a-z-]*)\b[ ,].*\b(?:show|print|display|list)s?\b (?:[a-z-]+ )?(?:all|more|full|every) (?:[a-z-]+ ){0,2}(?:options|commands|help)\b`)

// everyTopic returns the question for all topics, if the text offers it.
func everyTopic(text string) (args []string, ok bool) {
	m := topics.FindStringSubmatch(text)
	switch {
	case m == nil || !slices.Contains(strings.Split(m[2], "|"), "all"):
		return nil, false
	case m[1] == "=":
		return []string{"--help=all"}, true
	}
	return []string{"--help", "all"}, true
}

// mentions reports whether a line tells users to run these arguments to learn
// more: with the program's name in front, in quotes, or as a list of options.
func mentions(line, program string, args []string) bool {
	if !strings.Contains(line, args[len(args)-1]) {
		return false
	}
	words := strings.Join(args, " ")
	line = strings.Join(strings.Fields(line), " ")
	wanted := more
	if args[0] == "--list" || args[0] == "--commands" || args[0] == "commands" {
		wanted = commands
	}
	for start := 0; ; {
		i := strings.Index(line[start:], words)
		if i < 0 {
			return false
		}
		before, after := line[:start+i], line[start+i+len(words):]
		alone := before == program+" " && after == "" // such a line shows what to type
		if tooMuch.MatchString(line) {
			return false
		}
		if alone ||
			isAdvice(before, after, program, strings.HasPrefix(words, "-")) && wanted.MatchString(before+" "+after) {
			return true
		}
		start += i + len(words)
	}
}

var (
	opening = regexp.MustCompile("[\"'`‘“]$")
	closing = regexp.MustCompile("^[\"'`’”]")
	advised = regexp.MustCompile(`(?i)\b(with|use|using|try|see|run|type) $`)
	another = regexp.MustCompile(`^[.,;:)]* (for|to|or|and|will|shows?|lists?|--) |^[.,;:)]+( |$)|^$`)
)

// isAdvice reports whether the text around some arguments recommends them.
func isAdvice(before, after, program string, dashed bool) bool {
	rest, named := strings.CutSuffix(before, program+" ")
	named = named && (rest == "" || strings.HasSuffix(rest, " ") || opening.MatchString(rest))
	if named {
		before = rest
	}
	switch {
	case !named && !dashed:
		return false
	case opening.MatchString(before):
		return closing.MatchString(after)
	case named, advised.MatchString(before):
		return another.MatchString(after)
	}
	return before == "" && (after == "" || after[0] == ' ')
}
