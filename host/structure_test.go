package host_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The limits of TestStructure. structureExceptions lists what exceeds them.
const (
	maxMethods       = 40   // of a type, with those of the types of its package that it embeds
	maxFunctionLines = 60   // from "func" to "}"
	maxPackageLines  = 9000 // without tests
	minPackageLines  = 130
	maxBackPercent   = 20 // of the arrows between the files of a package
	minGraphFiles    = 8  // packages with fewer files need no order
)

const structureExceptions = "../testdata/structure.txt"

// A measure is one number that TestStructure compares with a limit.
type measure struct {
	rule    string // methods, function, lines, small, back or wide
	subject string // a package, or a declaration in it
}

func (m measure) String() string { return m.rule + " " + m.subject }

func compareMeasures(a, b measure) int {
	return cmp.Or(cmp.Compare(a.rule, b.rule), cmp.Compare(a.subject, b.subject))
}

// An exception is a line of structureExceptions.
type exception struct {
	number int
	reason string // of a small package
}

// TestStructure compares the size of types, functions, packages and lines, and the
// arrows between files, with limits. The exceptions are listed with their numbers. A
// number that went down is written with -update; one that went up is a failure.
func TestStructure(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	head, listed := readExceptions(t)
	now := map[measure]int{}
	orders := map[string]string{}
	for _, p := range readPackages(t) {
		p.measureSizes(now)
		if err := p.measureBackReferences(now, orders); err != nil {
			t.Error(err)
		}
	}
	for dir, places := range measureWidths(t, now) {
		if _, isListed := listed[measure{"wide", dir}]; !isListed {
			t.Errorf("lines of more than %d columns:\n%s", maxColumns, strings.Join(places, "\n"))
		}
	}
	problems, left := compareStructure(now, listed)
	if *update {
		writeExceptions(t, head, left, orders)
		problems, _ = compareStructure(now, left)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
}

// compareStructure returns a line for each difference between what exceeds a
// limit and the exceptions, sorted, and the exceptions that -update leaves:
// those that went down have the new number, and those that are over are gone.
func compareStructure(now map[measure]int, listed map[measure]exception) (
	problems []string, left map[measure]exception,
) {
	left = map[measure]exception{}
	all := maps.Clone(listed)
	for m := range now {
		all[m] = listed[m]
	}
	for _, m := range slices.SortedFunc(maps.Keys(all), compareMeasures) {
		number, exceeds := now[m]
		was, isListed := listed[m]
		switch {
		case !exceeds:
			problems = append(problems,
				fmt.Sprintf("%s: within the limit; delete its line from testdata/structure.txt, or run with -update",
					m))
			continue
		case !isListed && m.rule == "small":
			problems = append(problems,
				fmt.Sprintf("%s: %d lines, less than %d; merge the package, or write \"%s: REASON\" into testdata/structure.txt",
					m, number, minPackageLines, m))
			continue
		case !isListed:
			problems = append(problems, fmt.Sprintf("%s: %s", m, tooMuch(m.rule, number)))
			continue
		case m.rule == "small":
			left[m] = was
			continue
		case number > was.number:
			problems = append(problems,
				fmt.Sprintf("%s: %d is more than the %d in testdata/structure.txt, which may only go down",
					m, number, was.number))
		case number < was.number:
			problems = append(problems,
				fmt.Sprintf("%s: write \"%s %d\" into testdata/structure.txt, or run with -update: it was %d",
					m, m, number, was.number))
		}
		left[m] = exception{number: min(number, was.number)}
	}
	return problems, left
}

// tooMuch describes a number that exceeds the limit of a rule.
func tooMuch(rule string, number int) string {
	switch rule {
	case "methods":
		return fmt.Sprintf("%d methods, more than %d; split the type", number, maxMethods)
	case "function":
		return fmt.Sprintf("%d lines, more than %d; split the function", number, maxFunctionLines)
	case "lines":
		return fmt.Sprintf("%d lines without tests, more than %d; split the package", number, maxPackageLines)
	case "wide":
		return fmt.Sprintf("%d lines have more than %d columns; wrap them", number, maxColumns)
	default:
		return fmt.Sprintf("%d %% of the arrows between its files point back, more than %d %%", number, maxBackPercent)
	}
}

// readExceptions returns the comment at the top of structureExceptions, and its
// lines: "RULE SUBJECT NUMBER", or "small PACKAGE: REASON". Text behind the number
// is for readers.
func readExceptions(t *testing.T) (head string, listed map[measure]exception) {
	t.Helper()
	text, err := os.ReadFile(structureExceptions)
	if err != nil {
		t.Fatal(err)
	}
	listed = map[measure]exception{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			head += line
			continue
		}
		m, e, err := parseException(line)
		if err != nil {
			t.Errorf("testdata/structure.txt: %q: %v", strings.TrimSpace(line), err)
			continue
		}
		if _, twice := listed[m]; twice {
			t.Errorf("testdata/structure.txt: %s is there twice", m)
		}
		listed[m] = e
	}
	return head, listed
}

func parseException(line string) (m measure, e exception, err error) {
	before, reason, _ := strings.Cut(line, ":")
	words := strings.Fields(before)
	if len(words) == 2 && words[0] == "small" {
		reason = strings.TrimSpace(reason)
		if reason == "" {
			return m, e, fmt.Errorf("a small package needs a reason")
		}
		return measure{words[0], words[1]}, exception{reason: reason}, nil
	}
	rules := []string{"methods", "function", "lines", "back", "wide"}
	if words = strings.Fields(line); len(words) < 3 || !slices.Contains(rules, words[0]) {
		return m, e, fmt.Errorf("want RULE SUBJECT NUMBER")
	}
	number, err := strconv.Atoi(words[2])
	return measure{words[0], words[1]}, exception{number: number}, err
}

// writeExceptions writes head and the exceptions, sorted, into
// structureExceptions. A line about arrows says where its order is from.
func writeExceptions(t *testing.T, head string, left map[measure]exception, orders map[string]string) {
	t.Helper()
	var text strings.Builder
	text.WriteString(head)
	for _, m := range slices.SortedFunc(maps.Keys(left), compareMeasures) {
		switch e := left[m]; m.rule {
		case "small":
			fmt.Fprintf(&text, "%s: %s\n", m, e.reason)
		case "back":
			fmt.Fprintf(&text, "%s %d (%s)\n", m, e.number, orders[m.subject])
		default:
			fmt.Fprintf(&text, "%s %d\n", m, e.number)
		}
	}
	if err := os.WriteFile(structureExceptions, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
