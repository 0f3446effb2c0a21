package discover

import (
	"slices"
	"strings"
	"sync"
)

const (
	sampled = 2 // commands of a group that are asked one after the other
	alike   = 2 // answers with the help of a parent after which a form is given up
	tries   = 3 // answers without help after which a form is given up
	strikes = 2 // commands that acted after which undocumented forms are given up

	convincing = 4 // answers with help that a form needs before drastic commands are asked
)

// A group records how the sub-commands of one command have answered.
//
// A program that does not know --help may take it for an argument and act,
// which cannot be undone. If the program's help documents a form for every
// command, that form is safe. All other forms are first tried on commands whose
// names sound harmless, one after the other:
//
//   - A command that answers with its own help shows that the form works.
//   - A command that rejects the form with an error has not acted. The next
//     form may be tried on it.
//   - A command that prints anything else may have acted. It is asked again
//     only in a documented form. After two such commands, unless most others
//     answer, no command of the group is asked in an undocumented form.
//   - A command with a drastic name is asked in an undocumented form only after
//     four others have answered it, hardly any command has acted, and none in
//     this group. A command with a fatal name is never asked in an undocumented
//     form.
//
// A form that did not work in three trials is given up. If every answer is the
// help of a parent, that help is used.
type group struct {
	nodes   []*node
	samples []*node

	mu     sync.Mutex
	tried  map[form]int // guarded by mu; number of answers
	helped map[form]int // guarded by mu; number of answers with help
	acted  int          // guarded by mu; number of commands that may have acted
	same   map[form]int // guarded by mu; by form.sort
}

func newGroup(w *walk, nodes []*node) *group {
	g := &group{nodes: nodes, tried: map[form]int{}, helped: map[form]int{}, same: map[form]int{}}
	candidates := slices.Clone(nodes)
	slices.SortStableFunc(candidates, func(a, b *node) int { return risk(lastWord(a.cmd)) - risk(lastWord(b.cmd)) })
	g.samples = candidates[:min(sampled, len(candidates))]
	if len(nodes) <= sampled && w.forms.safe(w.forms.order()[0]) {
		g.samples = nil
	}
	return g
}

// mayAsk reports whether a command may be asked in a form.
func (g *group) mayAsk(w *walk, n *node, f form) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	answered := 0
	for _, times := range g.helped {
		answered += times
	}
	if g.helped[f] == 0 && g.tried[f] >= tries || answered == 0 && g.same[f.sort()] >= alike {
		return false
	}
	if w.forms.safe(f) {
		return true
	}
	level := risk(lastWord(n.cmd))
	if g.acted >= strikes && answered <= 4*g.acted || level == fatal ||
		level == drastic && (g.acted > 0 || w.evidence(f) < convincing) {
		w.doubt(n)
		return false
	}
	return true
}

// note records the verdict on an answer.
func (w *walk) note(g *group, f form, v verdict) {
	w.mu.Lock()
	switch v {
	case helped:
		w.helped[f]++
	case acted:
		w.acted[f]++
	}
	w.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tried[f]++
	switch v {
	case helped:
		g.helped[f]++
	case acted:
		g.acted++
	case same:
		g.same[f.sort()]++
	}
}

// sharedHelp returns the command whose help all commands of the group print, or
// nil.
func (g *group) sharedHelp() *node {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.helped) > 0 {
		return nil
	}
	for _, n := range g.nodes {
		if n.helpOf != nil {
			return n.helpOf
		}
	}
	return nil
}

// The risk of a command, guessed from its name. It only decides in which order
// commands are tried, and which are not asked while it is unknown how they
// react.
const (
	harmless = iota
	unknown
	writing
	drastic
	fatal
)

var riskNames = map[int][]string{
	harmless: {
		"list", "ls", "show", "status", "info", "get", "version", "describe", "view", "log", "logs", "search", "find",
		"print", "cat", "check", "diff", "inspect", "query", "stat", "stats", "which", "explain", "whoami", "env",
		"doctor", "help",
	},
	writing: {
		"add", "apply", "build", "clean", "clear", "commit", "copy", "cp", "create", "disable", "edit", "enable",
		"exec", "import", "init", "install", "kill", "login", "logout", "move", "mv", "patch", "pull", "push", "put",
		"rename", "replace", "reset", "restart", "restore", "rollback", "run", "save", "send", "set", "start", "stop",
		"switch", "sync", "test", "update", "upgrade", "upload", "write",
	},
	drastic: {
		"delete", "deploy", "drop", "erase", "exit", "format", "prune", "publish", "purge", "release", "remove", "rm",
		"rmdir", "terminate", "truncate", "uninstall", "unregister",
	},
	fatal: {
		"destroy", "emergency", "factory-reset", "halt", "hibernate", "kexec", "nuke", "poweroff", "reboot", "rescue",
		"self-destruct", "shutdown", "suspend", "wipe",
	},
}

// risk returns the highest risk of any part of a name.
func risk(name string) int {
	name = strings.ToLower(name)
	parts := append(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_.:", r) }), name)
	for _, level := range []int{fatal, drastic, writing, harmless} {
		if slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(riskNames[level], p) }) {
			return level
		}
	}
	return unknown
}
