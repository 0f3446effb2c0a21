// Package pick selects a part of a JSON value by a path.
//
// A path such as .items[].name has three kinds of steps: a member (.name or ["any name"]), an element
// ([0], or .0), and every element of a list ([]). Without [] the result is one
// value, with it a flat list. There are no filters, functions or wildcards.
package pick

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

const (
	maxPath  = 512 // bytes of a path
	maxSteps = 32
)

// A Path is a parsed path.
type Path struct {
	steps []step
	many  bool // a step is []
}

// A step leads to a member, to an element, or to every element.
type step struct {
	name  string
	index int  // -1 if the step is no element
	both  bool // the name is a number without brackets, which may be a member or an element
	every bool
}

var (
	bare    = regexp.MustCompile(`^\.?([^.\[\]"\s\x00-\x1f]+)`)
	element = regexp.MustCompile(`^\.?\[(\d{1,9})\]`)
	every   = regexp.MustCompile(`^\.?\[\]`)
	named   = regexp.MustCompile(`^\.?\[("(?:[^"\\]|\\.)*")\]`)
	number  = regexp.MustCompile(`^\d{1,9}$`)
)

// Parse parses a path. "." is the whole value.
func Parse(text string) (*Path, error) {
	p := &Path{}
	switch {
	case text == "":
		return nil, errors.New("is empty")
	case len(text) > maxPath:
		return nil, fmt.Errorf("is longer than %d bytes", maxPath)
	case text == ".":
		return p, nil
	}
	for rest := text; rest != ""; {
		s, n := parseStep(rest)
		if n == 0 || rest != text && n > 0 && rest[0] != '.' && rest[0] != '[' {
			return nil, fmt.Errorf(`has no step at %q: steps are .name, ["name"], [0] and []`, rest)
		}
		if len(p.steps) == maxSteps {
			return nil, fmt.Errorf("has more than %d steps", maxSteps)
		}
		p.steps, p.many, rest = append(p.steps, s), p.many || s.every, rest[n:]
	}
	return p, nil
}

// parseStep parses the first step of a text and returns its length, or 0.
func parseStep(text string) (s step, n int) {
	if m := every.FindString(text); m != "" {
		return step{index: -1, every: true}, len(m)
	}
	if m := element.FindStringSubmatch(text); m != nil {
		i, _ := strconv.Atoi(m[1])
		return step{index: i}, len(m[0])
	}
	if m := named.FindStringSubmatch(text); m != nil {
		var name string
		if json.Unmarshal([]byte(m[1]), &name) != nil {
			return s, 0
		}
		return step{name: name, index: -1}, len(m[0])
	}
	m := bare.FindStringSubmatch(text)
	if m == nil {
		return s, 0
	}
	s = step{name: m[1], index: -1}
	if number.MatchString(m[1]) {
		s.index, _ = strconv.Atoi(m[1])
		s.both = true
	}
	return s, len(m[0])
}

// Many reports whether the path selects a list.
func (p *Path) Many() bool { return p.many }

// Apply returns what a path selects in a valid JSON value. In a list, a missing member
// or element is null. Otherwise Apply fails.
func (p *Path) Apply(value json.RawMessage) (json.RawMessage, error) {
	values := []json.RawMessage{bytes.TrimSpace(value)}
	at := "the output"
	for _, s := range p.steps {
		var next []json.RawMessage
		for _, v := range values {
			found, err := s.apply(v, p.many)
			if err != nil {
				return nil, fmt.Errorf("%s %w", at, err)
			}
			next = append(next, found...)
		}
		values, at = next, strings.TrimPrefix(at, "the output")+s.text()
	}
	if !p.many {
		return values[0], nil
	}
	return append(append([]byte("["), bytes.Join(rawBytes(values), []byte(","))...), ']'), nil
}

func rawBytes(values []json.RawMessage) [][]byte {
	all := make([][]byte, 0, len(values))
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

// apply applies one step to a value. lenient makes null of what is missing.
func (s *step) apply(v json.RawMessage, lenient bool) ([]json.RawMessage, error) {
	null := json.RawMessage("null")
	if lenient && string(v) == "null" {
		if s.every {
			return nil, nil
		}
		return []json.RawMessage{null}, nil
	}
	list := len(v) > 0 && v[0] == '['
	switch {
	case s.every || list && s.index >= 0:
		var elements []json.RawMessage
		if !list || json.Unmarshal(v, &elements) != nil {
			return nil, errors.New("is no list, so it has no " + s.text())
		}
		if s.every {
			return elements, nil
		}
		if s.index < len(elements) {
			return elements[s.index : s.index+1], nil
		}
	case s.index < 0 || s.both:
		var members map[string]json.RawMessage
		if v[0] != '{' || json.Unmarshal(v, &members) != nil {
			return nil, errors.New("is no object, so it has no " + s.text())
		}
		if member, ok := members[s.name]; ok {
			return []json.RawMessage{member}, nil
		}
	default:
		return nil, errors.New("is no list, so it has no " + s.text())
	}
	if lenient {
		return []json.RawMessage{null}, nil
	}
	return nil, errors.New("has no " + s.text())
}

// text returns the step as it is written in a path.
func (s *step) text() string {
	switch {
	case s.every:
		return "[]"
	case s.index >= 0 && !s.both:
		return fmt.Sprintf("[%d]", s.index)
	case bare.FindString(s.name) == s.name && !strings.HasPrefix(s.name, "."):
		return "." + s.name
	}
	return fmt.Sprintf("[%q]", s.name)
}
