package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
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
// a server. It is a value that does not change.
type serverDescription struct {
	of           *upstream.Upstream
	extensions   []byte // an object; nil: none
	instructions string
	modern       bool
}

// serverDescriptions stores the descriptions of the servers in effect. The Gateway has one. It
// may be used concurrently: connections record, and handshakes of clients read.
type serverDescriptions struct {
	inEffect func(server string) *upstream.Upstream // must not block

	mu       sync.Mutex
	byServer map[string]serverDescription // guarded by mu
}

// record stores the description from the handshake of a connected upstream. It ignores
// an upstream that is not in effect.
func (d *serverDescriptions) record(u *upstream.Upstream) {
	s := u.Status()
	if s.State != upstream.Ready {
		return
	}
	i := serverDescription{u, mcp.Member(s.Capabilities, "extensions"), truncate.Bytes(s.Instructions, maxInstructions),
		s.Revision.Modern()}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inEffect(u.Name()) != u {
		return
	}
	if d.byServer == nil {
		d.byServer = map[string]serverDescription{}
	}
	d.byServer[u.Name()] = i
}

// replaced removes the description of a server whose upstream was replaced by u, and
// records that of u if u is connected already. u is nil for a removed server.
func (d *serverDescriptions) replaced(server string, u *upstream.Upstream) {
	d.mu.Lock()
	if d.byServer[server].of != u {
		delete(d.byServer, server)
	}
	d.mu.Unlock()
	if u != nil {
		d.record(u)
	}
}

func (d *serverDescriptions) all() map[string]serverDescription {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]serverDescription{}
	maps.Copy(all, d.byServer)
	return all
}

// initializeResult returns the capabilities of the gateway with the extensions of the
// servers, and the instructions of all servers. If several servers have an extension, the
// settings of the first one count. Servers without an item that the principal may see are
// left out. It is called for each handshake of a client and does not wait for servers.
func initializeResult(u *use) (caps []byte, instructions string) {
	g := u.gw
	said := g.descriptions.all()
	for name, s := range g.catalog.Said() { // of servers that do not run
		if _, known := said[name]; !known {
			said[name] = serverDescription{extensions: s.Extensions, instructions: s.Instructions, modern: s.Modern}
		}
	}
	maps.DeleteFunc(said,
		func(_ string, i serverDescription) bool { return len(i.extensions) == 0 && i.instructions == "" })
	if len(said) == 0 {
		return []byte(capabilities), ""
	}
	used := visibleServers(u)
	extensions := map[string][]byte{}
	var text strings.Builder
	servers := g.catalog.Servers()
	for _, s := range servers {
		i, ok := said[s.Name]
		if !ok || !used[s.Name] {
			continue
		}
		for name, settings := range mcp.Members(i.extensions) {
			crosses := name != mcp.ExtensionTasks || u.modern() && i.modern
			if _, have := extensions[name]; !have && crosses && len(settings) > 0 && settings[0] == '{' {
				extensions[name] = settings
			}
		}
		told := truncate.Bytes(s.Describe.Text(i.instructions), maxInstructionsPerServer)
		if len(servers) > 1 || s.Prefix != "" {
			told = heading.ReplaceAllString(told, "${1}##") // the first level has the servers' names
		}
		switch {
		case told == "" || text.Len()+len(told) > maxInstructions:
		case len(servers) == 1 && s.Prefix == "":
			text.WriteString(told)
		case s.Prefix == "":
			fmt.Fprintf(&text, "# %s\n\n%s\n\n", s.Name, told)
		default:
			fmt.Fprintf(&text, "# %s (its tools and prompts are called %s__ and the name)\n\n%s\n\n",
				s.Name, s.Prefix, told)
		}
	}
	caps = []byte(capabilities)
	for _, name := range slices.Sorted(maps.Keys(extensions)) {
		caps = mcp.SetPath(caps, []string{"extensions", name}, extensions[name])
	}
	return caps, strings.TrimRight(text.String(), "\n")
}

// heading matches the start of a line that is a heading.
var heading = lazyregexp.New(`(?m)^([ \t]*)#`)

// visibleServers returns the servers with at least one item that the principal may see.
func visibleServers(u *use) map[string]bool {
	used := map[string]bool{}
	look := func(kind policy.Kind, server, name string, tool *catalog.Tool) {
		if !used[server] &&
			u.generation.lists(&u.principal, u, policy.Item{Server: server, Kind: kind, Name: name}, tool) {
			used[server] = true
		}
	}
	s := u.gw.catalog.Snapshot()
	for _, i := range s.Tools {
		look(policy.Tool, i.Server, i.Name, i)
	}
	for _, i := range s.Prompts {
		look(policy.Prompt, i.Server, i.Name, nil)
	}
	for _, i := range s.Resources {
		look(policy.Resource, i.Server, i.Name, nil)
	}
	for _, i := range s.Templates {
		look(policy.Template, i.Server, i.Name, nil)
	}
	return used
}
