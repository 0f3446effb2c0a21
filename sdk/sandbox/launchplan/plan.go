// Package launchplan has the plan that the launcher of a sandbox carries out, as
// words of its command line, and the words of its report.
//
// The launcher delays each start of a program, so it must start fast itself: the
// package imports little, and everything that can be computed before is.
package launchplan

import (
	"errors"
	"strconv"
	"strings"
)

// Descriptors of the launcher. The program gets neither.
const (
	ReportFD  = 3 // where it writes its report
	RulesetFD = 4 // the Landlock ruleset, if the plan has one
)

// A Plan is what a launcher does before it executes the program, in this order.
type Plan struct {
	Own          []Rule // added to the ruleset
	Ruleset      bool   // restrict itself to the Landlock ruleset of [RulesetFD]
	RulesetFlags uint32
	Filters      []Filter // seccomp filters
	Limits       []Limit
}

// A Rule allows access to a directory that only the launcher can open: a path
// that means another directory in each process, such as /proc/self. A missing
// directory is ignored.
type Rule struct {
	Path   string
	Access uint64 // as in struct landlock_path_beneath_attr
}

// A Filter is a seccomp filter. Each instruction holds, from the highest bits
// down, 16 bits of code, 8 of jt, 8 of jf and 32 of k, as in struct sock_filter.
type Filter []uint64

// A Limit lowers a resource in the terms of setrlimit(2).
type Limit struct {
	Resource int
	Most     uint64
}

const (
	ownWord     = "own="
	rulesetWord = "ruleset="
	filterWord  = "filter="
	limitWord   = "limit="
	endWord     = "--" // the program follows
	digits      = 16   // of an instruction
	hex         = 16
)

// Words returns the plan as arguments. The path of the program and its arguments
// follow them.
func (p *Plan) Words() []string {
	var words []string
	for _, r := range p.Own {
		words = append(words, ownWord+strconv.FormatUint(r.Access, hex)+":"+r.Path)
	}
	if p.Ruleset {
		words = append(words, rulesetWord+strconv.FormatUint(uint64(p.RulesetFlags), hex))
	}
	for _, filter := range p.Filters {
		var b strings.Builder
		b.WriteString(filterWord)
		for _, instruction := range filter {
			text := strconv.FormatUint(instruction, hex)
			b.WriteString(strings.Repeat("0", digits-len(text)))
			b.WriteString(text)
		}
		words = append(words, b.String())
	}
	for _, l := range p.Limits {
		words = append(words, limitWord+strconv.Itoa(l.Resource)+":"+strconv.FormatUint(l.Most, 10))
	}
	return append(words, endWord)
}

var errPlan = errors.New("the plan cannot be read")

// Parse returns the plan in arguments and the arguments after it.
func Parse(words []string) (p Plan, rest []string, err error) {
	for i, word := range words {
		if word == endWord {
			return p, words[i+1:], nil
		}
		if err := p.add(word); err != nil {
			return Plan{}, nil, err
		}
	}
	return Plan{}, nil, errPlan
}

func (p *Plan) add(word string) error {
	if text, ok := strings.CutPrefix(word, ownWord); ok {
		access, path, ok := strings.Cut(text, ":")
		rights, err := strconv.ParseUint(access, hex, 64)
		if !ok || path == "" {
			return errPlan
		}
		p.Own = append(p.Own, Rule{path, rights})
		return err
	}
	if text, ok := strings.CutPrefix(word, rulesetWord); ok {
		flags, err := strconv.ParseUint(text, hex, 32)
		p.Ruleset, p.RulesetFlags = true, uint32(flags)
		return err
	}
	if text, ok := strings.CutPrefix(word, filterWord); ok {
		filter, err := parseFilter(text)
		p.Filters = append(p.Filters, filter)
		return err
	}
	if text, ok := strings.CutPrefix(word, limitWord); ok {
		resource, most, _ := strings.Cut(text, ":")
		number, err := strconv.ParseUint(resource, 10, 16)
		value, err2 := strconv.ParseUint(most, 10, 64)
		p.Limits = append(p.Limits, Limit{int(number), value})
		return errors.Join(err, err2)
	}
	return errPlan
}

// maxInstructions is the kernel's bound for a filter.
const maxInstructions = 4096

func parseFilter(text string) (Filter, error) {
	if len(text) == 0 || len(text)%digits != 0 || len(text)/digits > maxInstructions {
		return nil, errPlan
	}
	filter := make(Filter, 0, len(text)/digits)
	for ; text != ""; text = text[digits:] {
		instruction, err := strconv.ParseUint(text[:digits], hex, 64)
		if err != nil {
			return nil, err
		}
		filter = append(filter, instruction)
	}
	return filter, nil
}

// Restricted is the byte that the launcher writes to [ReportFD] when the wall
// stands. Then it executes the program, which closes the descriptor.
const Restricted = '+'

// A Failure is what the launcher writes to [ReportFD] if it fails.
type Failure struct {
	Step  string // what failed, without a colon
	Errno uint64
}

// Executing is the step of a [Failure] that is about the program itself.
const Executing = "executing the program"

// String returns the failure as the launcher writes it.
func (f Failure) String() string { return f.Step + ":" + strconv.FormatUint(f.Errno, 10) }

// ParseFailure parses what the launcher wrote.
func ParseFailure(text string) (Failure, error) {
	step, number, ok := strings.Cut(text, ":")
	errno, err := strconv.ParseUint(number, 10, 16)
	if !ok || err != nil {
		return Failure{}, errPlan
	}
	return Failure{step, errno}, nil
}
