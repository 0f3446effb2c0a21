package clientimport

import (
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/clientconfig"
	"github.com/junctor-mcp/junctor/host/condition"
)

// A toolMatch is a pattern for servers and one for their tools. It is a value.
type toolMatch struct{ server, tool string }

// names converts the names of tools that clients see: to matches, and to one rule for each
// pattern of servers.
func (c *policyConverter) names(r *converted) {
	for _, name := range r.Names {
		if r.Naming == clientconfig.MCPServerTool {
			r.matches = append(r.matches, c.single(name)...)
		} else {
			r.matches = append(r.matches, c.split(name, !r.allows())...)
		}
	}
	r.matches = unique(r.matches)
	for _, m := range r.matches {
		servers := []string{m.server}
		if m.server == "*" {
			servers = nil
		}
		i := slices.IndexFunc(r.rules, func(one rule) bool { return slices.Equal(one.Servers, servers) })
		if i < 0 {
			i, r.rules = len(r.rules), append(r.rules,
				rule{Rule: clientconfig.Rule{Effect: r.Effect, Servers: servers}})
		}
		r.rules[i].Tools = append(r.rules[i].Tools, m.tool)
	}
}

// single returns the tools that a name mcp_SERVER_TOOL may mean. Other names are those of the
// product's own tools. If the server is not known, each part of the name that may be the tool
// is meant, of every server.
func (c *policyConverter) single(name string) (all []toolMatch) {
	rest, ok := strings.CutPrefix(name, "mcp_")
	if !ok {
		return nil
	}
	for _, old := range slices.Sorted(maps.Keys(c.labels)) {
		if tool, ok := strings.CutPrefix(rest, strings.ReplaceAll(old, "-", "_")+"_"); ok && tool != "" {
			all = append(all, toolMatch{c.labels[old], tool})
		}
	}
	for tail := rest; len(all) == 0 || all[0].server == "*"; {
		_, tool, more := strings.Cut(tail, "_")
		if !more {
			break
		}
		if tail = tool; tool != "" {
			all = append(all, toolMatch{"*", tool})
		}
	}
	if all == nil {
		return []toolMatch{{"*", "*"}}
	}
	slices.SortFunc(all, func(a, b toolMatch) int { return strings.Compare(a.tool, b.tool) })
	return all
}

// split returns the patterns of servers and tools that together match what a pattern matches
// that is about SERVER__TOOL. The two underscores may be literal, or be matched by stars.
func (c *policyConverter) split(glob string, widens bool) (all []toolMatch) {
	for strings.Contains(glob, "**") {
		glob = strings.ReplaceAll(glob, "**", "*")
	}
	add := func(server, tool string) {
		odd := strings.Contains(server, "__") || strings.HasSuffix(server, "_")
		if server == "" || tool == "" || odd && !c.hasServer(server) {
			return // servers with such names are looked for in the file only
		}
		servers := []string{server}
		if server != "*" {
			servers = c.serverGlobs(servers, widens)
		}
		for _, s := range servers {
			for _, t := range itemGlobs([]string{tool}, widens) {
				all = append(all, toolMatch{s, t})
			}
		}
	}
	for i := range len(glob) {
		server := glob[:i]
		if glob[i] == '*' { // the star may match a part of the name
			server += "*"
		}
		for _, tool := range clientconfig.Behind(glob[i:], "__") {
			add(server, tool)
		}
	}
	return all
}

// hasServer reports whether a server of the file matches a pattern.
func (c *policyConverter) hasServer(glob string) bool {
	for name := range c.labels {
		if condition.Like(name, glob) {
			return true
		}
	}
	return false
}

// serverGlobs returns the patterns that match the servers here which globs match in the
// file. Servers may have got other names. With widens they may match more, else less.
func (c *policyConverter) serverGlobs(globs []string, widens bool) (here []string) {
	for _, glob := range globs {
		exact, matched := true, []string{}
		for old, name := range c.labels {
			like := condition.Like(old, glob)
			exact = exact && (old == name || like == condition.Like(name, glob))
			if like {
				matched = append(matched, name)
			}
		}
		slices.Sort(matched)
		switch {
		case glob == "":
		case len(glob) > maxGlob && widens:
			here = append(here, "*")
		case len(glob) <= maxGlob && exact:
			here = append(here, glob)
		case len(glob) <= maxGlob && widens:
			here = append(append(here, glob), matched...)
		default:
			here = append(here, matched...)
		}
	}
	return unique(here)
}

// itemGlobs returns patterns that a rule can have. One that is too long is left out, or with
// widens matches everything.
func itemGlobs(globs []string, widens bool) (here []string) {
	for _, glob := range globs {
		if glob != "" && len(glob) <= maxGlob {
			here = append(here, glob)
		} else if glob != "" && widens {
			return []string{"*"}
		}
	}
	if here == nil && globs != nil && widens {
		return []string{"*"}
	}
	return unique(here)
}

// unique returns each value once, in their order.
func unique[V comparable](all []V) (kept []V) {
	known := map[V]bool{}
	for _, v := range all {
		if !known[v] {
			known[v], kept = true, append(kept, v)
		}
	}
	return kept
}
