package gateway

import (
	"fmt"
	"hash/maphash"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// policyChanged applies a new policy to what clients have: subscriptions that are denied end, and clients are
// told which of their lists changed. Apply calls it, one call at a time; it does not wait for clients.
func (g *Gateway) policyChanged(before, now *Generation) {
	type lists struct{ tools, resources, prompts bool }
	changed := map[string]lists{} // by principal
	snapshot := g.catalog.Snapshot()
	for _, s := range g.sessions.all() {
		s.dropDenied()
		who := s.Principal()
		key := fmt.Sprintf("%s %q %q", who.Key(), who.Roles, who.Groups) + string(who.Claims)
		differs, known := changed[key]
		if !known {
			if before.Policy.AsksRequest() || now.Policy.AsksRequest() {
				differs = lists{true, true, true} // what a client sees depends on more than who it is
			} else {
				differs.tools = before.toolsSeen(&who, snapshot) != now.toolsSeen(&who, snapshot)
				differs.resources = before.resourcesSeen(&who, snapshot) != now.resourcesSeen(&who, snapshot)
				differs.prompts = before.promptsSeen(&who, snapshot) != now.promptsSeen(&who, snapshot)
			}
			changed[key] = differs
		}
		for _, one := range []struct {
			differs bool
			kind    upstream.ListKind
		}{{differs.tools, upstream.Tools}, {differs.resources, upstream.Resources}, {differs.prompts,
			upstream.Prompts}} {
			if one.differs {
				s.listChanged(one.kind.Changed)
			}
		}
	}
}

var viewSeed = maphash.MakeSeed()

// toolsSeen returns a hash of the tools that a principal sees, and of what the policy asks of their arguments.
func (n *Generation) toolsSeen(who *authn.Principal, all *catalog.Snapshot) uint64 {
	var h maphash.Hash
	h.SetSeed(viewSeed)
	for _, t := range all.Tools {
		item := policy.Item{Server: t.Server, Kind: policy.Tool, Name: t.Name}
		d := n.list(who, nil, item, t)
		if !d.Lists() {
			continue
		}
		fmt.Fprintf(&h, "%q %q", t.Server, t.Name)
		if d.Verdict == policy.Depends {
			q := policy.Query{Principal: who, Item: item, Access: t.Class.Kind, Unconfigured: t.Unconfigured,
				Args: t.Fixed()}
			constraints, _ := n.Policy.Narrow(&q)
			fmt.Fprint(&h, constraints)
		}
	}
	return h.Sum64()
}

// resourcesSeen returns a hash of the resources and templates that a principal sees.
func (n *Generation) resourcesSeen(who *authn.Principal, all *catalog.Snapshot) uint64 {
	var h maphash.Hash
	h.SetSeed(viewSeed)
	for _, r := range all.Resources {
		n.hashItem(&h, who, policy.Item{Server: r.Server, Kind: policy.Resource, Name: r.Name})
	}
	for _, t := range all.Templates {
		n.hashItem(&h, who, policy.Item{Server: t.Server, Kind: policy.Template, Name: t.Name})
	}
	return h.Sum64()
}

// promptsSeen returns a hash of the prompts that a principal sees.
func (n *Generation) promptsSeen(who *authn.Principal, all *catalog.Snapshot) uint64 {
	var h maphash.Hash
	h.SetSeed(viewSeed)
	for _, p := range all.Prompts {
		n.hashItem(&h, who, policy.Item{Server: p.Server, Kind: policy.Prompt, Name: p.Name})
	}
	return h.Sum64()
}

func (n *Generation) hashItem(h *maphash.Hash, who *authn.Principal, item policy.Item) {
	if n.lists(who, nil, item, nil) {
		fmt.Fprintf(h, "%q %q", item.Server, item.Name)
	}
}
