package catalog

import (
	"context"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// Ensure refreshes the unknown and outdated lists of the named servers concurrently.
// Without names it covers all servers. It returns the errors by server. Lists that
// cannot be refreshed stay unchanged. The functions of this file that return errors block until
// servers have answered or ctx ends; the refreshes themselves are in refreshes.go, and
// continue.
func (c *Catalog) Ensure(ctx context.Context, names ...string) map[string]error {
	return c.EnsureLists(ctx, nil, names...)
}

// Refresh refreshes all lists of the named servers, or of all servers without names.
func (c *Catalog) Refresh(ctx context.Context, names ...string) map[string]error {
	return c.RefreshLists(ctx, nil, names...)
}

// Await starts the refreshes of Ensure for all servers, but waits only for unknown
// lists of the kinds in need. It returns early when found accepts the snapshot, so that no
// server delays the items of another one. found may be nil.
func (c *Catalog) Await(ctx context.Context, need []upstream.ListKind, found func(*Snapshot) bool) map[string]error {
	unknown, _ := c.refreshes.beginAll(nil, need, (*lists).stale)
	return c.refreshes.wait(ctx, unknown, need, found)
}

// EnsureLists is Ensure for a caller that needs the lists of some kinds, and waits for no
// others. nil means all kinds. The other lists arrive in the background.
func (c *Catalog) EnsureLists(ctx context.Context, need []upstream.ListKind, names ...string) map[string]error {
	unknown, stale := c.refreshes.beginAll(names, need, (*lists).stale)
	return c.refreshes.wait(ctx, append(unknown, stale...), need, nil)
}

// RefreshLists is Refresh for a caller that waits for the lists of some kinds only, as in
// [Catalog.EnsureLists].
func (c *Catalog) RefreshLists(ctx context.Context, need []upstream.ListKind, names ...string) map[string]error {
	unknown, known := c.refreshes.beginAll(names, need, func(*lists) bool { return true })
	return c.refreshes.wait(ctx, append(unknown, known...), need, nil)
}

// EnsureForCall is like EnsureLists for one server that a call waits for. The server starts before
// servers that are started for lists only.
func (c *Catalog) EnsureForCall(ctx context.Context, need []upstream.ListKind, server string) error {
	if s := c.publisher.now().server(server); s != nil {
		s.Upstream.Raise(upstream.ForCall)
	}
	return c.EnsureLists(ctx, need, server)[server]
}

// AwaitLists refreshes all servers whose lists of the kinds in need are unknown and waits
// until soon ends.
// It does not wait for servers that did not get ready in an earlier process, and longer for
// others that have not failed: until the time that deadline
// returns for the server's first refresh. It returns the errors by server.
func (c *Catalog) AwaitLists(
	ctx, soon context.Context, need []upstream.ListKind, deadline func(asked time.Time) time.Time,
) map[string]error {
	unknown, _ := c.refreshes.beginAll(nil, need, (*lists).stale)
	silent := map[string]error{}
	unknown = impatient(c.disk, c.publisher.now().servers, unknown, silent)
	failed := c.refreshes.wait(soon, unknown, need, nil)
	for _, a := range unknown {
		at := c.refreshes.attempt(a.server)
		until := deadline(at.first)
		if failed[a.server] == nil || at.failed || !until.After(time.Now()) {
			continue
		}
		waiting, cancel := context.WithDeadline(ctx, until)
		err := c.refreshes.wait(waiting, []*refreshRun{a}, need, nil)[a.server]
		cancel()
		if failed[a.server] = err; err == nil {
			delete(failed, a.server)
		}
	}
	for name, err := range silent {
		if _, known := c.Known(name); !known { // it may have answered while others were waited for
			failed[name] = err
		}
	}
	return failed
}

// impatient returns the refreshes of servers that a client waits for, and sets the error of
// the others.
func impatient(d *disk, servers []*Server, runs []*refreshRun, failed map[string]error) []*refreshRun {
	return slices.DeleteFunc(runs, func(a *refreshRun) bool {
		i := slices.IndexFunc(servers, func(s *Server) bool { return s.Name == a.server })
		if i < 0 {
			return false
		}
		_, silent := d.silence(servers[i])
		if silent {
			failed[a.server] = context.DeadlineExceeded
		}
		return silent
	})
}

// EnsurePinned makes sure before a call that the tools of a server were compared with its pins:
// lists may come from disk, or from a process of the server that has ended. shared reports whether
// the call uses the connection of the catalog. pinned is false for a server without pins.
func (c *Catalog) EnsurePinned(ctx context.Context, server string, shared bool) (pinned bool, err error) {
	known := c.publisher.now()
	s, l := known.server(server), known.lists[server]
	if s == nil || s.Pins == nil {
		return false, nil
	}
	if l != nil && l.fresh {
		now := s.Upstream.Status()
		if !shared || now.State == upstream.Ready && now.Connects == l.connection {
			return true, nil
		}
	}
	s.Upstream.Raise(upstream.ForCall)
	return true, c.RefreshLists(ctx, toolKinds, server)[server]
}

// refreshDelay is the wait before lists from disk are compared with those of remote servers,
// so that the first requests of a client come first.
const refreshDelay = 500 * time.Millisecond

// RefreshRemote refreshes the lists of remote servers that come from disk, after a short wait
// and in the background. Servers that would have to be started are left alone. It does not
// wait; its goroutine ends with Stop.
func (c *Catalog) RefreshRemote() {
	c.refreshes.goUnlessStopped(func() {
		select {
		case <-time.After(refreshDelay):
		case <-c.ctx.Done():
			return
		}
		now := c.publisher.now()
		var names []string
		for _, s := range now.servers {
			if l := now.lists[s.Name]; s.Remote && l != nil && !l.fresh {
				names = append(names, s.Name)
			}
		}
		slices.Sort(names)
		if len(names) > 0 {
			c.Refresh(c.ctx, names...)
		}
	})
}
