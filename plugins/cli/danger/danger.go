// Package danger knows the options and commands of programs that are dangerous
// to offer to a model: they run other programs, access files anywhere or load
// configuration.
//
// table.txt lists them with evidence for the programs that are wrapped most
// often. For all other options [Rules.Option] judges by the name. Discovered
// tools leave out what is dangerous unless the configuration names it.
package danger

import (
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// An Effect is what a dangerous option or command does.
type Effect string

// The effects.
const (
	Runs     Effect = "runs"
	Reads    Effect = "reads"
	Writes   Effect = "writes"
	Loads    Effect = "loads"
	Connects Effect = "connects"
	Ordered  Effect = "ordered"

	safe  Effect = "safe"  // exempts an option from the patterns
	quirk Effect = "quirk" // a fact about the argument list; see the head of table.txt

	text   Effect = "text"    // the content of an argument; see [Content]
	remote Effect = "address" // likewise
	prefix Effect = "prefix"  // likewise
	input  Effect = "stdin"   // see [Rules.OrStdin]
	pairs  Effect = "map"     // likewise
)

// texts describe the effects for messages.
var texts = map[Effect]string{
	Runs:     "runs a program",
	Reads:    "reads files outside the directory",
	Writes:   "writes files",
	Loads:    "loads configuration or code",
	Connects: "connects to sockets of this machine",
	Ordered:  "its arguments act in the order in which they are written",
	safe:     "", quirk: "", text: "", remote: "", prefix: "", input: "", pairs: "",
}

// String returns the effect as the end of a sentence, such as "runs a program".
func (e Effect) String() string { return texts[e] }

// A Finding is one dangerous option or command.
type Finding struct {
	// Names are the spellings of an option; empty for a command.
	Names []string
	// Command is the path of a command, or the program's name.
	Command []string
	Words   int // number of words of the command that the table names
	Effect  Effect
	// Evidence says where the danger is documented. It is empty if only the
	// name suggests it.
	Evidence string
}

// Option returns why an option of the command at path is dangerous. ok is false
// if the option is not dangerous. One that [Rules.Enumerated] makes an enum is not.
func (r *Rules) Option(path []string, o *model.Option) (f Finding, ok bool) {
	return r.Freely(path, r.Enumerated(path, o))
}

// Freely returns why an option is dangerous if it may have any value, by the table or by its
// name.
func (r *Rules) Freely(path []string, o *model.Option) (f Finding, ok bool) {
	if r == nil || len(o.Names) == 0 {
		return f, false
	}
	found := r.best(path, o.Inherited, func(row *row) bool {
		return !row.checks() && slices.ContainsFunc(row.options, func(name string) bool { return slices.Contains(o.Names, name) })
	})
	if found != nil {
		return Finding{Names: o.Names, Effect: found.effect, Evidence: found.evidence}, found.effect != safe
	}
	if r.checks(path, o) {
		return f, false // only some of its values are dangerous
	}
	effect := guessEffect(o)
	return Finding{Names: o.Names, Effect: effect}, effect != ""
}

// Safe reports whether the table calls an option safe.
func (r *Rules) Safe(path []string, spelling string) bool {
	if r == nil {
		return false
	}
	found := r.best(path, true, func(row *row) bool { return !row.checks() && slices.Contains(row.options, spelling) })
	return found != nil && found.effect == safe
}

// checks reports whether the table rejects only some values of an option.
func (r *Rules) checks(path []string, o *model.Option) bool {
	return nil != r.best(path, o.Inherited, func(row *row) bool {
		return row.checks() && slices.ContainsFunc(row.options, func(name string) bool { return slices.Contains(o.Names, name) })
	})
}

// Command returns why a whole command is dangerous. ok is false if the command
// is not dangerous.
func (r *Rules) Command(c *model.Command) (f Finding, ok bool) {
	if r == nil {
		return f, false
	}
	if found := r.best(c.Path, true, func(row *row) bool { return row.whole }); found != nil {
		f := r.command(c, found.effect, found.evidence)
		f.Words = len(found.command)
		return f, found.effect != safe
	}
	for _, option := range r.Forced(c.Path) {
		if !strings.HasPrefix(option, "?") && !hasOption(c, option) {
			return r.command(c, Runs, "it has no option "+option+", which would prevent that"), true
		}
	}
	if effect := positional(c); effect != "" && (r.program == "" || len(c.Path) > 0) {
		return r.command(c, effect, ""), true
	}
	return f, false
}

// command returns a Finding about a command.
func (r *Rules) command(c *model.Command, e Effect, evidence string) Finding {
	return Finding{Command: c.Path, Effect: e, Evidence: evidence}
}

// hasOption reports whether a command has an option. Forced arguments that are
// not options count as present.
func hasOption(c *model.Command, name string) bool {
	name, _, _ = strings.Cut(name, "=")
	return !strings.HasPrefix(name, "-") || slices.ContainsFunc(c.Options, func(o model.Option) bool { return slices.Contains(o.Names, name) })
}

// Given returns the forced arguments of a discovered command. It leaves out
// those that are forced only if the program has them, and that it has not.
func (r *Rules) Given(c *model.Command) []string {
	var all []string
	for _, option := range r.Forced(c.Path) {
		option, optional := strings.CutPrefix(option, "?")
		if !optional || hasOption(c, option) {
			all = append(all, option)
		}
	}
	return all
}

// Forced returns the arguments that every run of a discovered command begins
// with, such as --sandbox of sed. A question mark precedes those that are given
// only if the program has them.
func (r *Rules) Forced(path []string) []string {
	if r == nil {
		return nil
	}
	if found := r.best(path, false, func(row *row) bool { return row.force != nil }); found != nil {
		return found.force
	}
	return nil
}

// Is reports whether the table has a fact about the argument list of the
// command at path.
func (r *Rules) Is(path []string, fact string) bool {
	if r == nil {
		return false
	}
	return nil != r.best(path, true, func(row *row) bool { return slices.Contains(row.quirks, fact) })
}

const first = "first:"

// FirstName returns the name of the first positional of a command if the table has it.
func (r *Rules) FirstName(path []string) string {
	if r == nil {
		return ""
	}
	found := r.best(path, true, func(row *row) bool { return len(row.quirks) > 0 && strings.HasPrefix(row.quirks[0], first) })
	if found == nil {
		return ""
	}
	return strings.TrimPrefix(found.quirks[0], first)
}

const common = "common:"

// Common returns the options that people use most, if the table has them.
func (r *Rules) Common(path []string) []string { return r.listed(path, common) }

const pair = "pair:"

// PairOptions returns the options with two values, each an argument of its own, as --arg
// NAME VALUE of jq.
func (r *Rules) PairOptions(path []string) []string { return r.listed(path, pair) }

// listed returns the options of a fact about a command.
func (r *Rules) listed(path []string, fact string) []string {
	if r == nil {
		return nil
	}
	found := r.best(path, false, func(row *row) bool { return len(row.quirks) > 0 && strings.HasPrefix(row.quirks[0], fact) })
	if found == nil {
		return nil
	}
	return strings.Split(strings.TrimPrefix(found.quirks[0], fact), ",")
}

const dataCodes = "data-codes:"

// DataCodes returns the exit codes of a command that are an answer and not an
// error, such as 1 of grep.
func (r *Rules) DataCodes(path []string) []int {
	if r == nil {
		return nil
	}
	found := r.best(path, true, func(row *row) bool { return len(row.quirks) > 0 && strings.HasPrefix(row.quirks[0], dataCodes) })
	if found == nil {
		return nil
	}
	var codes []int
	for text := range strings.SplitSeq(strings.TrimPrefix(found.quirks[0], dataCodes), ",") {
		code, err := strconv.Atoi(text)
		if err != nil {
			return nil
		}
		codes = append(codes, code)
	}
	return codes
}

// Spellings returns the dangerous options that the table has for the command at
// path, whether discovery found them or not.
func (r *Rules) Spellings(path []string) []string {
	if r == nil {
		return nil
	}
	var all []string
	for i := range r.rows {
		one := &r.rows[i]
		if _, ok := r.matches(one, path, true); !ok || one.checks() || one.effect == safe {
			continue
		}
		for _, name := range one.options {
			found := r.best(path, true, func(row *row) bool { return !row.checks() && slices.Contains(row.options, name) })
			if found.effect != safe {
				all = append(all, name)
			}
		}
	}
	return all
}

// checks reports whether the row rejects some values of arguments.
func (r *row) checks() bool { return r.rejected != nil || r.scan != nil }

// best returns the row for which fits returns true and which names most words
// of the command. Of two such rows it returns the later one. inherited includes
// rows about the program's own options.
func (r *Rules) best(path []string, inherited bool, fits func(*row) bool) *row {
	var best *row
	most := -1
	for i := range r.rows {
		one := &r.rows[i]
		if words, ok := r.matches(one, path, inherited); ok && words >= most && fits(one) {
			best, most = one, words
		}
	}
	return best
}

// matches reports whether a row applies to the command at path, and how many
// words of it the row names.
func (r *Rules) matches(row *row, path []string, inherited bool) (words int, ok bool) {
	if row.command == nil {
		return 0, !row.root || row.whole || inherited || len(path) == 0
	}
	full := slices.Concat(r.fixed, path)
	if row.last {
		return 1, len(full) > 0 && full[len(full)-1] == row.command[0]
	}
	for at := 0; at <= len(r.fixed) && at+len(row.command) <= len(full); at++ {
		if slices.Equal(full[at:at+len(row.command)], row.command) {
			return len(row.command), true
		}
	}
	return 0, false
}
