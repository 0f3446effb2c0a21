package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/identity"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

const (
	instructionsOne = 8 << 10  // bytes of what one server tells models
	instructionsAll = 64 << 10 // and of what all do
)

// An introduction is what a server said of itself when it was connected last.
type introduction struct {
	extensions   []byte // an object; nil: none
	instructions string
	modern       bool
}

// introduced takes note of what a server says of itself.
func (g *Gateway) introduced(u *upstream.Upstream) {
	s := u.Status()
	if s.State != upstream.Ready {
		return
	}
	i := introduction{mcp.Member(s.Capabilities, "extensions"), g.describe(u.Name()).Text(s.Instructions), s.Revision.Modern()}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.introductions[u.Name()] = i
}

// describe returns how much of what a server says about itself reaches clients.
func (g *Gateway) describe(server string) catalog.Describe {
	for _, s := range g.catalog.Servers() {
		if s.Name == server {
			return s.Describe
		}
	}
	return catalog.Full
}

// greeting is what a client learns from the servers' introductions: the
// capabilities of the gateway with the extensions that servers have, each as the
// first of them says, and the instructions of all. A client learns nothing from
// servers that it may not use anything of.
func (r *request) greeting() (caps []byte, instructions string) {
	g := r.session.gw
	g.mu.Lock()
	said := maps.Clone(g.introductions)
	g.mu.Unlock()
	maps.DeleteFunc(said, func(_ string, i introduction) bool { return len(i.extensions) == 0 && i.instructions == "" })
	if len(said) == 0 {
		return []byte(capabilities), ""
	}
	used := g.used(r.session.Principal())
	extensions := map[string][]byte{}
	var text strings.Builder
	servers := g.catalog.Servers()
	for _, s := range servers {
		i, ok := said[s.Name]
		if !ok || !used[s.Name] {
			continue
		}
		for name, settings := range mcp.Members(i.extensions) {
			crosses := name != mcp.ExtensionTasks || r.modern && i.modern
			if _, have := extensions[name]; !have && crosses && len(settings) > 0 && settings[0] == '{' {
				extensions[name] = settings
			}
		}
		told := shortened(i.instructions)
		switch {
		case told == "" || text.Len()+len(told) > instructionsAll:
		case len(servers) == 1 && s.Prefix == "":
			text.WriteString(told)
		case s.Prefix == "":
			fmt.Fprintf(&text, "# %s\n\n%s\n\n", s.Name, told)
		default:
			fmt.Fprintf(&text, "# %s (its tools and prompts are called %s__ and the name)\n\n%s\n\n", s.Name, s.Prefix, told)
		}
	}
	caps = []byte(capabilities)
	for _, name := range slices.Sorted(maps.Keys(extensions)) {
		caps = mcp.SetPath(caps, []string{"extensions", name}, extensions[name])
	}
	return caps, strings.TrimRight(text.String(), "\n")
}

// shortened is as much of a server's instructions as models are told.
func shortened(text string) string {
	if len(text) > instructionsOne {
		return strings.ToValidUTF8(text[:instructionsOne], "") + "…"
	}
	return text
}

// used are the servers that have something that the principal may see.
func (g *Gateway) used(p identity.Principal) map[string]bool {
	used := map[string]bool{}
	look := func(kind policy.Kind, server, name string) {
		if !used[server] && g.Visible(p, kind, server, name) {
			used[server] = true
		}
	}
	s := g.catalog.Snapshot()
	for _, i := range s.Tools {
		look(policy.Tool, i.Server, i.Name)
	}
	for _, i := range s.Prompts {
		look(policy.Prompt, i.Server, i.Name)
	}
	for _, i := range s.Resources {
		look(policy.Resource, i.Server, i.Name)
	}
	for _, i := range s.Templates {
		look(policy.Template, i.Server, i.Name)
	}
	return used
}
