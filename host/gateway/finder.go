package gateway

import (
	"context"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A finder finds the items that clients name. It asks servers whose lists are not known, or may be old. The
// generation of a search is that of its request. It is immutable after New and may be used concurrently; the
// goroutine of a request waits in it for servers. prompts.go, tools.go, resource.go and list.go use it.
type finder struct {
	catalog  *catalog.Catalog
	links    *resourceLinks
	warnings *warnings
	log      hclog.Logger
}

// lookUpTime limits the search for an unknown name at servers with unknown lists.
const lookUpTime = 15 * time.Second

// The lists that requests need.
var (
	toolLists     = []upstream.ListKind{upstream.Tools}
	promptLists   = []upstream.ListKind{upstream.Prompts}
	resourceLists = []upstream.ListKind{upstream.Resources, upstream.Templates}
)

// ensure waits until the needed lists of all servers are known or found accepts the snapshot, at most for a
// time. found may be nil. ensure returns the servers that may still answer.
func (f *finder) ensure(ctx context.Context, within time.Duration, need []upstream.ListKind,
	found func(*catalog.Snapshot) bool) (late []string) {
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return f.logUnknownLists(ctx, f.catalog.Await(limited, need, found))
}

// logUnknownLists logs why the lists of servers are not known, and returns the servers that may still answer.
func (f *finder) logUnknownLists(ctx context.Context, failed map[string]error) (late []string) {
	for server, err := range failed {
		switch {
		case ctx.Err() != nil:
		case err == context.DeadlineExceeded: // that of the wait, not of the server
			late = append(late, server)
			f.log.Debug("a server's lists are not known yet", "server", server)
		case f.warnings.loginNeeded(server, err):
		default:
			f.log.Warn("a server's lists are not known", "server", server, "error", err)
		}
	}
	return late
}

// lookUpName asks the servers that an unknown name could belong to: their lists may have come from disk.
func (f *finder) lookUpName(
	ctx context.Context, u *use, exposed string, need []upstream.ListKind, found func(*catalog.Snapshot) bool,
) {
	if server, ok := f.catalog.UnknownByPrefix(exposed, need); ok {
		// It is meant, and may take as long to start as it is allowed to.
		arrived := u.gw.opts.Usage.Wait(server)
		err := f.catalog.EnsureForCall(ctx, need, server)
		arrived()
		if err != nil {
			f.logUnknownLists(ctx, map[string]error{server: err})
		}
		if found(f.catalog.Snapshot()) || !f.catalog.Unprefixed() {
			return
		}
	}
	f.ensure(ctx, lookUpTime, need, found)
	if found(f.catalog.Snapshot()) {
		return
	}
	if doubtful := f.catalog.MaybeStale(exposed); len(doubtful) > 0 {
		limited, cancel := context.WithTimeout(ctx, lookUpTime)
		defer cancel()
		f.catalog.RefreshLists(limited, need, doubtful...)
	}
}

// tool returns the tool that clients call by a name. Its error for an unknown
// name is that of the server which the name belongs to, if that could not start.
func (f *finder) tool(ctx context.Context, u *use, exposed string) (*catalog.Tool, error) {
	t, ok := f.catalog.Snapshot().Tool(exposed)
	if !ok {
		if why, held := f.heldTool(exposed); held && f.catalog.Fresh(why.Server) {
			return nil, f.held(u, exposed)
		}
		// It may belong to a server that was not asked yet. A name without a
		// prefix could also be that of a server further up, so all are waited for.
		f.lookUpName(
			ctx, u, exposed, toolLists,
			func(s *catalog.Snapshot) bool { t, ok := s.Tool(exposed); return ok && t.Name != exposed },
		)
		t, ok = f.catalog.Snapshot().Tool(exposed)
	}
	if !ok {
		return nil, f.held(u, exposed)
	}
	return t, nil
}

// heldTool returns why a tool is held back.
func (f *finder) heldTool(exposed string) (why catalog.Note, held bool) {
	why, omitted := f.catalog.Snapshot().Omitted("", exposed)
	return why, omitted && why.Held
}

// held is the fault of a tool that is held back, for clients that could use it otherwise, and
// that of an unknown name for all others.
func (f *finder) held(u *use, exposed string) error {
	why, held := f.heldTool(exposed)
	item := policy.Item{Server: why.Server, Kind: policy.Tool, Name: why.Tool}
	if !held || !u.generation.lists(&u.principal, u, item, nil) {
		return f.unknown(u, policy.Tool, exposed)
	}
	u.failing = why.Server
	hint := "ask the operator of the gateway to look at `junctor diff " + why.Server + "`"
	if local(u.principal) {
		hint = why.Hint
	}
	return fault.In(why.Server, fault.New(fault.ToolHeld, "%s", why.Text).WithHint("%s", hint))
}

// unknown is the fault of a name that no server offers. Where the prefix names a server that could not start or
// list its items, it is the fault of that, for clients that may use an item of this name there.
func (f *finder) unknown(u *use, kind policy.Kind, exposed string) error {
	if err := disconnectedServer(u, kind, exposed); err != nil {
		return err
	}
	need := toolLists
	if kind == policy.Prompt {
		need = promptLists
	}
	if server, why := f.failure(u, exposed, need); why != nil {
		_, name, _ := strings.Cut(exposed, "__")
		if u.seesAll ||
			u.generation.lists(&u.principal, u, policy.Item{Server: server, Kind: kind, Name: name}, nil) {
			u.failing = server
			return fault.In(server, why)
		}
	}
	return fault.New(fault.NameUnknown, "unknown %s %q", kind, exposed)
}

// failure returns the server that a name belongs to by its prefix, and why the server could
// not start, or could not list its items.
func (f *finder) failure(u *use, exposed string, need []upstream.ListKind) (server string, why error) {
	if server, ok := f.catalog.UnknownByPrefix(exposed, need); ok {
		if u := u.generation.upstream(server); u != nil && u.Status().Err != nil {
			return server, u.Status().Err
		}
	}
	return f.catalog.FailedByPrefix(exposed, need[0])
}

// prompt is tool for prompts.
func (f *finder) prompt(ctx context.Context, u *use, exposed string) (*catalog.Prompt, error) {
	p, ok := f.catalog.Snapshot().Prompt(exposed)
	if !ok {
		f.lookUpName(
			ctx, u, exposed, promptLists,
			func(s *catalog.Snapshot) bool { p, ok := s.Prompt(exposed); return ok && p.Name != exposed },
		)
		p, ok = f.catalog.Snapshot().Prompt(exposed)
	}
	if !ok {
		return nil, f.unknown(u, policy.Prompt, exposed)
	}
	return p, nil
}
