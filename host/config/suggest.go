package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/suggest"
)

// nearHint is the hint for a name that is close to a known one.
func nearHint(name string, candidates []string) string {
	if near := suggest.Nearest(name, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// didYouMean is nearHint or, where nothing is near, all that is known, unless
// that is too much to read.
func didYouMean(name string, candidates []string) string {
	if hint := nearHint(name, candidates); hint != "" {
		return hint
	}
	if len(candidates) == 0 || len(candidates) > 16 {
		return ""
	}
	return "known here: " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
}
