package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/tokencount"
)

// Tokens estimates the tokens that the tool uses in a model's context. It counts the
// name, the description and the input schema. Clients do not pass the output schema
// and the annotations to the model. The functions of this file are pure. Limits of the estimate
// are in package tokencount.
func (t *Tool) Tokens() int { return tokencount.Estimate(t.size()) }

// toolFrame is the size of the JSON around the three parts.
const toolFrame = len(`{"name":"","description":"","inputSchema":},`)

func (t *Tool) size() int {
	return toolFrame + len(t.Exposed) + len(t.Description) + len(t.Input)
}

// Cost estimates the tokens that all tools of a server use in a model's context.
func Cost(tools []*Tool) int {
	bytes := 0
	for _, t := range tools {
		bytes += t.size()
	}
	return tokencount.Estimate(bytes)
}

// namedTools is the number of tools that a cost note names.
const namedTools = 3

// CostNote returns a note about tools that use many tokens, or "".
func CostNote(tools []*Tool) string {
	var parts []string
	if all := Cost(tools); all > tokencount.MuchServer {
		parts = append(parts, fmt.Sprintf("%s about %d tokens of a model's context", toolsUse(len(tools)), all))
	}
	much := slices.DeleteFunc(slices.Clone(tools), func(t *Tool) bool { return t.Tokens() <= tokencount.MuchTool })
	if len(much) > 0 {
		slices.SortStableFunc(much, func(a, b *Tool) int { return cmp.Compare(b.size(), a.size()) })
		var names []string
		for _, t := range much[:min(len(much), namedTools)] {
			names = append(names, fmt.Sprintf("%s about %d", t.Exposed, t.Tokens()))
		}
		text := fmt.Sprintf("%s: %s", overLimit(len(much)), strings.Join(names, ", "))
		if len(much) > len(names) {
			text += ", …"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "; run `junctor tools --cost` for details"
}

// toolsUse begins a sentence about what all n tools of a server use.
func toolsUse(n int) string {
	if n == 1 {
		return "its only tool uses"
	}
	return fmt.Sprintf("its %d tools use", n)
}

// overLimit says that n tools of a server use many tokens.
func overLimit(n int) string {
	if n == 1 {
		return fmt.Sprintf("1 of its tools uses more than %d tokens", tokencount.MuchTool)
	}
	return fmt.Sprintf("%d of its tools use more than %d tokens each", n, tokencount.MuchTool)
}
