package config

import "strings"

// A Pattern matches names of tools: '*' stands for any number of any
// characters, everything else for itself.
type Pattern struct {
	Glob string
	At   Position
}

// Match reports whether the whole name fits. Each piece between two stars is
// searched for once, so that the time is linear in the lengths: taking the
// first place where a piece fits never spoils a later one.
func (p Pattern) Match(name string) bool {
	first, rest, starred := strings.Cut(p.Glob, "*")
	if !starred {
		return name == first
	}
	name, ok := strings.CutPrefix(name, first)
	if !ok {
		return false
	}
	for {
		piece, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, piece)
		}
		_, name, ok = strings.Cut(name, piece)
		if !ok {
			return false
		}
		rest = after
	}
}
