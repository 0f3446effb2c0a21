package discover

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/help"
	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// A verdict says what a program did when it was asked for help.
type verdict string

const (
	helped  verdict = "helped"  // it printed help that was not seen above
	same    verdict = "same"    // it printed the help of a command above
	refused verdict = "refused" // it did not know what it was asked, and said so
	acted   verdict = "acted"   // it printed something else, or nothing: it may have done what it is for
)

// A reply is an answer that was read.
type reply struct {
	verdict verdict
	cmd     *model.Command // what the text says; nil: nothing
	like    *node          // whose help it is, where it is the same
	text    string
	status  int
}

var (
	// helpish is in nearly every help text and hardly in anything else.
	helpish = regexp.MustCompile(`(?im)^\W{0,3}(usage|synopsis|syntax|options|flags|arguments|(available |sub-?)?commands|name)\b[^.\n]{0,40}:?\s*$|\busage:|^\W*usage\b|\s--help\b|^use: |try '|show this help|display this help|print this help`)

	// refusing is in what a program prints that did not understand what it was
	// asked.
	refusing = regexp.MustCompile(`(?i)\b(unknown|unrecogni[sz]ed|invalid|illegal|unsupported|bad|unexpected|undefined|no such)\b.{0,24}\b(option|flag|argument|switch|(sub-?)?command|parameter|verb|help topic)|` +
		`not (a|an) .{0,30}\b(command|option)|flag provided but not defined|(option|command|flag|argument)\b.{0,60}\b(is )?(unknown|not (recogni[sz]ed|found|defined|known|supported|valid))|does not take|takes no|` +
		`no manual entry|no help (topic|for|available)|requires? (a|an|at least)\b|(missing|too many|too few|not enough) .{0,20}(argument|operand|parameter)s?`)

	// aboutHelp is how the help of a program's own help command begins, which is
	// what it prints when it does not understand what to explain.
	aboutHelp = regexp.MustCompile(`(?i)^\s*usage:?\s+\S+ help\b`)

	manHead = regexp.MustCompile(`^\s*(\S+\([0-9a-zA-Z]*\))\s.*\s*\S*\(`)
)

// judge reads an answer to a question after a command's help.
func (w *walk) judge(a answer, n *node) *reply {
	r := &reply{verdict: acted, status: a.status}
	if a.failed != nil {
		return r
	}
	// Help goes to standard error where the program takes the question for a
	// mistake; some print a warning there and help to standard output.
	for _, text := range []string{a.stdout, a.stderr} {
		if strings.TrimSpace(text) == "" {
			continue
		}
		c, ok := w.parse(text, n.cmd.Path)
		if ok && looksLikeHelp(text, c) && (r.cmd == nil || worth(c) > worth(r.cmd)) {
			r.cmd, r.text = c, text
		}
	}
	refusal := a.status != 0 && refuses(a.stderr+"\n"+a.stdout) || len(n.cmd.Path) > 0 && aboutHelp.MatchString(r.text)
	switch {
	case r.cmd == nil && refusal:
		r.verdict = refused
	case r.cmd == nil:
	case r.findAbove(n):
		r.verdict, r.cmd = same, nil
	case refusal:
		r.verdict = refused // and perhaps its usage tells something all the same
	default:
		r.verdict = helped
	}
	return r
}

// parse reads a text as what it looks like.
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

// keepNamed drops the commands of a man page that its synopsis does not speak
// of: a page has many lists, and most are of other things. It is false where the
// synopsis says no more than that there are commands.
func keepNamed(c *model.Command, text string) bool {
	m := synopsis.FindStringSubmatch(text)
	if m == nil || anyCommand.MatchString(m[1]) {
		return false
	}
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune(" \t\n|()[]{}<>,", r) }) {
		words[w] = true
	}
	c.Commands = slices.DeleteFunc(c.Commands, func(sub *model.Command) bool { return !words[lastWord(sub)] })
	return true
}

// findAbove reports whether a reply is the help of a command above, perhaps with
// a complaint on top or the program's name spelt in another way.
func (r *reply) findAbove(n *node) bool {
	for above := n.parent; above != nil; above = above.parent {
		theirs, text := strings.TrimSpace(above.text), strings.TrimSpace(r.text)
		if theirs != "" && (theirs == text || r.status != 0 && strings.HasSuffix(text, theirs)) ||
			repeats(r.cmd.Commands, above) && len(r.cmd.Options) == above.own {
			r.like = above
			return true
		}
	}
	return false
}

func looksLikeHelp(text string, c *model.Command) bool {
	return len(c.Options)+len(c.Commands) >= 3 || helpish.MatchString(text)
}

// refuses reports whether a text begins with a complaint.
func refuses(text string) bool {
	lines := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if refusing.MatchString(line) {
			return true
		}
		if lines++; lines == 4 {
			break
		}
	}
	return false
}

// worth is how much a text told.
func worth(c *model.Command) float64 {
	return float64(len(c.Options)+2*len(c.Commands)) + float64(len(c.Positionals))/2 + c.Confidence
}

// score is worth, and less for a text that begins with a complaint.
func (r *reply) score() float64 {
	s := worth(r.cmd)
	if r.verdict != helped {
		s /= 2
	}
	return s
}
