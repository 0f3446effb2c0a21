// Package lazyregexp compiles the regular expressions of package variables when they are
// first used. Most commands use few of them, and compiling all took milliseconds of each
// start.
package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A Regexp is a regular expression that is compiled at its first use. It may be used
// concurrently. Its methods are those of [regexp.Regexp].
type Regexp struct{ compile func() *regexp.Regexp }

// New returns a Regexp. The first use panics if the expression is invalid. In a process that
// runs tests New panics itself, so that each invalid expression is found. A test binary
// that a test starts under the name of another program compiles at the first use.
func New(expr string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
	if testing.Testing() && isTestBinary(os.Args) {
		r.compile()
	}
	return r
}

// isTestBinary reports whether a command line has the name that "go test" gives a test binary.
func isTestBinary(args []string) bool {
	return len(args) > 0 && strings.HasSuffix(strings.TrimSuffix(args[0], ".exe"), ".test")
}

func (r *Regexp) MatchString(s string) bool { return r.compile().MatchString(s) }

func (r *Regexp) Match(b []byte) bool { return r.compile().Match(b) }

func (r *Regexp) FindString(s string) string { return r.compile().FindString(s) }

func (r *Regexp) FindStringIndex(s string) []int { return r.compile().FindStringIndex(s) }

func (r *Regexp) FindStringSubmatch(s string) []string { return r.compile().FindStringSubmatch(s) }

func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compile().FindAllStringSubmatch(s, n)
}

func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compile().FindStringSubmatchIndex(s)
}

func (r *Regexp) ReplaceAllString(s, with string) string {
	return r.compile().ReplaceAllString(s, with)
}

func (r *Regexp) ReplaceAllStringFunc(s string, f func(string) string) string {
	return r.compile().ReplaceAllStringFunc(s, f)
}
