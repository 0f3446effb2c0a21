package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/truncate"
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

// serverDescriptions stores the descriptions of the servers.
type serverDescriptions struct {
	catalog *catalog.Catalog

	mu       sync.Mutex
	byServer map[string]serverDescription // guarded by mu
}

// record stores the description from a handshake.
func (d *serverDescriptions) record(u *upstream.Upstream) {
	s := u.Status()
	if s.State != upstream.Ready {
		return
	}
	i := serverDescription{mcp.Member(s.Capabilities, "extensions"), d.describe(u.Name()).Text(s.Instructions), s.Revision.Modern()}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byServer == nil {
		d.byServer = map[string]serverDescription{}
	}
	d.byServer[u.Name()] = i
}

// forget removes the description of a server.
func (d *serverDescriptions) forget(server string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byServer, server)
}

func (d *serverDescriptions) all() map[string]serverDescription {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.byServer)
}

// describe returns how much of what a server says about itself reaches clients.
func (d *serverDescriptions) describe(server string) catalog.Describe {
	for _, s := range d.catalog.Servers() {
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
	said := g.descriptions.all()
	maps.DeleteFunc(said, func(_ string, i serverDescription) bool { return len(i.extensions) == 0 && i.instructions == "" })
	if len(said) == 0 {
		return []byte(capabilities), ""
	}
	used := r.visibleServers()
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
		told := truncate.Bytes(i.instructions, maxInstructionsPerServer)
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

// visibleServers returns the servers with at least one item that the principal may see.
func (r *request) visibleServers() map[string]bool {
	used := map[string]bool{}
	look := func(kind policy.Kind, server, name string) {
		if !used[server] && r.gw.Visible(r.principal, kind, server, name) {
			used[server] = true
		}
	}
	s := r.gw.catalog.Snapshot()
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
