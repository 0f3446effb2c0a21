package catalog

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Snapshot is an immutable catalog. Its lists follow the order of the configuration
// and, within a server, the server's order. build makes it; the methods that add to it are
// called only there, before it is shared.
type Snapshot struct {
	Tools     []*Tool
	Resources []*Item
	Templates []*Template
	Prompts   []*Prompt

	// Notes explain omitted items and conflicting names.
	Notes []Note

	// versions number the lists of each kind; see Version.
	versions map[upstream.ListKind]uint64

	// Removals is the highest number of the removals that the tools have.
	Removals uint64

	tools     map[string]*Tool    // by exposed name
	own       map[itemKey]*Tool   // by server and name
	prompts   map[string]*Prompt  // by exposed name
	ownPrompt map[itemKey]*Prompt // by server and name
	resources map[string]*Item    // by URI; the first server wins
	normal    map[string]*Item    // by normal form of the URI; the first resource wins

	templates map[string]*Template // by text; the first server wins

	ownResources map[itemKey]bool  // by server and URI
	ownNormal    map[itemKey]*Item // by server and normal form of the URI; the first resource wins
	ownTemplates map[itemKey]bool  // by server and text
	servers      map[string]bool   // servers of the configuration

	prefixes map[string]string  // prefix to server
	claims   map[itemKey]string // server and exposed name of a view, to the tool's own name
	omitted  map[itemKey]Note   // omitted tools; see Omitted
}

type itemKey struct{ server, name string }

// A Note is a remark about a server's lists. A note with At concerns the server's
// configuration, which is probably wrong. It is a value, and a key of maps.
type Note struct {
	Server, Text string
	At           string // file:line:column, or empty
	Hint         string
	Refused      bool   // the tool of the note is omitted because of it
	Held         bool   // the tool of the note is held back; see Held
	Tool         string // the server's name of the tool that is held back
	Resources    bool   // it is about resources or their templates
}

// String returns the note as one line, without the server.
func (n Note) String() string {
	text := n.Text
	if n.At != "" {
		text += ", at " + n.At
	}
	if n.Hint != "" {
		text += "; " + n.Hint
	}
	return text
}

// Version returns the number of the lists of a kind. A later snapshot has the same number if its
// lists are the same.
func (s *Snapshot) Version(k upstream.ListKind) uint64 { return s.versions[k] }

// Tool returns the tool with the given exposed name.
func (s *Snapshot) Tool(exposed string) (*Tool, bool) {
	t, ok := s.tools[exposed]
	return t, ok
}

// OwnTool returns the tool with the given server and own name.
func (s *Snapshot) OwnTool(server, name string) (*Tool, bool) {
	t, ok := s.own[itemKey{server, name}]
	return t, ok
}

// Prompt returns the prompt with the given exposed name.
func (s *Snapshot) Prompt(exposed string) (*Prompt, bool) {
	p, ok := s.prompts[exposed]
	return p, ok
}

// OwnPrompt returns the prompt with the given server and own name.
func (s *Snapshot) OwnPrompt(server, name string) (*Prompt, bool) {
	p, ok := s.ownPrompt[itemKey{server, name}]
	return p, ok
}

// build creates a snapshot of the known lists.
func build(servers []*Server, lists map[string]*lists) *Snapshot {
	s := &Snapshot{
		versions: map[upstream.ListKind]uint64{},
		tools:    map[string]*Tool{}, own: map[itemKey]*Tool{}, prompts: map[string]*Prompt{},
		ownPrompt: map[itemKey]*Prompt{}, resources: map[string]*Item{}, templates: map[string]*Template{},
		normal: map[string]*Item{}, ownNormal: map[itemKey]*Item{},
		ownResources: map[itemKey]bool{}, ownTemplates: map[itemKey]bool{}, servers: map[string]bool{},
		prefixes: map[string]string{}, claims: map[itemKey]string{},
		omitted: map[itemKey]Note{},
	}
	for _, server := range servers {
		s.servers[server.Name] = true
		if server.Prefix != "" {
			s.prefixes[server.Prefix] = server.Name
		}
		for _, name := range sortedNames(server.Views) {
			v := server.Views[name]
			claim := itemKey{server.Name, Expose(server.Prefix, server.Name, v.Name)}
			if _, taken := s.claims[claim]; v.Name != "" && !v.Hidden && !taken {
				s.claims[claim] = name
			}
		}
	}
	for _, server := range servers {
		if l := lists[server.Name]; l != nil {
			before := len(s.Tools)
			s.addTools(server, l)
			if n, some := heldNote(server.Name, l.parse(server).held); some {
				s.Notes = append(s.Notes, n)
			}
			if text := CostNote(s.Tools[before:]); text != "" {
				s.note(server, "%s", text)
			}
			s.addPrompts(server, l)
			s.addResources(server, l)
			s.addTemplates(server, l)
			if text := correctionsNote(l.parse(server)); text != "" {
				s.note(server, "%s", text)
			}
			s.degraded(server, l)
			s.noteEmpty(server, l)
			s.unmatched(server, l)
		}
	}
	s.countRemovals()
	return s
}

// noteEmpty adds a note about a server that offers nothing, which is hardly meant. Where
// the configuration names tools, unmatched says so.
func (s *Snapshot) noteEmpty(server *Server, l *lists) {
	if len(server.Patterns)+len(server.Views) > 0 {
		return
	}
	for _, k := range kinds {
		if list := k.of(l); len(list.Items) > 0 || list.Degraded != "" || list.Failed != nil || list.Unfinished != nil {
			return
		}
	}
	s.note(server,
		"the server offers nothing: it declares no tools, resources or prompts, or its lists of them are empty")
}

// degraded adds notes about incomplete lists. Lists with the same reason share a note.
func (s *Snapshot) degraded(server *Server, l *lists) {
	var reasons []string
	names := map[string][]string{}
	for _, k := range kinds {
		why := k.of(l).Degraded
		if why == "" {
			continue
		}
		if names[why] == nil {
			reasons = append(reasons, why)
		}
		names[why] = append(names[why], k.name)
	}
	for _, why := range reasons {
		which := names[why]
		if last := len(which) - 1; last > 0 {
			s.note(server, "its lists of %s and %s are incomplete: %s",
				strings.Join(which[:last], ", "), which[last], why)
		} else {
			s.note(server, "its list of %s is incomplete: %s", which[0], why)
		}
	}
}

// note adds a note about a server.
func (s *Snapshot) note(server *Server, format string, args ...any) {
	s.Notes = append(s.Notes, Note{Server: server.Name, Text: fmt.Sprintf(format, args...)})
}

// noteResource adds a note about a resource or a template of a server.
func (s *Snapshot) noteResource(server *Server, format string, args ...any) {
	s.note(server, format, args...)
	s.Notes[len(s.Notes)-1].Resources = true
}

// noteConfig adds a note about a position in the configuration that does not match the
// server.
func (s *Snapshot) noteConfig(server *Server, at, hint, format string, args ...any) {
	s.Notes = append(s.Notes, Note{Server: server.Name, Text: fmt.Sprintf(format, args...), At: at, Hint: hint})
}

// addTools adds the tools of a server.
func (s *Snapshot) addTools(server *Server, l *lists) {
	for _, o := range l.parse(server).tools {
		t := o.item
		if t == nil {
			s.omit(server, o.name, o.why)
			continue
		}
		if s.own[itemKey{server.Name, t.Name}] != nil {
			s.note(server, "%s", listedTwice(t.Name))
			continue
		}
		s.own[itemKey{server.Name, t.Name}] = t
		for _, remark := range t.remarks {
			s.noteConfig(server, remark.At, remark.Hint, "%s", remark.Text)
		}
		if owner, ok := s.claims[itemKey{server.Name, t.Exposed}]; ok && owner != t.Name {
			s.note(server, "tool %q is hidden by the view at %s, which gives its name to %q",
				t.Name, server.Views[owner].At, owner)
			continue
		}
		if other, ok := s.prefixOwner(server, t.Exposed); ok {
			s.note(server, "tool %q is left out: its name has the prefix of server %q; set a prefix", t.Exposed, other)
			continue
		}
		if held := s.omitted[itemKey{"", t.Exposed}]; held.Held && held.Server != server.Name {
			// Clients know the name as that of the tool which is held back.
			s.note(server, "tool %q is hidden by the same name of server %q, whose tool is held back; set a prefix",
				t.Exposed, held.Server)
			continue
		}
		if other := s.tools[t.Exposed]; other != nil {
			s.note(server, "tool %q is hidden by the same name of server %q; set a prefix", t.Exposed, other.Server)
			continue
		}
		s.tools[t.Exposed] = t
		s.Tools = append(s.Tools, t)
	}
}

// omit records an omitted tool and the reason. An empty reason means that the
// configuration hides the tool.
func (s *Snapshot) omit(server *Server, name string, why Note) {
	if why.Text == "" {
		return
	}
	why.Server = server.Name
	if !why.Held { // heldNote is about all of them
		s.Notes = append(s.Notes, why)
	}
	shown := name
	if v := server.Views[name]; v != nil && v.Name != "" {
		shown = v.Name
	}
	for _, key := range []itemKey{{server.Name, name}, {"", Expose(server.Prefix, server.Name, shown)}} {
		if before, taken := s.omitted[key]; !taken || why.Held && !before.Held {
			s.omitted[key] = why
		}
	}
}

// Omitted returns the reason why a tool is omitted. name is the tool's own name, or
// its exposed name if server is empty.
func (s *Snapshot) Omitted(server, name string) (Note, bool) {
	why, ok := s.omitted[itemKey{server, name}]
	return why, ok
}

// prefixOwner returns the server with a prefix that begins the exposed name of another,
// unprefixed server's item. Such an item is omitted, because otherwise the order in
// which lists arrive would decide which server a client calls.
func (s *Snapshot) prefixOwner(server *Server, exposed string) (string, bool) {
	prefix, _, ok := strings.Cut(exposed, separator)
	if server.Prefix != "" || !ok {
		return "", false
	}
	other, ok := s.prefixes[prefix]
	return other, ok
}

// addPrompts adds the prompts of a server.
func (s *Snapshot) addPrompts(server *Server, l *lists) {
	for _, o := range l.parse(server).prompts {
		p := o.item
		if p == nil {
			s.note(server, "%s", o.why.Text)
			continue
		}
		if s.ownPrompt[itemKey{server.Name, p.Name}] != nil {
			s.note(server, "prompt %q is listed twice; the first entry is used", p.Name)
			continue
		}
		s.ownPrompt[itemKey{server.Name, p.Name}] = p
		if other, ok := s.prefixOwner(server, p.Exposed); ok {
			s.note(server, "prompt %q is left out: its name has the prefix of server %q; set a prefix",
				p.Exposed, other)
			continue
		}
		if other := s.prompts[p.Exposed]; other != nil {
			s.note(server, "prompt %q is hidden by the same name of server %q; set a prefix", p.Exposed, other.Server)
			continue
		}
		s.prompts[p.Exposed] = p
		s.Prompts = append(s.Prompts, p)
	}
}

// Names returns the exposed names of all tools, sorted.
func (s *Snapshot) Names() []string { return slices.Sorted(maps.Keys(s.tools)) }

func sortedNames[V any](m map[string]V) []string {
	return slices.SortedFunc(maps.Keys(m), strings.Compare)
}

// changes returns the kinds of lists that clients see otherwise than before.
func (s *Snapshot) changes(before *Snapshot) (kinds []upstream.ListKind) {
	same := func(a, b *Item) bool { return a.Server == b.Server && bytes.Equal(a.Raw, b.Raw) }
	sameTool := func(a, b *Tool) bool { // its class decides who sees it
		return same(&a.Item, &b.Item) && a.Class.Kind == b.Class.Kind && a.Unconfigured == b.Unconfigured
	}
	if !slices.EqualFunc(s.Tools, before.Tools, sameTool) {
		kinds = append(kinds, upstream.Tools)
	}
	if !slices.EqualFunc(s.Resources, before.Resources, same) {
		kinds = append(kinds, upstream.Resources)
	}
	if !slices.EqualFunc(s.Templates, before.Templates, func(a, b *Template) bool { return same(&a.Item, &b.Item) }) {
		kinds = append(kinds, upstream.Templates)
	}
	if !slices.EqualFunc(s.Prompts, before.Prompts, func(a, b *Prompt) bool { return same(&a.Item, &b.Item) }) {
		kinds = append(kinds, upstream.Prompts)
	}
	return kinds
}
