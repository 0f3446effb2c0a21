package clientimport

import (
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/clientconfig"
)

// permissions writes the permission level of NEXUS3.
func (c *converter) permissions(w *policyWriter, p *clientconfig.Permissions) {
	switch p.Level {
	case "yolo":
		w.allow = true
	case "trusted":
		w.add(holder{}, rule{effect: "confirm", more: []string{`by = "client"`, `covers = "server"`, `valid = "12h"`}})
		c.Notes = append(c.Notes, "trusted asks once for each server; here the answer holds for 12 hours")
	}
	if p.Custom != "" {
		c.Notes = append(c.Notes, fmt.Sprintf("the preset at %s is not known, so the policy denies everything", p.Place))
	}
	if p.Unasked {
		c.Notes = append(c.Notes, "requires_confirmation = false is left out: the policy asks for these tools too")
	}
	c.namedTools(w, "deny", p.Denied, nil)
	if p.Level != "sandboxed" {
		c.namedTools(w, "confirm", p.Asked, []string{`by = "client"`})
	}
}

// namedTools writes rules about tools with names such as mcp_SERVER_TOOL. Other names are
// those of the program's own tools. If the server is not known, each part of the name that
// may be the tool is meant, of every server.
func (c *converter) namedTools(w *policyWriter, effect string, names, more []string) {
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, "mcp_")
		if !ok {
			continue
		}
		r := rule{effect: effect, more: more}
		for old, here := range c.labels {
			if tool, ok := strings.CutPrefix(rest, strings.ReplaceAll(old, "-", "_")+"_"); ok && tool != "" {
				r.servers, r.tools = append(r.servers, here), append(r.tools, tool)
			}
		}
		for tail := rest; r.servers == nil; {
			_, tool, more := strings.Cut(tail, "_")
			if !more {
				break
			}
			r.tools, tail = append(r.tools, tool), tool
		}
		r.tools = itemGlobs(r.tools, false)
		if r.tools == nil {
			r.tools = []string{"*"}
		}
		slices.Sort(r.servers)
		slices.Sort(r.tools)
		w.add(holder{}, r)
	}
}
