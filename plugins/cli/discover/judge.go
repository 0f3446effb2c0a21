package discover

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/help"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A verdict classifies the answer to a question for help.
type verdict string

const (
	helped   verdict = "helped"   // the program printed help that no parent printed
	same     verdict = "same"     // the program printed the help of a parent
	rejected verdict = "rejected" // the program rejected the question with an error
	acted    verdict = "acted"    // the program printed something else or nothing; it may have acted
)

// A reply is an answer that was parsed.
type reply struct {
	verdict verdict
	cmd     *model.Command // the parsed help; nil if there is none
	helpOf  *node          // the parent whose help it is, for the verdict same
	text    string
	status  int
}

var (
	// helpish matches nearly every help text and hardly anything else.
	helpish = regexp.MustCompile(`(?im)^\W{0,3}(usage|synopsis|syntax|options|flags|arguments|(available |sub-?)?commands|name)\b[^.\n]{0,40}:?\s*$|\busage:|^\W*usage\b|\s--help\b|^use: |try '|show this help|display this help|print this help`)

	// rejecting matches the error of a program that did not understand the
	// question.
	rejecting = regexp.MustCompile(`(?i)\b(unknown|unrecogni[sz]ed|invalid|illegal|unsupported|bad|unexpected|undefined|no such)\b.{0,24}\b(option|flag|argument|switch|(sub-?)?command|parameter|verb|help topic)|` +
		`not (a|an) .{0,30}\b(command|option)|flag provided but not defined|(option|command|flag|argument)\b.{0,60}\b(is )?(unknown|not (recogni[sz]ed|found|defined|known|supported|valid))|does not take|takes no|` +
		`no manual entry|no help (topic|for|available)|requires? (a|an|at least)\b|(missing|too many|too few|not enough) .{0,20}(argument|operand|parameter)s?`)

	// aboutHelp matches the usage of a program's own help command. The program
	// prints it when it does not know the command to explain.
	aboutHelp = regexp.MustCompile(`(?i)^\s*usage:?\s+\S+ help\b`)

	manHead = regexp.MustCompile(`^\s*(\S+\([0-9a-zA-Z]*\))\s.*\s*\S*\(`)
)

// judge parses an answer to a question about a command and classifies it. It is pure.
func (w *walk) judge(a answer, n *node) *reply {
	r := &reply{verdict: acted, status: a.status}
	if a.failed != nil {
		return r
	}
	// Programs that take the question for a mistake print help to standard
	// error. Others print a warning there and help to standard output.
	for _, text := range []string{a.stdout, a.stderr} {
		if strings.TrimSpace(text) == "" {
			continue
		}
		c, ok := w.parse(text, n.cmd.Path)
		if ok && looksLikeHelp(text, c) && (r.cmd == nil || worth(c) > worth(r.cmd)) {
			r.cmd, r.text = c, text
		}
	}
	rejection := a.status != 0 && rejects(a.stderr+"\n"+a.stdout) ||
		len(n.cmd.Path) > 0 && aboutHelp.MatchString(r.text)
	switch {
	case r.cmd == nil && rejection:
		r.verdict = rejected
	case r.cmd == nil:
	case r.findAbove(n):
		r.verdict, r.cmd = same, nil
	case rejection:
		r.verdict = rejected // its usage may still tell something
	default:
		r.verdict = helped
	}
	return r
}

// parse reads a text as a man page or as help.
func (w *walk) parse(text string, path []string) (*model.Command, bool) {
	about := help.About{Program: w.program.Name, Path: path}
	if first, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n"); manHead.MatchString(first) {
		if c, ok := help.ParseMan(text, about); ok {
			keepNamed(c, text)
			return c, true
		}
	}
	return help.Parse(text, about)
}

var (
	synopsis   = regexp.MustCompile(`(?ms)^SYNOPSIS\n(.*?)^\S`)
	anyCommand = regexp.MustCompile(`(?i)\b(sub-?)?(command|cmd|service|group)s?\b`)
)

// keepNamed drops the commands of a man page that its synopsis does not name,
// because most lists of a page are about other things. It returns false if the
// synopsis has only a placeholder for commands.
func keepNamed(c *model.Command, text string) bool {
	m := synopsis.FindStringSubmatch(text)
	if m == nil || anyCommand.MatchString(m[1]) {
		return false
	}
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(m[1],
		func(r rune) bool { return strings.ContainsRune(" \t\n|()[]{}<>,", r) }) {
		words[w] = true
	}
	c.Commands = slices.DeleteFunc(c.Commands, func(sub *model.Command) bool { return !words[lastWord(sub)] })
	return true
}

// findAbove reports whether a reply is the help of a parent, perhaps after an
// error message or with the program's name spelled in another way.
func (r *reply) findAbove(n *node) bool {
	for above := n.parent; above != nil; above = above.parent {
		theirs, text := strings.TrimSpace(above.text), strings.TrimSpace(r.text)
		if theirs != "" && (theirs == text || r.status != 0 && strings.HasSuffix(text, theirs)) ||
			repeats(r.cmd.Commands, above) && len(r.cmd.Options) == above.own {
			r.helpOf = above
			return true
		}
	}
	return false
}

// looksLikeHelp reports whether a text is help: it has three options or
// commands, or typical words.
func looksLikeHelp(text string, c *model.Command) bool {
	return len(c.Options)+len(c.Commands) >= 3 || helpish.MatchString(text)
}

// rejects reports whether one of the first four lines of a text is an error
// about the question.
func rejects(text string) bool {
	lines := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if rejecting.MatchString(line) {
			return true
		}
		if lines++; lines == 4 {
			break
		}
	}
	return false
}

// worth rates how much a text told.
func worth(c *model.Command) float64 {
	return float64(len(c.Options)+2*len(c.Commands)) + float64(len(c.Positionals))/2 + c.Confidence
}

// score rates a reply. A text that begins with an error has half of its worth.
func (r *reply) score() float64 {
	s := worth(r.cmd)
	if r.verdict != helped {
		s /= 2
	}
	return s
}
