package danger

import (
	"path/filepath"
	"slices"
	"strings"
)

// Rules hold what the table and the patterns say about one wrapped program. For
// a nil *Rules nothing is dangerous.
type Rules struct {
	program string   // its name in the table; empty if the table does not have it
	fixed   []string // words of the fixed arguments; they may name a command
	rows    []row
	at      int      // the place of the program in the command that was asked about
	runners []string // the programs before it, which run it
	open    []int    // places of slots before it that may name another program
	any     bool     // a slot may name the command
}

// For returns the rules for a program with its fixed arguments. executable is
// the resolved file of the program, if known.
//
// For a program that runs another one, such as env or python, the rules are
// those of the other program, if the fixed arguments name it.
func For(command []string, executable string) *Rules {
	table, err := readTable()
	if err != nil {
		panic("danger: table.txt: " + err.Error()) // a test parses the table
	}
	r := &Rules{}
	r.find(table, command, executable)
	return r
}

// ForBlock returns the rules for a tool block, whose argument list has words. They
// may name the program that the program of the block runs, as awk behind busybox. [Slot]
// stands for a value in a word.
func ForBlock(command, words []string, executable string) *Rules {
	r := For(command, executable)
	if !runner(r.rows) {
		return r
	}
	inner := For(slices.Concat(command, words), executable)
	if inner.at >= len(command) {
		inner.fixed = nil // the words of the block are its path
	}
	return inner
}

// Behind returns the rules for a program behind a word such as -exec. fixed are the words
// behind it that are fixed arguments, and words those of the argument list. If next is set,
// the program follows at once, else options may precede it. [Rules.At] counts from the word.
func Behind(fixed, words []string, next bool) *Rules {
	r := behind(fixed, next)
	if next && len(fixed) > 0 && r.at > 0 && !runner(r.rows) {
		return r
	}
	all := behind(slices.Concat(fixed, words), next)
	if all.at > len(fixed) {
		all.fixed = nil // the words of the block are its path
	}
	return all
}

func behind(words []string, next bool) *Rules {
	table, err := readTable()
	if err != nil {
		panic("danger: table.txt: " + err.Error()) // a test parses the table
	}
	r, s := &Rules{}, starter{table: table}
	at := s.guess(words, 0)
	if next {
		at = min(0, len(words)-1)
	}
	if at >= 0 && !strings.Contains(words[at], Slot) {
		r.at = 1 + at
		r.find(table, words[at:], "")
	}
	return r
}

// Known reports whether the table has the program.
func (r *Rules) Known() bool { return r != nil && r.program != "" }

// At returns the place in a command of the program that the rules are about. It is 0 unless
// the command begins with a program that runs another.
func (r *Rules) At() int {
	if r == nil {
		return 0
	}
	return r.at
}

// Program returns the name of the program in the table; it is empty if the table does not have it.
func (r *Rules) Program() string {
	if r == nil {
		return ""
	}
	return r.program
}

// Runners returns the names of the programs before the one that the rules are about.
func (r *Rules) Runners() []string {
	if r == nil {
		return nil
	}
	return r.runners
}

// Open returns the places of slots before the program whose values may name another one.
func (r *Rules) Open() []int {
	if r == nil {
		return nil
	}
	return r.open
}

// Runs reports whether the program is dangerous as a whole because it runs another, which the
// command does not name.
func (r *Rules) Runs() bool { return r != nil && runner(r.rows) }

// WithWords returns the rules for an argument list in which further words may name the
// command, as clone in "-C DIR clone". any is true if a value may name it.
func (r *Rules) WithWords(words []string, any bool) *Rules {
	if r == nil {
		return nil
	}
	more := *r
	more.fixed, more.any = slices.Concat(r.fixed, words), any
	return &more
}

// Plain reports whether the program has no sub-commands that the table knows.
func (r *Rules) Plain() bool {
	return r != nil && !slices.ContainsFunc(r.rows, func(one row) bool { return one.command != nil })
}

// RunnerFacts returns the lists of a fact about the programs before the one of the rules.
func (r *Rules) RunnerFacts(name string) []string {
	table, err := readTable()
	if r == nil || err != nil {
		return nil
	}
	var all []string
	for _, one := range r.runners {
		all = append(all, (&Rules{rows: table[one]}).Facts(name)...)
	}
	return all
}

// Facts returns the lists of a fact about the program as a whole, such as "code:", joined.
func (r *Rules) Facts(name string) []string {
	var all []string
	if r == nil {
		return nil
	}
	for i := range r.rows {
		if list, ok := fact(r.rows[i:i+1], name); ok {
			all = append(all, list...)
		}
	}
	return all
}

// Has reports whether the program has a fact, such as "names".
func (r *Rules) Has(name string) bool {
	return r != nil &&
		slices.ContainsFunc(r.rows, func(one row) bool { return len(one.quirks) > 0 && one.quirks[0] == name })
}

// RunnerHas reports whether a program before the one of the rules has a fact, such as
// "applets".
func (r *Rules) RunnerHas(name string) bool {
	table, err := readTable()
	return r != nil && err == nil &&
		slices.ContainsFunc(r.runners, func(one string) bool { return (&Rules{rows: table[one]}).Has(name) })
}

// find fills the rules for a program.
func (r *Rules) find(table map[string][]row, command []string, executable string) {
	if len(command) == 0 {
		return
	}
	name := known(table, command[0])
	if name == "" && executable != "" {
		if real, err := filepath.EvalSymlinks(executable); err == nil {
			name = known(table, real)
		}
	}
	if runner(table[name]) {
		s := starter{table: table, rows: table[name]}
		if at := s.find(command[1:]); at >= 0 {
			r.runners = append(r.runners, name)
			for _, slot := range s.slots {
				r.open = append(r.open, r.at+1+slot)
			}
			r.at += 1 + at
			r.find(table, command[1+at:], "")
			return
		}
	}
	r.program, r.rows = name, table[name]
	for _, word := range command[1:] {
		if !strings.HasPrefix(word, "-") {
			r.fixed = append(r.fixed, word)
		}
	}
}

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
