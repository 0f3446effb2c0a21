package expression

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestFunctionsHaveHelp: every function of the language is described, and nothing else.
func TestFunctionsHaveHelp(t *testing.T) {
	if got := slices.Sorted(maps.Keys(FunctionHelp)); !slices.Equal(got, functionNames) {
		t.Errorf("help for %q, and the functions are %q", got, functionNames)
	}
	for name, help := range FunctionHelp {
		if !strings.HasPrefix(help[0], name+"(") || help[1] == "" {
			t.Errorf("the help of %s is incomplete", name)
		}
	}
}
