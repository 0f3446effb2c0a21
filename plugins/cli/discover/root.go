package discover

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// learnRoot asks the program itself. It is not an error if no answer can be
// read: the program then has no known commands and options.
func (w *walk) learnRoot(ctx context.Context, box *workspace) (*node, error) {
	root := &node{cmd: &model.Command{Path: w.top, Runnable: true, Source: "none"}}
	r, err := w.askRoot(ctx, root, box)
	if err != nil {
		return nil, err
	}
	if r == nil {
		w.readRootManual(ctx, root)
		if !root.known {
			root.assume()
			why := "The program printed nothing that could be read as help when it was asked for it."
			if f := w.program.Failure; f != "" {
				why = strings.ToUpper(f[:1]) + f[1:]
			}
			w.program.Incomplete = append(w.program.Incomplete, why)
		}
		return root, nil
	}
	root.accept(r)
	w.follow(ctx, root, slices.DeleteFunc(hints(r.text, w.program.Name, w.top), func(h hint) bool {
		return h.instead && !root.isTerse() || !w.claim(h.args)
	}))
	w.forms = formsOf(w.helpText)
	w.protocol = w.findProtocol(ctx, w.helpText)
	w.forms.framework = w.forms.framework || w.protocol != nil
	w.complement(ctx, root)
	if slices.ContainsFunc(root.found, isHelpCommand) && !slices.Contains(w.forms.documented, firstWord) {
		w.forms.documented = append(w.forms.documented, firstWord)
	}
	w.readRootManual(ctx, root)
	w.readVersion(ctx, w.helpText)
	return root, nil
}

// isHelpCommand reports whether a command explains other commands. Some
// commands called help do something else.
func isHelpCommand(c *model.Command) bool {
	s := strings.ToLower(c.Summary)
	return lastWord(c) == "help" &&
		(strings.Contains(s, "help") || strings.Contains(s, "usage") || strings.Contains(s, "command"))
}

// slowShare divides the time limit of one question. A program that takes longer
// than this part to answer counts as slow.
const slowShare = 5

// askRoot asks the program with --help. It asks in another form only if the
// program rejects --help or its help names another form, because a program that
// ignores --help has already done its work.
func (w *walk) askRoot(ctx context.Context, root *node, box *workspace) (*reply, error) {
	a := w.prober.ask(ctx, longFlag.args(w.top)...)
	if a.took > w.o.ProbeTime/slowShare {
		w.o.Parallel = min(w.o.Parallel, runtime.NumCPU()) // so that questions do not slow down each other
	}
	if a.failed != nil {
		return nil, a.failed
	}
	if a.late && a.stdout+a.stderr == "" {
		// A large program may start slowly once, until it is in memory.
		a = w.prober.patient().ask(ctx, longFlag.args(w.top)...)
	}
	r := w.judge(a, root)
	if r.cmd == nil && a.status != 0 && !a.late && !a.long && r.verdict != rejected {
		// The program may need the user's home directory even for its help; see
		// workspace.
		w.prober.env, w.prober.ownHome = box.realEnv, true
		a = w.prober.ask(ctx, longFlag.args(w.top)...)
		r = w.judge(a, root)
	}
	best := r
	w.helpText = a.stdout + "\n" + a.stderr
	for _, args := range w.rootQuestions(root, r) {
		if best.verdict == helped || ctx.Err() != nil {
			break
		}
		r := w.judge(w.prober.ask(ctx, args...), root)
		w.helpText += "\n" + r.text
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

// rootQuestions returns further questions for a program that did not answer
// --help with help.
func (w *walk) rootQuestions(root *node, r *reply) [][]string {
	var questions [][]string
	for _, h := range hints(w.helpText, w.program.Name, root.cmd.Path) {
		questions = append(questions, h.args)
	}
	if r.verdict == rejected {
		questions = append(questions, shortFlag.args(w.top))
	}
	return questions
}

var mentionsVersion = regexp.MustCompile(`(?m)(^|[\s\[,|])--version\b`)

// readVersion asks for the version of the program, if its help mentions
// --version.
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
	failureLines = 3
	failureBytes = 400
)

// failureOf describes how a program failed instead of printing help, with the
// first lines of its output. It returns "" if the program did not fail.
func failureOf(a answer) string {
	if a.status == 0 || a.late || a.long {
		return ""
	}
	text := fmt.Sprintf("the program failed when it was asked for help (exit status %d)", a.status)
	if a.status < 0 {
		text = "the program was killed when it was asked for help"
	}
	said := a.stderr
	if strings.TrimSpace(said) == "" {
		said = a.stdout
	}
	var lines []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && len(lines) < failureLines {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return text + " and printed nothing"
	}
	said = strings.Join(lines, " ")
	if len(said) > failureBytes {
		said = strings.ToValidUTF8(said[:failureBytes], "") + "…"
	}
	return text + ": " + said
}
