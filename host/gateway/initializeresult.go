package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

const (
	maxInstructionsPerServer = 8 << 10  // bytes of what one server tells models
	maxInstructions          = 64 << 10 // and of what all do
)

// A serverDescription holds the extensions and instructions from the last handshake of
// a server.
type serverDescription struct {
	extensions   []byte // an object; nil: none
	instructions string
	modern       bool
}

// recordDescription stores the description from a handshake.
func (g *Gateway) recordDescription(u *upstream.Upstream) {
	s := u.Status()
	if s.State != upstream.Ready {
		return
	}
	i := serverDescription{mcp.Member(s.Capabilities, "extensions"), g.describe(u.Name()).Text(s.Instructions), s.Revision.Modern()}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.serverDescriptions[u.Name()] = i
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

// initializeResult is what a client learns from the servers' introductions: the
// capabilities of the gateway with the extensions that servers have, each as the
// first of them says, and the instructions of all. A client learns nothing from
// servers that it may not use anything of.
func (r *request) initializeResult() (caps []byte, instructions string) {
	g := r.gw
	g.mu.Lock()
	said := maps.Clone(g.serverDescriptions)
	g.mu.Unlock()
	maps.DeleteFunc(said, func(_ string, i serverDescription) bool { return len(i.extensions) == 0 && i.instructions == "" })
	if len(said) == 0 {
		return []byte(capabilities), ""
	}
	used := g.serversVisibleTo(r.principal)
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
		told := truncateInstructions(i.instructions)
		switch {
		case told == "" || text.Len()+len(told) > maxInstructions:
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

// truncateInstructions shortens a server's instructions to maxInstructionsPerServer.
func truncateInstructions(text string) string {
	if len(text) > maxInstructionsPerServer {
		return strings.ToValidUTF8(text[:maxInstructionsPerServer], "") + "…"
	}
	return text
}

// serversVisibleTo returns the servers with at least one item that the principal may see.
func (g *Gateway) serversVisibleTo(p authn.Principal) map[string]bool {
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
