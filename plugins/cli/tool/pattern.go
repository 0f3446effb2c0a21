package tool

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/discover"
)

var (
	errEmpty = errors.New("is empty")
	errGlob  = errors.New("has a bracket without a closing bracket")
)

// matchesAny reports whether a pattern selects a command.
func matchesAny(patterns []string, words []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return discover.Match(p, words) })
}

// matchesOption reports whether a pattern matches a spelling of an option, with
// or without its dashes.
func matchesOption(patterns []string, names []string) bool {
	for _, pattern := range patterns {
		for _, name := range names {
			for _, spelled := range []string{name, strings.TrimLeft(name, "-")} {
				if ok, err := path.Match(pattern, spelled); err == nil && ok {
					return true
				}
			}
		}
	}
	return false
}

// CheckGlob returns an error if a pattern for paths or options is malformed.
func CheckGlob(pattern string) error {
	if strings.TrimSpace(pattern) == "" {
		return errEmpty
	}
	for _, part := range strings.Fields(pattern) {
		if _, err := path.Match(part, ""); err != nil {
			return errGlob
		}
	}
	return nil
}

// patternsFor returns the patterns for options of a command. The last word of
// an element is the pattern for options, the words before it are a pattern for
// paths. An element of one word applies to every command.
func patternsFor(list []string, words []string) []string {
	var patterns []string
	for _, element := range list {
		fields := strings.Fields(element)
		last := len(fields) - 1
		if last == 0 || last > 0 && discover.Match(strings.Join(fields[:last], " "), words) {
			patterns = append(patterns, fields[last])
		}
	}
	return patterns
}
