package host

import (
	"slices"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/policy"
)

// Explain returns how the policy decides about the item of a query. tool is the item if it is
// a tool; args are the arguments as a client sends them, nil for those of a list.
func (a *App) Explain(q policy.Query, tool *catalog.Tool, args []byte) policy.Explanation {
	return a.Gateway.Explain(q, tool, args)
}

// Unlisted returns a tool of which only the name and the configuration are known. ok is
// false if the server is not configured, or disabled.
func (a *App) Unlisted(server, name string) (_ *catalog.Tool, ok bool) {
	servers := a.current.Load().servers
	i := slices.IndexFunc(servers, func(s *catalog.Server) bool { return s.Name == server })
	if i < 0 {
		return nil, false
	}
	return servers[i].Unlisted(name), true
}
