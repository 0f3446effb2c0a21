package source

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// A Set is the files of one configuration, with the problems that were found in them and
// the secrets that no message may show. It is for one goroutine.
type Set struct {
	words Words

	// Texts are the texts of files as an editor has them, by path.
	Texts map[string][]byte

	// Pasted converts the JSON configuration of an MCP client into HCL without secrets; "" if it
	// cannot. Nil: hints say how to convert it.
	Pasted func(text []byte) string

	All      []*File // in the order they were added
	byName   map[string]*File
	problems []language.Problem
	secrets  []string
}

// NewSet returns an empty set of files in a language with these words.
func NewSet(w Words) *Set { return &Set{words: w, byName: map[string]*File{}} }

// Problem records a problem.
func (s *Set) Problem(p language.Problem) { s.problems = append(s.problems, p) }

// Count returns the number of recorded problems.
func (s *Set) Count() int { return len(s.problems) }

// Since returns the problems after the first n, which the caller may change.
func (s *Set) Since(n int) []language.Problem { return s.problems[n:] }

// Forget removes the problems after the first n.
func (s *Set) Forget(n int) { s.problems = s.problems[:n] }

// HasErrors reports whether a problem prevents the use of the configuration.
func (s *Set) HasErrors() bool {
	return slices.ContainsFunc(s.problems, func(p language.Problem) bool { return !p.Warning })
}

// Conceal says that texts are secrets, which no message may show.
func (s *Set) Conceal(texts ...string) { s.secrets = append(s.secrets, texts...) }

// Attach adds a file that is no part of the configuration, such as a lock file, so that
// diagnostics find its lines.
func (s *Set) Attach(name string, text []byte) {
	s.byName[name] = &File{Name: name, Text: text, words: &s.words}
}

// Hidden returns the secrets.
func (s *Set) Hidden() []string { return s.secrets }

// File returns the file with a name, or nil.
func (s *Set) File(name string) *File { return s.byName[name] }

// DirOf returns the absolute directory of a file of the set.
func (s *Set) DirOf(name string) string { return s.byName[name].Dir }

// Order returns the index of each file, by its name.
func (s *Set) Order() map[string]int {
	order := map[string]int{}
	for i, f := range s.All {
		order[f.Name] = i
	}
	return order
}

// Reveal marks the literals of an attribute as shown. Members of objects whose names
// sound like secrets stay masked.
func (s *Set) Reveal(a *hclsyntax.Attribute) {
	if f := s.byName[a.SrcRange.Filename]; f != nil {
		f.snip.reveal(a)
	}
}

// RevealLabel marks the label of a known block as shown.
func (s *Set) RevealLabel(at hcl.Range) {
	if f := s.byName[at.Filename]; f != nil {
		f.snip.revealed = append(f.snip.revealed, at)
	}
}
