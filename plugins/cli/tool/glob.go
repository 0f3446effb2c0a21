package tool

import (
	"path"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/plugins/cli/discover"
)

// matchesAny reports whether one of the patterns selects a command.
func matchesAny(patterns []string, words []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return discover.Match(p, words) })
}

// matchesOption reports whether one of the patterns matches one of an option's
// spellings, with its dashes or without.
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

// CheckGlob says what is wrong with a pattern for paths or options.
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
