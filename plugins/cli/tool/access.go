package tool

import (
	"regexp"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// access returns the access of a command from the configuration, the table or
// its name.
func (o *Options) access(p *model.Program, c *model.Command, offered []Parameter) Access {
	words := o.words(p, c)
	for _, said := range []struct {
		kind     string
		patterns []string
	}{{Destructive, o.Destructive}, {Write, o.Write}, {Read, o.Read}} {
		if matchesAny(said.patterns, words) {
			return Access{Kind: said.kind, From: "configuration"}
		}
	}
	access := guess(p.Name, c.Path, o.Rules.Is(c.Path, "verbs"))
	switch {
	case o.Rules.Is(c.Path, "writes"):
		return Access{Kind: Write, From: FromTable}
	case o.Rules.Is(c.Path, "read"):
		access = Access{Kind: Read, From: FromTable}
	}
	if (access.Kind == Read || access.looksReading()) && o.writes(c.Path, offered) != nil {
		return Access{Kind: Write, From: "unknown"}
	}
	return access
}

// verbs classify commands by their last word. Other words count as writing.
var verbs = map[string][]string{
	Read: {
		"get", "list", "ls", "show", "status", "log", "logs", "diff", "describe", "view", "search", "version", "info",
		"top", "history", "inspect", "cat", "grep", "find", "print", "ps", "stat", "stats", "tree", "which", "whoami",
		"count", "query", "explain", "events", "blame", "shortlog", "lookup", "read", "head", "tail", "wc", "du", "df",
	},
	Destructive: {
		"delete", "del", "rm", "rmi", "rmdir", "remove", "destroy", "purge", "prune", "kill", "drop", "reset",
		"uninstall", "erase", "wipe", "clean", "clear", "truncate", "unpublish", "revoke", "terminate", "shred",
		"autoremove", "shutdown", "reboot", "poweroff", "halt", "down",
	},
}

// guess classifies a command by its last word, or a program without
// sub-commands by its name. A command with a reading verb reads only if the
// table says so of the program's commands: confirmed.
func guess(program string, words []string, confirmed bool) Access {
	verb := program
	if len(words) > 0 {
		verb = words[len(words)-1]
	}
	verb = strings.ToLower(verb)
	first, _, _ := strings.Cut(strings.ReplaceAll(verb, "_", "-"), "-") // as in list-units
	switch {
	case slices.Contains(verbs[Destructive], first):
		return Access{Kind: Destructive, From: FromVerb}
	case !slices.Contains(verbs[Read], first):
	case confirmed && len(words) > 0:
		return Access{Kind: Read, From: FromTable}
	default:
		return Access{Kind: Write, From: FromVerb}
	}
	return Access{Kind: Write, From: "unknown"}
}

// writingOptions are options that make a reading command write.
var writingOptions = []string{"delete", "remove", "exec", "fix", "write", "in-place", "edit", "set", "unset",
	"prune", "purge"}

// outputOptions are options that make a command write a file.
var outputOptions = []string{"output", "output-file", "out", "out-file", "outfile", "outdir", "output-dir",
	"output-directory", "save", "save-as", "dump-to", "log-file", "logfile", "report-file", "dest", "destination"}

// outputNames are names of positionals that a command writes.
var outputNames = []string{"outfile", "output-file", "output_file", "out-file", "out_file", "dest", "destination",
	"outdir", "output-dir", "output_dir"}

// toFile matches the description of an option that writes a file.
var toFile = regexp.MustCompile(`(?i)\b(output|write|writes|save|saves|store|stores|send|sends|redirect|dump|dumps|create|creates|append|appends|log|print|put|puts)\b[^.;]{0,40}\b(file|filename|directory|folder)\b|\b(instead of|rather than|not to) (to )?(stdout|standard output|the screen)`)

// canWrite reports whether an argument makes a reading command write, by its
// name, its value or its description.
func canWrite(p *Parameter) bool {
	if p.Role != OptionRole {
		return p.Role == PositionalRole && slices.Contains(outputNames, strings.ToLower(p.Name))
	}
	if p.Writes {
		return true
	}
	name := strings.ToLower(strings.TrimLeft(p.Spelling, "-"))
	isFile := p.Path || ends(fileWords, p.Value.Placeholder)
	switch {
	case slices.Contains(writingOptions, name):
		return true
	case !p.Value.Kind.TakesValue(), len(p.Value.Choices) > 0, p.Content.Text, p.Value.Kind == model.Integer,
		p.Value.Kind == model.Number:
		return false
	case slices.Contains(outputOptions, name):
		return isFile || p.Value.Kind == model.Path
	}
	return isFile && (name == "o" || toFile.MatchString(p.Description))
}

// writes returns the first offered argument that makes the command write and that
// the table does not call safe, or nil.
func (o *Options) writes(path []string, offered []Parameter) *Parameter {
	for i := range offered {
		p := &offered[i]
		if canWrite(p) && !o.Rules.Safe(path, p.Spelling) {
			return p
		}
	}
	return nil
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
