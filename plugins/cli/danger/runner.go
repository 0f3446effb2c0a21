package danger

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Slot stands for a value in the words of an argument list that are asked about.
const Slot = "\x00"

// A starter finds the program in the arguments of a runner, such as "git" in those of env. It
// belongs to one call.
type starter struct {
	table map[string][]row
	rows  []row
	slots []int // places of slots before the program that may name another
	code  []string
	skips []string
}

var (
	numeric    = regexp.MustCompile(`^[0-9.]+[smhd]?$`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
)

// find returns the place of the program, or -1 if the arguments name none.
func (s *starter) find(args []string) int {
	s.code, _ = fact(s.rows, "code:")
	s.skips, _ = fact(s.rows, "skips:")
	takes, ok := fact(s.rows, "takes:")
	if !ok {
		return s.guess(args, 0)
	}
	own := 0
	if list, ok := fact(s.rows, "own:"); ok {
		own, _ = strconv.Atoi(list[0]) // a test parses the table
	}
	ended := false
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case !ended && arg == "--":
			ended = true
		case !ended && s.isCode(arg):
			return -1
		case !ended && strings.HasPrefix(arg, "-") && arg != "-":
			if TakesNext(takes, arg) {
				i++
			}
		case arg == "-", assignment.MatchString(arg):
		case own > 0:
			own--
		case strings.Contains(arg, Slot):
			return s.behind(args, i)
		default:
			return i
		}
	}
	return -1
}

// behind returns the place of the program behind a slot that may name another.
func (s *starter) behind(args []string, slot int) int {
	at := s.guess(args, slot)
	for i := slot; i < at; i++ {
		if strings.Contains(args[i], Slot) && !strings.HasPrefix(args[i], "-") {
			s.slots = append(s.slots, i)
		}
	}
	return at
}

// guess returns the place of the first argument from a place on that the table knows, or of
// the first that may be a program. It is "pip" in "-m pip" of python.
func (s *starter) guess(args []string, from int) int {
	first := -1
	for i := from; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-m" && i+1 < len(args) && !strings.Contains(args[i+1], Slot):
			return i + 1
		case first < 0 && s.isCode(arg):
			return -1
		case slices.Contains(s.skips, arg):
			i++
		case strings.HasPrefix(arg, "-"), strings.Contains(arg, "=") && !strings.ContainsAny(arg, "/ "),
			numeric.MatchString(arg), strings.Contains(arg, Slot):
		case known(s.table, arg) != "":
			return i
		case first < 0:
			first = i
		}
	}
	return first
}

// isCode reports whether the value of an option is what the program runs.
func (s *starter) isCode(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	one, _ := ClusterOption(s.code, arg)
	return one != "" || slices.Contains(s.code, name)
}

// TakesNext reports whether an option has its value in the next argument. takes has the
// options with a value. A cluster such as "-xd" has that of its last letter.
func TakesNext(takes []string, option string) bool {
	if slices.Contains(takes, option) {
		return true
	}
	letter, last := ClusterOption(takes, option)
	return letter != "" && last
}

// ClusterOption returns the first option with a value in a cluster of letters, and whether
// nothing follows it.
func ClusterOption(takes []string, cluster string) (option string, last bool) {
	if len(cluster) < 2 || cluster[0] != '-' || cluster[1] == '-' {
		return "", false
	}
	for i := 1; i < len(cluster); i++ {
		if one := "-" + cluster[i:i+1]; slices.Contains(takes, one) {
			return one, i == len(cluster)-1
		}
	}
	return "", false
}

// fact returns the list of a fact about a whole program.
func fact(rows []row, name string) ([]string, bool) {
	for i := range rows {
		if quirks := rows[i].quirks; rows[i].command == nil && len(quirks) > 0 && strings.HasPrefix(quirks[0], name) {
			return strings.FieldsFunc(strings.TrimPrefix(quirks[0], name), func(r rune) bool { return r == ',' }), true
		}
	}
	return nil, false
}

// runner reports whether a program is dangerous as a whole because it runs the
// program that its arguments name.
func runner(rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.whole && r.root && r.effect == Runs })
}
