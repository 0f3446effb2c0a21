package use

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/catalog"
)

// toolCost is the JSON form of a tool's cost.
type toolCost struct {
	Name   string `json:"name"`
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Tokens int    `json:"tokens"`
}

// serverCost is the cost of all tools of a server.
type serverCost struct {
	Server string `json:"server"`
	Tools  int    `json:"tools"`
	Tokens int    `json:"tokens"`
}

// listCost is the JSON form of "tools --cost".
type listCost struct {
	Tools   []toolCost   `json:"tools"`
	Servers []serverCost `json:"servers"`
	Tokens  int          `json:"tokens"`
}

// costOf estimates the tokens of tools, the most expensive first.
func costOf(tools []*catalog.Tool) listCost {
	all := listCost{Tools: []toolCost{}, Servers: []serverCost{}, Tokens: catalog.Cost(tools)}
	byServer := map[string][]*catalog.Tool{}
	for _, t := range tools {
		all.Tools = append(all.Tools, toolCost{t.Exposed, t.Server, t.Name, t.Tokens()})
		byServer[t.Server] = append(byServer[t.Server], t)
	}
	for server, own := range byServer {
		all.Servers = append(all.Servers, serverCost{server, len(own), catalog.Cost(own)})
	}
	slices.SortStableFunc(all.Tools, func(a, b toolCost) int {
		return cmp.Or(b.Tokens-a.Tokens, cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(all.Servers, func(a, b serverCost) int {
		return cmp.Or(b.Tokens-a.Tokens, cmp.Compare(a.Server, b.Server))
	})
	return all
}

// printCost prints the cost of each tool, of each server, and the sum. tools --cost calls it.
func printCost(inv *invocation.Invocation, tools []*catalog.Tool) error {
	all := costOf(tools)
	if inv.Machine() {
		return inv.PrintJSON(all)
	}
	var rows [][]string
	for _, t := range all.Tools {
		rows = append(rows, []string{strconv.Itoa(t.Tokens), t.Server, t.Name})
	}
	inv.Table([]string{"TOKENS", "SERVER", "TOOL"}, rows)
	rows = nil
	for _, s := range all.Servers {
		rows = append(rows, []string{strconv.Itoa(s.Tokens), s.Server, terminal.Count(s.Tools, "tool")})
	}
	if len(all.Servers) > 1 {
		rows = append(rows, []string{strconv.Itoa(all.Tokens), "all", terminal.Count(len(all.Tools), "tool")})
	}
	if len(rows) > 0 {
		inv.Printf("\n")
	}
	inv.Table([]string{"TOKENS", "SERVER", "TOOLS"}, rows)
	return nil
}
