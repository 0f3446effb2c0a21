package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// Pins decide which tools of a server are held back, because they are not what was accepted.
// The methods may be called concurrently.
type Pins interface {
	// Digests returns the digests that were accepted, by tool. The map must not be changed.
	Digests() map[string]string
	// Strict reports whether a tool without an accepted digest is held back.
	Strict() bool
	// Seen is told the definitions in an answer of the server, by name, before clients see
	// them. It may wait for a file.
	Seen(definitions map[string][]byte)
}

// A Held is a tool that is held back: it is not listed, and calls are refused.
type Held struct {
	Tool       string // its name on the server
	Pinned     string // the digest that was accepted; empty for a new tool
	Digest     string // of the definition
	Definition []byte // JSON of the server
}

// DefinitionDigest returns the SHA-256 of a tool's definition, in hexadecimal digits. The order
// of its members and white space do not change it.
func DefinitionDigest(definition []byte) string {
	sum := sha256.Sum256(mcp.Canonical(definition))
	return hex.EncodeToString(sum[:])
}

// hold returns the tool as it is held back, or nil if clients may see it. pinned is the digest
// that was accepted, or "".
func (s *Server) hold(name string, raw []byte, pinned string) *Held {
	if s.Pins == nil || nameProblem(name) != "" { // it is left out anyway
		return nil
	}
	if pinned == "" && !s.Pins.Strict() {
		return nil
	}
	digest := DefinitionDigest(raw)
	if digest == pinned {
		return nil
	}
	return &Held{Tool: name, Pinned: pinned, Digest: digest, Definition: raw}
}

// digests returns the digests that were accepted for the tools of a server.
func (s *Server) digests() map[string]string {
	if s.Pins == nil {
		return nil
	}
	return s.Pins.Digests()
}

// longNames returns the pinned tools that clients know by a name with a hash, by that name. The
// server could give that name to another tool.
func (s *Server) longNames(digests map[string]string) map[string]string {
	all := map[string]string{}
	for name := range digests {
		plain := name
		if s.Prefix != "" {
			plain = s.Prefix + separator + name
		}
		if v := s.Views[name]; v != nil && v.Name != "" {
			continue // the view owns the name
		}
		if exposed := Expose(s.Prefix, s.Name, name); exposed != plain {
			all[exposed] = name
		}
	}
	return all
}

// note says why a tool is held back.
func (h *Held) note(server string) Note {
	why := "its definition changed since it was accepted"
	if h.Pinned == "" {
		why = "its definition was not accepted yet"
	}
	hint := fmt.Sprintf("run `junctor diff %s`, then `junctor lock --accept %s/%s`", server, server, h.Tool)
	if !legalName.MatchString(h.Tool) { // a shell would read it in another way
		hint = fmt.Sprintf("run `junctor diff %s`", server)
	}
	return Note{Text: fmt.Sprintf("tool %.64q is held back: %s", h.Tool, why), Held: true, Tool: h.Tool, Hint: hint}
}

// heldNote is the note about the tools of a server that are held back. There is one, however many
// they are.
func heldNote(server string, held []Held) (Note, bool) {
	var names []string
	for _, h := range held {
		names = append(names, h.Tool)
	}
	switch len(held) {
	case 0:
		return Note{}, false
	case 1:
		n := held[0].note(server)
		n.Server = server
		return n, true
	}
	return Note{
		Server: server, Text: fmt.Sprintf("%d tools are held back, because their definitions were not accepted: %s", len(held), strings.Join(shortenList(names), ", ")),
		Hint: fmt.Sprintf("run `junctor diff %s`, then `junctor lock --accept %s`", server, server),
	}, true
}

// Held returns the tools of a server that are held back, sorted by name. known is false if the
// lists of the server are not known.
func (c *Catalog) Held(server string) (held []Held, known bool) {
	c.mu.Lock()
	s, l := c.server(server), c.lists[server]
	c.mu.Unlock()
	if s == nil || l == nil {
		return nil, false
	}
	if s.Pins == nil {
		return nil, true
	}
	held = slices.Clone(l.parse(s).held)
	slices.SortStableFunc(held, func(a, b Held) int { return strings.Compare(a.Tool, b.Tool) })
	return held, true
}

// EnsurePinned makes sure before a call that the tools of a server were compared with its pins:
// lists may come from disk, or from a process of the server that has ended. shared reports whether
// the call uses the connection of the catalog. pinned is false for a server without pins.
func (c *Catalog) EnsurePinned(ctx context.Context, server string, shared bool) (pinned bool, err error) {
	c.mu.Lock()
	s, l := c.server(server), c.lists[server]
	c.mu.Unlock()
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

// Definitions returns the definitions of a server's tools as the server sent them, by name.
func (c *Catalog) Definitions(server string) map[string][]byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.lists[server]; l != nil {
		return byName(l.Tools.Items)
	}
	return nil
}

// Recheck compares the tools of a server with its pins again, which have changed. The pins are
// told again what the server answered: some tools may have no digest any more.
func (c *Catalog) Recheck(server string) {
	if held, known := c.Held(server); known {
		c.recheck(server, held)
	}
}

// recheck is Recheck; was are the tools that were held back before.
func (c *Catalog) recheck(server string, was []Held) {
	c.mu.Lock()
	s, l := c.server(server), c.lists[server]
	c.mu.Unlock()
	if s == nil || l == nil {
		return
	}
	if l.fresh {
		s.tellPins(&l.Tools)
	}
	c.rebuild(server)
	if held, _ := c.Held(server); !s.preliminary(&l.Tools) {
		if names := newlyHeld(was, held); len(names) > 0 {
			c.tellChange(ToolsChange{Server: server, Held: names})
		}
	}
}

// rebuild publishes the tools of a server as its pins are now.
func (c *Catalog) rebuild(server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.republish(server)
}

// republish parses the lists of a server again. The caller holds mu.
func (c *Catalog) republish(server string) {
	l := c.lists[server]
	if l == nil || c.server(server) == nil {
		return
	}
	before := c.snapshot.Load()
	c.lists[server] = l.unparsed()
	after := build(c.servers, c.lists)
	c.show(after, after.changes(before))
}

// preliminary reports whether definitions in a list may change without a change of the server: a
// wrapped program is still being inspected. What any other server says about that does not count.
func (s *Server) preliminary(l *upstream.Listing) bool { return l.Unfinished != nil && s.Access != "" }

// tellPins tells the pins of a server which tools clients will see. A list that failed counts too:
// its first pages are offered, and a server could fail the last one forever.
func (s *Server) tellPins(l *upstream.Listing) {
	if s.Pins == nil || s.preliminary(l) {
		return
	}
	all := byName(l.Items)
	maps.DeleteFunc(all, func(name string, _ []byte) bool { return nameProblem(name) != "" })
	s.Pins.Seen(all)
}

// pinned reports whether the server that has the upstream of s now has pins.
func (c *Catalog) pinned(s *Server) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.server(s.Name)
	return now != nil && now.Upstream == s.Upstream && now.Pins != nil
}

// heldChanged reports whether other tools are held back than in later lists with the same items.
func (l *lists) heldChanged(later *lists, s *Server) bool {
	if l == nil || s.Pins == nil {
		return false
	}
	return !slices.EqualFunc(l.parse(s).held, later.parse(s).held, func(a, b Held) bool { return a.Tool == b.Tool && a.Digest == b.Digest })
}

// newlyHeld returns the names of the tools that are held back, and were not before.
func newlyHeld(before, now []Held) (names []string) {
	was := map[string]string{}
	for _, h := range before {
		was[h.Tool] = h.Digest
	}
	for _, h := range now {
		if was[h.Tool] != h.Digest {
			names = append(names, h.Tool)
		}
	}
	return names
}
