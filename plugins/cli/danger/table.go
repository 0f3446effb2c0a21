package danger

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
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

//go:embed table.txt
var tableText string

// A row is one line of the table, for one program and one command. Rows are read once and never
// changed.
type row struct {
	line     int
	command  []string // words; nil for "*" and "."
	root     bool     // the command is "."
	last     bool     // command is only the last word of a command's path
	effect   Effect
	evidence string

	whole    bool           // the whole command is dangerous
	options  []string       // spellings of options
	force    []string       // arguments that discovered tools always pass
	quirks   []string       // facts about the argument list, such as "no-equals"
	contents []string       // options and "<name>" positionals with a special content: text, address or prefix
	unless   []string       // options that give positionals of contents or files another meaning
	files    []string       // positionals without which the program reads standard input
	negate   bool           // rejected matches the values that are not dangerous
	rejected *regexp.Regexp // dangerous values of options, or of "<*>" and "<name>"
	scan     scanner        // reads the values of options, and the first positional, for which "<name>" stands
}

// checks reports whether the row rejects some values of arguments.
func (r *row) checks() bool { return r.rejected != nil || r.scan != nil }

// A scanner reads a text in a small language, such as a program for awk. It returns
// an error if the text does harm, or if the scanner does not understand it: programs
// read these languages in different ways, so a scanner accepts only what all read alike.
type scanner func(text string) error

// scanners are the scanners by the name in the tables.
var scanners = map[string]scanner{"awk": scanAwk, "jq": scanJQ, "filters": scanFilters, "filter-value": scanFilterValue}

// columns is the number of columns of a line.
const columns = 5

// readTable returns the rows of each program.
var readTable = sync.OnceValues(func() (map[string][]row, error) { return parseTable(tableText) })

// parseTable parses the table; its format is described at the head of
// table.txt.
func parseTable(text string) (map[string][]row, error) {
	table := map[string][]row{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := splitColumns(line)
		if len(fields) < columns {
			return nil, fmt.Errorf("line %d has %d columns, want %d", n, len(fields), columns)
		}
		for command := range strings.SplitSeq(fields[1], ",") {
			r := row{line: n, effect: Effect(fields[3]), evidence: fields[4]}
			if err := r.read(command, fields[2]); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			for program := range strings.SplitSeq(fields[0], ",") {
				table[program] = append(table[program], r)
			}
		}
	}
	return table, nil
}

// splitColumns splits a line at spaces. The last column may contain spaces.
func splitColumns(line string) []string {
	var fields []string
	for len(fields) < columns-1 {
		field, rest, found := strings.Cut(line, " ")
		if !found {
			break
		}
		fields, line = append(fields, field), strings.TrimLeft(rest, " ")
	}
	return append(fields, line)
}

// read parses the columns command and arguments.
func (r *row) read(command, arguments string) error {
	if _, known := texts[r.effect]; !known {
		return fmt.Errorf("%q is not an effect", r.effect)
	}
	switch command {
	case "*":
	case ".":
		r.root = true
	default:
		command, r.last = strings.CutPrefix(command, "**/")
		r.command = strings.Split(command, "/")
	}
	names, expression, checked := strings.Cut(arguments, "~")
	switch {
	case r.effect == text || r.effect == remote || r.effect == prefix || r.effect == pairs:
		names, unless, _ := strings.Cut(arguments, "^")
		r.contents, r.unless = strings.Split(names, ","), strings.FieldsFunc(unless,
			func(r rune) bool { return r == ',' })
	case r.effect == input:
		names, unless, _ := strings.Cut(arguments, "^")
		r.files, r.unless = strings.Split(names, ","), strings.FieldsFunc(unless, func(r rune) bool { return r == ',' })
	case checked:
		var err error
		names, r.negate = strings.CutSuffix(names, "!")
		r.options = strings.Split(names, ",")
		if language, unless, _ := strings.Cut(strings.TrimPrefix(expression, "@"), "^"); scanners[language] != nil &&
			expression[0] == '@' {
			r.scan, r.unless = scanners[language], strings.FieldsFunc(unless, func(r rune) bool { return r == ',' })
			return nil
		}
		r.rejected, err = regexp.Compile(expression)
		return err
	case arguments == "!":
		r.whole = true
	case arguments[0] == '+':
		for option := range strings.SplitSeq(arguments, ",+") {
			r.force = append(r.force, strings.TrimPrefix(option, "+"))
		}
	case arguments[0] == '=':
		r.quirks = []string{arguments[1:]}
	default:
		r.options = strings.Split(arguments, ",")
		for _, o := range r.options {
			if !strings.HasPrefix(o, "-") {
				return fmt.Errorf("%q is not an option", o)
			}
		}
	}
	return nil
}
