package tool

import (
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// An Access is what a tool does to the world, and how that is known.
type Access struct {
	Kind string `json:"kind"` // read, write or destructive
	// From is "configuration", "verb" (guessed from the command's last word),
	// "table" (known of the program), "danger" (a dangerous option, or paths
	// anywhere, outweigh the rest) or "unknown", which counts as writing.
	From string `json:"from"`
}

// Where access is known from, apart from the configuration and the verb.
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

// verbs says what commands do that are called so. What is not here counts as
// writing.
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

// betraying are options that make a command do more than its name says.
var betraying = []string{"delete", "remove", "exec", "fix", "write", "in-place", "edit", "set", "unset", "prune", "purge"}

// writesTo are options that make a command write a file, when they take a path.
var writesTo = []string{"output", "output-file", "out", "out-file"}

// guess looks at the last word of a command, or at the name of the program.
func guess(program string, words []string, offered []Parameter) Access {
	verb := program
	if len(words) > 0 {
		verb = words[len(words)-1]
	}
	verb = strings.ToLower(verb)
	first, _, _ := strings.Cut(strings.ReplaceAll(verb, "_", "-"), "-") // list-units
	for _, kind := range []string{Destructive, Read} {
		if !slices.Contains(verbs[kind], first) {
			continue
		}
		if kind == Read && slices.ContainsFunc(offered, betrays) {
			break
		}
		return Access{Kind: kind, From: "verb"}
	}
	return Access{Kind: Write, From: "unknown"}
}

func betrays(p Parameter) bool {
	if p.Role != OptionRole {
		return false
	}
	name := strings.TrimLeft(p.Spelling, "-")
	return slices.Contains(betraying, name) || p.Value.Kind == model.Path && slices.Contains(writesTo, name)
}

// annotations are the tool's hints. What was only guessed to write may destroy,
// which is what a client assumes that is told nothing.
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
