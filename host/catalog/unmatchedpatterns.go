package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/suggest"
)

// A Pattern is a tool pattern in the configuration. It is immutable; Match may be called
// concurrently. This file warns of patterns that match nothing: the policy itself applies them.
type Pattern struct {
	List  string // its attribute: allow, deny, read, …
	Glob  string
	Match func(name string) bool
	At    string // file:line:column
}

// unmatched adds notes about patterns and tool blocks that match no tool of the
// server. It adds none if the list of tools is incomplete.
func (s *Snapshot) unmatched(server *Server, l *lists) {
	if l.Tools.Degraded != "" || l.Tools.Failed != nil {
		return
	}
	names := l.parse(server).names
	for _, name := range sortedNames(server.Views) {
		if v := server.Views[name]; !slices.Contains(names, name) && !v.Hidden {
			s.noteConfig(server, v.At, didYouMean(suggest.Nearest(name, names)),
				"it has no tool %.64q, which a tool block configures", name)
		}
	}
	for _, p := range server.Patterns {
		if matchesAny(p, names) {
			continue
		}
		what := fmt.Sprintf("matches none of its %d tools", len(names))
		switch len(names) {
		case 0:
			what = "matches nothing: it has no tools"
		case 1:
			what = "does not match its only tool"
		}
		s.noteConfig(server, p.At, server.patternHint(p, names), "the pattern %.64q in %s %s", p.Glob, p.List, what)
	}
}

// patternHint returns a hint for a pattern that matches no name, or "".
func (s *Server) patternHint(p Pattern, names []string) string {
	if own, prefixed := strings.CutPrefix(p.Glob, s.Prefix+separator); prefixed && s.Prefix != "" {
		return fmt.Sprintf("patterns match the server's own names: use %q", own)
	}
	for _, name := range sortedNames(s.Views) {
		if s.Views[name].Name == p.Glob {
			return fmt.Sprintf("patterns match the server's own names: use %q", name)
		}
	}
	beginning, starred := strings.CutSuffix(p.Glob, "*")
	if strings.Contains(beginning, "*") {
		return ""
	}
	if !starred {
		return didYouMean(suggest.Nearest(p.Glob, names))
	}
	var beginnings []string
	for _, name := range names {
		if len(name) >= len(beginning) {
			beginnings = append(beginnings, name[:len(beginning)])
		}
	}
	if near := suggest.Nearest(beginning, beginnings); near != "" {
		return didYouMean(near + "*")
	}
	return ""
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %.64q?", name)
}

func matchesAny(p Pattern, names []string) bool {
	for _, name := range names {
		if p.Match(name) {
			return true
		}
	}
	return false
}
