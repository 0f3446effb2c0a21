package danger

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Rules hold what the table and the patterns say about one wrapped program. For
// a nil *Rules nothing is dangerous.
type Rules struct {
	program string   // its name in the table; empty if the table does not have it
	fixed   []string // words of the fixed arguments; they may name a command
	rows    []row
	at      int // the place of the program in the command that was asked about
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

// ForBlock returns the rules for a tool block, whose argument list begins with words. They
// may name the program that the program of the block runs, as awk behind busybox.
func ForBlock(command, words []string, executable string) *Rules {
	r := For(command, executable)
	if runner(r.rows) {
		return For(slices.Concat(command, words), executable)
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

// Plain reports whether the program has no sub-commands that the table knows.
func (r *Rules) Plain() bool {
	return r != nil && !slices.ContainsFunc(r.rows, func(one row) bool { return one.command != nil })
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
		if inner := started(table, command[1:]); inner != nil {
			r.at += len(command) - len(inner)
			r.find(table, inner, "")
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

// runner reports whether a program is dangerous as a whole because it runs the
// program that its arguments name.
func runner(rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.whole && r.root && r.effect == Runs })
}

var numeric = regexp.MustCompile(`^[0-9.]+[smhd]?$`)

// started returns the part of a runner's arguments that is a command: "pip" in
// "-m pip" of python, "git" in the arguments of env. It returns nil if there is
// none.
func started(table map[string][]row, args []string) []string {
	var first []string
	for i, arg := range args {
		switch {
		case arg == "-m" && i+1 < len(args):
			return args[i+1:]
		case strings.HasPrefix(arg, "-"), strings.Contains(arg, "=") && !strings.ContainsAny(arg, "/ "), numeric.MatchString(arg):
		case known(table, arg) != "":
			return args[i:]
		case first == nil:
			first = args[i:]
		}
	}
	return first
}
