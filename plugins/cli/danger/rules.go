package danger

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/model"
)

// Option returns why an option of the command at path is dangerous. ok is false
// when it is not.
func (r *Rules) Option(path []string, o *model.Option) (f Finding, ok bool) {
	if r == nil || len(o.Names) == 0 {
		return f, false
	}
	found := r.best(path, o.Inherited, func(row *row) bool {
		return row.refused == nil && slices.ContainsFunc(row.options, func(name string) bool { return slices.Contains(o.Names, name) })
	})
	if found != nil {
		return Finding{Names: o.Names, Effect: found.effect, Evidence: found.evidence}, found.effect != safe
	}
	if r.checks(path, o) {
		return f, false // its values are looked at instead
	}
	effect := pattern(o)
	return Finding{Names: o.Names, Effect: effect}, effect != ""
}

// checks reports whether values of an option are refused one by one.
func (r *Rules) checks(path []string, o *model.Option) bool {
	return nil != r.best(path, o.Inherited, func(row *row) bool {
		return row.refused != nil && slices.ContainsFunc(row.options, func(name string) bool { return slices.Contains(o.Names, name) })
	})
}

// Command returns why a whole command is dangerous. ok is false when it is not.
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
		if !offers(c, option) {
			return r.command(c, Runs, "it has no option "+option+", which would keep it from that"), true
		}
	}
	if effect := positional(c); effect != "" && (r.program == "" || len(c.Path) > 0) {
		return r.command(c, effect, ""), true
	}
	return f, false
}

func (r *Rules) command(c *model.Command, e Effect, evidence string) Finding {
	return Finding{Command: c.Path, Effect: e, Evidence: evidence}
}

// offers reports whether a command has an option.
func offers(c *model.Command, name string) bool {
	return !strings.HasPrefix(name, "-") || slices.ContainsFunc(c.Options, func(o model.Option) bool { return slices.Contains(o.Names, name) })
}

// Forced are arguments that every run of a discovered command begins with, such
// as the --sandbox of sed.
func (r *Rules) Forced(path []string) []string {
	if r == nil {
		return nil
	}
	if found := r.best(path, false, func(row *row) bool { return row.force != nil }); found != nil {
		return found.force
	}
	return nil
}

// A Value refuses values of some arguments.
type Value struct {
	names    []string // options, "<*>" for every positional, "--*" for every option
	refused  *regexp.Regexp
	Name     string // by which the configuration allows it again
	Effect   Effect
	Evidence string
}

// Values are the checks for arguments of the command at path.
func (r *Rules) Values(path []string) []Value {
	if r == nil {
		return nil
	}
	var all []Value
	for i := range r.rows {
		one := &r.rows[i]
		if _, ok := r.matches(one, path, true); ok && one.refused != nil {
			all = append(all, Value{names: one.options, refused: one.refused, Name: one.options[0], Effect: one.effect, Evidence: one.evidence})
		}
	}
	return all
}

// Option reports whether the check is about an option with the spelling.
func (v *Value) Option(spelling string) bool {
	return slices.Contains(v.names, spelling) || slices.Contains(v.names, "--*")
}

// Positional reports whether the check is about a positional.
func (v *Value) Positional(name string) bool {
	return slices.Contains(v.names, "<*>") || slices.Contains(v.names, "<"+name+">")
}

// Refuses reports whether a value is dangerous.
func (v *Value) Refuses(text string) bool { return v.refused.MatchString(text) }

// Is reports whether a fact about the argument list is known of a command.
func (r *Rules) Is(path []string, fact string) bool {
	if r == nil {
		return false
	}
	return nil != r.best(path, true, func(row *row) bool { return slices.Contains(row.quirks, fact) })
}

const dataCodes = "data-codes:"

// DataCodes are exit codes of a command that are an answer, such as 1 of grep.
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

// Spellings are the options that the table has for the command at path, whether
// discovery found them or not.
func (r *Rules) Spellings(path []string) []string {
	if r == nil {
		return nil
	}
	var all []string
	for i := range r.rows {
		one := &r.rows[i]
		if _, ok := r.matches(one, path, true); !ok || one.refused != nil || one.effect == safe {
			continue
		}
		for _, name := range one.options {
			found := r.best(path, true, func(row *row) bool { return row.refused == nil && slices.Contains(row.options, name) })
			if found.effect != safe {
				all = append(all, name)
			}
		}
	}
	return all
}

// best returns the row that fits and names the command most exactly; of two the
// later one. inherited says that rows about the program's own options count.
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

// matches reports whether a row is about the command at path, and how many words
// of it the row names.
func (r *Rules) matches(row *row, path []string, inherited bool) (words int, ok bool) {
	if row.command == nil {
		return 0, !row.root || row.whole || inherited || len(path) == 0
	}
	full := slices.Concat(r.fixed, path)
	for at := 0; at <= len(r.fixed) && at+len(row.command) <= len(full); at++ {
		if slices.Equal(full[at:at+len(row.command)], row.command) {
			return len(row.command), true
		}
	}
	return 0, false
}
