package catalog

import (
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// Known reports whether the lists of a server are known, and when they were fetched. They
// are not while only other lists than that of its tools have arrived. The methods of this file
// look at what is known, may be called concurrently and do not wait for servers. Silent reads
// files.
func (c *Catalog) Known(server string) (since time.Time, known bool) {
	l := c.publisher.now().lists[server]
	if l == nil || l.lacks(toolKinds) && len(l.Tools.Items) == 0 {
		return time.Time{}, false
	}
	return l.fetched, true
}

// Fresh reports whether this process has fetched the server's lists.
func (c *Catalog) Fresh(server string) bool {
	l := c.publisher.now().lists[server]
	return l != nil && l.fresh
}

// Unfinished returns the progress of a server that is still discovering its tools. It
// returns nil if the list is complete or unknown.
func (c *Catalog) Unfinished(server string) *upstream.Unfinished {
	if l := c.publisher.now().lists[server]; l != nil {
		return l.Tools.Unfinished
	}
	return nil
}

// ToolsIncomplete returns why the list of a server's tools may lack some, or "". failed is the
// error of the server, after which the tools may be those of before.
func (c *Catalog) ToolsIncomplete(server string) (why string, failed error) {
	l := c.publisher.now().lists[server]
	switch {
	case l == nil:
		return "it is not known", nil
	case l.Tools.Unfinished != nil:
		return "the server is still discovering its tools", nil
	}
	return l.Tools.Degraded, l.Tools.Failed
}

// MaybeStale returns the servers that may have an unlisted item with this name: their
// lists come from disk and their prefix matches.
func (c *Catalog) MaybeStale(exposed string) []string {
	now := c.publisher.now()
	var names []string
	for _, s := range now.servers {
		l, matches := now.lists[s.Name], s.Prefix == "" || strings.HasPrefix(exposed, s.Prefix+separator)
		if l != nil && !l.fresh && matches {
			names = append(names, s.Name)
		}
	}
	return names
}

// Unprefixed reports whether any server has no prefix. Its names may look like those
// of any other server.
func (c *Catalog) Unprefixed() bool {
	return slices.ContainsFunc(c.Servers(), func(s *Server) bool { return s.Prefix == "" })
}

// UnknownByPrefix returns the server whose prefix begins an exposed name, if the lists of
// the kinds in need of that server are unknown.
func (c *Catalog) UnknownByPrefix(exposed string, need []upstream.ListKind) (server string, ok bool) {
	now := c.publisher.now()
	for _, s := range now.servers {
		l, matches := now.lists[s.Name], s.Prefix != "" && strings.HasPrefix(exposed, s.Prefix+separator)
		if matches && (l == nil || l.lacks(need)) {
			return s.Name, true
		}
	}
	return "", false
}

// Unknown returns the servers with unknown lists that precede another server in the
// configuration. It covers all servers if before is empty.
func (c *Catalog) Unknown(before string) (names []string) {
	now := c.publisher.now()
	for _, s := range now.servers {
		if s.Name == before {
			break
		}
		if l := now.lists[s.Name]; l == nil || l.lacks(resourceKinds) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Said returns what each server with known lists said. Servers need not be running for it.
func (c *Catalog) Said() map[string]Said {
	now := c.publisher.now()
	all := map[string]Said{}
	for _, s := range now.servers {
		if l := now.lists[s.Name]; l != nil && (l.said.Instructions != "" || len(l.said.Extensions) > 0) {
			all[s.Name] = l.said
		}
	}
	return all
}

// Unread returns the servers of which no list of tools is known yet, sorted.
func (c *Catalog) Unread() (names []string) {
	now := c.publisher.now()
	for _, s := range now.servers {
		if l := now.lists[s.Name]; l == nil || l.empty() || l.lacks(toolKinds) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Pending reports whether a list of tools that is not known yet is being read.
func (c *Catalog) Pending() bool { return c.refreshes.pending() }

// Definitions returns the definitions of a server's tools as the server sent them, by name.
func (c *Catalog) Definitions(server string) map[string][]byte {
	if l := c.publisher.now().lists[server]; l != nil {
		return byName(l.Tools.Items)
	}
	return nil
}

// Held returns the tools of a server that are held back, sorted by name. known is false if the
// lists of the server are not known.
func (c *Catalog) Held(server string) (held []Held, known bool) {
	return c.publisher.now().held(server)
}

// Changes returns the newest changes of a server's tools, the newest first. It has at most 50:
// since the start of the process, and those between its lists on disk and the first answer.
func (c *Catalog) Changes(server string) []Change { return c.changes.of(server) }

// FailedByPrefix returns the server whose prefix begins an exposed name, and why its list of a
// kind could not be read. failed is nil if the list is known, or not tried yet.
func (c *Catalog) FailedByPrefix(exposed string, kind upstream.ListKind) (server string, failed error) {
	now := c.publisher.now()
	for _, s := range now.servers {
		if s.Prefix == "" || !strings.HasPrefix(exposed, s.Prefix+separator) {
			continue
		}
		if err := c.refreshes.listError(s.Name, now.lists[s.Name], kind); err != nil {
			return s.Name, err
		}
	}
	return "", nil
}

// Silent returns which of the named servers have no lists, and when they last did not get
// ready. Verbs that list the items of all servers do not wait for them.
func (c *Catalog) Silent(names []string) map[string]time.Time {
	now, all := c.publisher.now(), map[string]time.Time{}
	for _, s := range now.servers {
		if !slices.Contains(names, s.Name) || now.lists[s.Name] != nil {
			continue
		}
		if was, silent := c.disk.silence(s); silent && !was.Ended && time.Since(was.Since) < silentRest {
			all[s.Name] = was.Since
		}
	}
	return all
}
