package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/tokens"
)

// Tokens estimates what the tool costs a model: its name, description and input
// schema as clients hand them on. The output schema and the annotations stay with
// the client.
func (t *Tool) Tokens() int { return tokens.Estimate(t.size()) }

// toolFrame is what stands around the three parts in JSON.
const toolFrame = len(`{"name":"","description":"","inputSchema":},`)

func (t *Tool) size() int {
	return toolFrame + len(t.Exposed) + len(t.Description) + len(t.Input)
}

// Cost estimates what all tools of a server cost a model.
func Cost(tools []*Tool) int {
	bytes := 0
	for _, t := range tools {
		bytes += t.size()
	}
	return tokens.Estimate(bytes)
}

// namedTools is how many costly tools a note names.
const namedTools = 3

// CostNote says that the tools of a server cost a model much; empty: they do not.
func CostNote(tools []*Tool) string {
	var parts []string
	if all := Cost(tools); all > tokens.MuchServer {
		parts = append(parts, fmt.Sprintf("its %d tools take about %d tokens of a model's context", len(tools), all))
	}
	much := slices.DeleteFunc(slices.Clone(tools), func(t *Tool) bool { return t.Tokens() <= tokens.MuchTool })
	if len(much) > 0 {
		slices.SortStableFunc(much, func(a, b *Tool) int { return cmp.Compare(b.size(), a.size()) })
		var names []string
		for _, t := range much[:min(len(much), namedTools)] {
			names = append(names, fmt.Sprintf("%s about %d", t.Exposed, t.Tokens()))
		}
		text := fmt.Sprintf("%d of its tools take more than %d tokens each: %s", len(much), tokens.MuchTool, strings.Join(names, ", "))
		if len(much) > len(names) {
			text += ", …"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "; junctor tools --cost shows each"
}

// warnCost logs, once, that the tools of a server cost a model much.
func (c *Catalog) warnCost(server string) {
	text := CostNote(slices.DeleteFunc(slices.Clone(c.Snapshot().Tools), func(t *Tool) bool { return t.Server != server }))
	if text == "" {
		return
	}
	c.mu.Lock()
	warned := c.warned[server]
	c.warned[server] = true
	c.mu.Unlock()
	if !warned {
		c.log.Warn("the tools of a server are costly", "server", server, "why", text)
	}
}
