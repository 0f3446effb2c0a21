// Package danger knows the options and commands of programs that are dangerous
// to offer to a model: they run other programs, access files anywhere or load
// configuration.
//
// table.txt lists them with evidence for the programs that are wrapped most
// often. For all other options [Rules.Option] judges by the name. Discovered
// tools leave out what is dangerous unless the configuration names it.
//
// Files, from the top: value.go, expression.go, content.go, danger.go, program.go, runner.go,
// pattern.go, name.go, table.go, scanjq.go, scanfilters.go, scanawk.go, scan.go.
//
// program.go and runner.go find the program of a command line and its rows in the table. pattern.go
// and name.go judge options that the table does not list. value.go and content.go are about values
// of arguments, and expression.go about lists of words such as those of find. The files whose names
// begin with scan read texts in small languages.
//
// Packages tool and run use the [Rules]. All of them are immutable and safe for concurrent use; the
// tables are read once, when first needed. An entry of table.txt decides what users' tools may do:
// add evidence to each, and expect changed tools.
package danger

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

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
		return !row.checks() &&
			slices.ContainsFunc(row.options, func(name string) bool { return slices.Contains(o.Names, name) })
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
		return row.checks() &&
			slices.ContainsFunc(row.options, func(name string) bool { return slices.Contains(o.Names, name) })
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
	return !strings.HasPrefix(name, "-") ||
		slices.ContainsFunc(c.Options, func(o model.Option) bool { return slices.Contains(o.Names, name) })
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
	found := r.best(path, true,
		func(row *row) bool { return len(row.quirks) > 0 && strings.HasPrefix(row.quirks[0], first) })
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
	found := r.best(path, false,
		func(row *row) bool { return len(row.quirks) > 0 && strings.HasPrefix(row.quirks[0], fact) })
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
	found := r.best(path, true,
		func(row *row) bool { return len(row.quirks) > 0 && strings.HasPrefix(row.quirks[0], dataCodes) })
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
			found := r.best(path, true,
				func(row *row) bool { return !row.checks() && slices.Contains(row.options, name) })
			if found.effect != safe {
				all = append(all, name)
			}
		}
	}
	return all
}

// fileEnds end the name of an option for a file that the program writes, as --log-file.
var fileEnds = []string{"file", "filename", "path", "dir", "directory", "folder"}

// Output reports whether only its name says that an option is dangerous, and the name is that
// of a file which the program writes: --output and --log-file, but not --append-rules.
func (r *Rules) Output(path []string, o *model.Option) bool {
	f, ok := r.Option(path, o)
	return ok && f.Effect == Writes && f.Evidence == "" && slices.ContainsFunc(o.Names, func(name string) bool {
		parts := words(strings.TrimLeft(name, "-+"))
		end := last(parts)
		if slices.Contains(fileEnds, end) {
			end = last(parts[:len(parts)-1])
		}
		return slices.Contains(anyWrites, end)
	})
}

// inBrackets matches values that a description lists, as in "dialect (sh, bash, dash, ksh)".
var inBrackets = regexp.MustCompile(
	`\(([A-Za-z0-9][\w+-]*(?:, [A-Za-z0-9][\w+-]*)+(?:,? (?:or|and) [A-Za-z0-9][\w+-]*)?)\)`,
)

// leastListed is the least number of values in a list. Two words in brackets may be a remark.
const leastListed = 3

// Enumerated returns an option as an enum if only its name suggests that it runs a program
// and its description lists the values. Such an option runs nothing of the caller's choice
// as long as its value is one of them. It returns all other options as they are.
func (r *Rules) Enumerated(path []string, o *model.Option) *model.Option {
	if f, ok := r.Freely(path, o); !ok || f.Effect != Runs || f.Evidence != "" || o.Value.Kind != model.String {
		return o
	}
	m := inBrackets.FindStringSubmatch(o.Description)
	if m == nil {
		return o
	}
	choices := strings.FieldsFunc(m[1], func(r rune) bool { return r == ',' || r == ' ' })
	choices = slices.DeleteFunc(choices, func(s string) bool { return s == "or" || s == "and" })
	if len(choices) < leastListed {
		return o
	}
	enum := *o
	enum.Value.Kind, enum.Value.Choices = model.Enum, choices
	return &enum
}
