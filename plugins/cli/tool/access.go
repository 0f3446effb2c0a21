package tool

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// An Access is the effect of a tool, and where that knowledge comes from.
type Access struct {
	Kind string `json:"kind"` // read, write or destructive
	// From is "configuration", "verb" (guessed from the last word of the
	// command), "table" (known about the program), "danger" (a dangerous
	// option, or unconfined paths, override the rest) or "unknown", which
	// counts as writing.
	From string `json:"from"`
}

// Values of From that are set outside this file.
const (
	FromTable  = "table"
	FromDanger = "danger"
)

// The kinds of access.
const (
	Read        = "read"
	Write       = "write"
	Destructive = "destructive"
)

// verbs classify commands by their last word. Other words count as writing.
var verbs = map[string][]string{
	Read: {
		"get", "list", "ls", "show", "status", "log", "logs", "diff", "describe", "view", "search", "version", "info", "top",
		"history", "inspect", "cat", "grep", "find", "print", "ps", "stat", "stats", "tree", "which", "whoami", "count", "query",
		"explain", "events", "blame", "shortlog", "lookup", "read", "head", "tail", "wc", "du", "df",
	},
	Destructive: {
		"delete", "del", "rm", "rmi", "rmdir", "remove", "destroy", "purge", "prune", "kill", "drop", "reset", "uninstall", "erase",
		"wipe", "clean", "clear", "truncate", "unpublish", "revoke", "terminate", "shred", "autoremove", "shutdown", "reboot",
		"poweroff", "halt", "down",
	},
}

// writingOptions are options that make a reading command write.
var writingOptions = []string{"delete", "remove", "exec", "fix", "write", "in-place", "edit", "set", "unset", "prune", "purge"}

// outputOptions are options that make a command write a file if their value is
// a path.
var outputOptions = []string{"output", "output-file", "out", "out-file"}

// guess classifies a command by its last word, or a program without
// sub-commands by its name.
func guess(program string, words []string, offered []Parameter) Access {
	verb := program
	if len(words) > 0 {
		verb = words[len(words)-1]
	}
	verb = strings.ToLower(verb)
	first, _, _ := strings.Cut(strings.ReplaceAll(verb, "_", "-"), "-") // as in list-units
	for _, kind := range []string{Destructive, Read} {
		if !slices.Contains(verbs[kind], first) {
			continue
		}
		if kind == Read && slices.ContainsFunc(offered, canWrite) {
			break
		}
		return Access{Kind: kind, From: "verb"}
	}
	return Access{Kind: Write, From: "unknown"}
}

// canWrite reports whether an option makes a reading command write.
func canWrite(p Parameter) bool {
	if p.Role != OptionRole {
		return false
	}
	name := strings.TrimLeft(p.Spelling, "-")
	return slices.Contains(writingOptions, name) || p.Value.Kind == model.Path && slices.Contains(outputOptions, name)
}

// annotations returns the tool's hints. A tool that is only guessed to write
// has no destructiveHint, so clients assume that it may destroy.
func (t *Tool) annotations() object {
	var o object
	o.set("readOnlyHint", t.Access.Kind == Read)
	switch {
	case t.Access.Kind == Destructive:
		o.set("destructiveHint", true)
	case t.Access.Kind == Read || t.Access.From == "configuration":
		o.set("destructiveHint", false)
	}
	if t.Idempotent || t.Access.Kind == Read {
		o.set("idempotentHint", true)
	}
	return o
}
