package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// Pins decide which tools of a server are held back, because they are not what was accepted.
// The methods may be called concurrently. Package pins implements it.
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
// of its members and white space do not change it. Lock files have it, so it must not change
// for the same definition.
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
		Server: server, Text: fmt.Sprintf("%d tools are held back, because their definitions were not accepted: %s",
			len(held), strings.Join(shortenList(names), ", ")),
		Hint: fmt.Sprintf("run `junctor diff %s`, then `junctor lock --accept %s`", server, server),
	}, true
}

// preliminary reports whether definitions in a list may change without a change of the server: a
// wrapped program is still being inspected. What any other server says about that does not count.
func (s *Server) preliminary(l *upstream.Listing) bool { return l.Unfinished != nil && s.Access != "" }

// tellPins tells the pins of a server which tools clients will see. A list that failed counts too:
// its first pages are offered, and a server could fail the last one forever. It may wait for a
// file, so it must not be called with a lock held.
func (s *Server) tellPins(l *upstream.Listing) {
	if s.Pins == nil || s.preliminary(l) {
		return
	}
	all := byName(l.Items)
	maps.DeleteFunc(all, func(name string, _ []byte) bool { return nameProblem(name) != "" })
	s.Pins.Seen(all)
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
