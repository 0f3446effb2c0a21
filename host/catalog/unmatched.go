package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/suggest"
)

// A Pattern is one of those by which the configuration selects tools.
type Pattern struct {
	List  string // the attribute it stands in: allow, deny, read, …
	Glob  string
	Match func(name string) bool
	At    string // file:line:column
}

// unmatched notes patterns and tool blocks of the configuration that fit none
// of a server's tools. It says nothing about a list that is not whole.
func (s *Snapshot) unmatched(server *Server, l *lists) {
	if l.Tools.Degraded != "" || l.Tools.Failed != nil {
		return
	}
	names := l.parse(server).names
	for _, name := range sortedNames(server.Views) {
		if v := server.Views[name]; !slices.Contains(names, name) && !v.Hidden {
			s.doubt(server, v.At, didYouMean(suggest.Nearest(name, names)), "it has no tool %.64q, which a tool block is about", name)
		}
	}
	for _, p := range server.Patterns {
		if matchesAny(p, names) {
			continue
		}
		what := fmt.Sprintf("none of its %d tools", len(names))
		if len(names) == 0 {
			what = "nothing: it has no tools"
		}
		s.doubt(server, p.At, server.meant(p, names), "the pattern %.64q in %s matches %s", p.Glob, p.List, what)
	}
}

// meant is a hint about a pattern that matches none of the names.
func (s *Server) meant(p Pattern, names []string) string {
	if own, prefixed := strings.CutPrefix(p.Glob, s.Prefix+separator); prefixed && s.Prefix != "" {
		return fmt.Sprintf("patterns are compared with the server's own names: write %q", own)
	}
	for _, name := range sortedNames(s.Views) {
		if s.Views[name].Name == p.Glob {
			return fmt.Sprintf("patterns are compared with the server's own names: write %q", name)
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

// toldMost bounds the notes that are remembered.
const toldMost = 1000

// logDoubts writes to the log, once, what the configuration says of a server
// and does not fit it.
func (c *Catalog) logDoubts() {
	var fresh []Note
	c.mu.Lock()
	for _, n := range c.Snapshot().Notes {
		if n.At != "" && !c.told[n] && len(c.told) < toldMost {
			c.told[n] = true
			fresh = append(fresh, n)
		}
	}
	c.mu.Unlock()
	for _, n := range fresh {
		args := []any{"server", n.Server, "problem", n.Text, "at", n.At}
		if n.Hint != "" {
			args = append(args, "hint", n.Hint)
		}
		c.log.Warn("the configuration does not fit a server", args...)
	}
}
