package discover

import (
	"context"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// learnRoot asks the program itself. That nothing is understood is no error: it
// is a program without commands whose options nobody knows.
func (w *walk) learnRoot(ctx context.Context, n *nest) (*node, error) {
	root := &node{cmd: &model.Command{Path: w.top, Runnable: true, Source: "none"}}
	r, err := w.askRoot(ctx, root, n)
	if err != nil {
		return nil, err
	}
	if r == nil {
		w.readRootManual(ctx, root)
		if !root.known {
			root.assume()
			why := "The program printed nothing that could be read as help when it was asked for it."
			if f := w.program.Failure; f != "" {
				why = "T" + f[1:]
			}
			w.program.Incomplete = append(w.program.Incomplete, why)
		}
		return root, nil
	}
	root.accept(r)
	w.follow(ctx, root, slices.DeleteFunc(hints(r.text, w.program.Name, w.top), func(h hint) bool {
		return h.instead && !root.isTerse() || !w.first(h.args)
	}))
	w.forms = formsOf(w.said)
	w.protocol = w.findProtocol(ctx, w.said)
	w.forms.framework = w.forms.framework || w.protocol != nil
	w.complement(ctx, root)
	if slices.ContainsFunc(root.found, isHelpCommand) && !slices.Contains(w.forms.documented, firstWord) {
		w.forms.documented = append(w.forms.documented, firstWord)
	}
	w.readRootManual(ctx, root)
	w.readVersion(ctx, w.said)
	return root, nil
}

// isHelpCommand reports whether a command explains others. Not all that are
// called help do.
func isHelpCommand(c *model.Command) bool {
	s := strings.ToLower(c.Summary)
	return lastWord(c) == "help" && (strings.Contains(s, "help") || strings.Contains(s, "usage") || strings.Contains(s, "command"))
}

// slow is the part of the time for one question after which a program is one of
// those that keep a processor busy before they say anything.
const slow = 5

// askRoot asks the program with --help. Only when it refuses that, or names
// another way, is it asked again: one that ignores --help has already run.
func (w *walk) askRoot(ctx context.Context, root *node, n *nest) (*reply, error) {
	a := w.prober.ask(ctx, longFlag.args(w.top)...)
	if a.took > w.o.ProbeTime/slow {
		w.o.Parallel = min(w.o.Parallel, runtime.NumCPU()) // or one is late because of the others
	}
	if a.failed != nil {
		return nil, a.failed
	}
	if a.late && a.stdout+a.stderr == "" {
		// A large program that was not in memory takes its time once.
		a = w.prober.patient().ask(ctx, longFlag.args(w.top)...)
	}
	r := w.judge(a, root)
	if r.cmd == nil && a.status != 0 && !a.late && !a.long && r.verdict != refused {
		// It cannot do even this without the user's own home; see nest.
		w.prober.env, w.prober.ownHome = n.realEnv, true
		a = w.prober.ask(ctx, longFlag.args(w.top)...)
		r = w.judge(a, root)
	}
	best := r
	w.said = a.stdout + "\n" + a.stderr
	for _, args := range w.rootQuestions(root, r) {
		if best.verdict == helped || ctx.Err() != nil {
			break
		}
		r := w.judge(w.prober.ask(ctx, args...), root)
		w.said += "\n" + r.text
		if r.cmd != nil && (best.cmd == nil || r.score() > best.score()) {
			best = r
		}
	}
	if best.cmd == nil {
		w.program.Failure = failureOf(a)
		return nil, ctx.Err()
	}
	return best, nil
}

// rootQuestions are the ways to ask again a program that did not answer --help
// as hoped.
func (w *walk) rootQuestions(root *node, r *reply) [][]string {
	var questions [][]string
	for _, h := range hints(w.said, w.program.Name, root.cmd.Path) {
		questions = append(questions, h.args)
	}
	if r.verdict == refused {
		questions = append(questions, shortFlag.args(w.top))
	}
	return questions
}

var mentionsVersion = regexp.MustCompile(`(?m)(^|[\s\[,|])--version\b`)

// readVersion asks for the program's version where its help says how.
func (w *walk) readVersion(ctx context.Context, text string) {
	if len(w.top) > 0 || !mentionsVersion.MatchString(text) {
		return
	}
	a := w.prober.ask(ctx, "--version")
	for _, said := range []string{a.stdout, a.stderr} {
		for line := range strings.Lines(said) {
			if line = strings.TrimSpace(line); line != "" && a.status == 0 {
				w.program.Version = line[:min(len(line), 200)]
				return
			}
		}
	}
}

const (
	// placeholder is how help texts write "any command".
	placeholder = `[<\[({]*(?:sub-?)?(?:command|cmd|COMMAND|SUBCOMMAND|CMD)(?:[- _]?name)?s?[>\])}]*`
	topic       = `[<\[({]*(?:(?:sub-?)?(?:command|cmd|topic|term)(?:[- _]?name)?s?)[>\])}]*`
)

var (
	helpAfter  = regexp.MustCompile(`(?i)(?:^|[\s"'` + "`" + `])` + placeholder + `(?: [<\[]?(?:sub-?command|options|args)\S*)* (--help|-h|help)(?:[\s"'` + "`" + `.,)]|$)`)
	helpEither = regexp.MustCompile(`(?i)\{ ?(sub-?)?(command|cmd)s? ?\| ?help ?\}`)
	helpBefore = regexp.MustCompile(`(?im)(?:^|[\s"'` + "`" + `])help (?:[a-z][\w-]* ){0,2}` + topic + `(?:[\s"'` + "`" + `.,)]|$)`)

	// standard is how libraries that give every command --help describe it.
	standard = regexp.MustCompile(`(?im)^\s+(?:--help, -h\s+show help$|(-h, |-\?, |/\?, )*--help\b.*\s(show this help message and exit|show this message and exit\.|print help\b.*|display help for command|show help\s+\[boolean\]|` +
		`show context-sensitive help\.?|show help and usage information|help for \S+)\s*$)`)
)

// formsOf finds out which forms a program's help says that work with every
// command.
func formsOf(text string) forms {
	f := forms{framework: standard.MatchString(text)}
	add := func(d form) {
		if !slices.Contains(f.documented, d) {
			f.documented = append(f.documented, d)
		}
	}
	for _, m := range helpAfter.FindAllStringSubmatch(text, -1) {
		add(form(strings.ToLower(m[1])))
	}
	if helpEither.MatchString(text) {
		add(lastWordF)
	}
	for _, m := range helpBefore.FindAllString(text, -1) {
		if strings.Contains(m, "help") {
			add(firstWord)
		}
	}
	return f
}
