package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Snapshot is an immutable catalog at one moment. Its lists are in the order
// of the configuration and, within a server, in the server's own.
type Snapshot struct {
	Tools     []*Tool
	Resources []*Item
	Templates []*Template
	Prompts   []*Prompt

	// Notes are what people should know about the lists: items left out,
	// names that two servers claim.
	Notes []Note

	tools     map[string]*Tool   // by exposed name
	own       map[pair]*Tool     // by server and name
	prompts   map[string]*Prompt // by exposed name
	ownPrompt map[pair]*Prompt   // by server and name
	resources map[string]*Item   // by URI, of the first server that lists it

	templates map[string]*Template // by text, of the first server that lists it

	ownResources map[pair]bool   // by server and URI
	ownTemplates map[pair]bool   // by server and text
	servers      map[string]bool // of the configuration

	prefixes map[string]string // of the configuration, to the server
	claims   map[pair]string   // names that views give, by server, to the tool
	leftOut  map[pair]Note     // tools that are not offered; see LeftOut
}

type pair struct{ server, name string }

// A Note is about one server's list. One with a place is about what the
// configuration says of the server, and is probably a mistake there.
type Note struct {
	Server, Text string
	At           string // file:line:column, or empty
	Hint         string
	Refused      bool // the tool it is about is not offered because of that
}

// String is the note in one line, without the server.
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

// Tool returns the tool that clients call by this name.
func (s *Snapshot) Tool(exposed string) (*Tool, bool) {
	t, ok := s.tools[exposed]
	return t, ok
}

// OwnTool returns a tool by its server and its own name.
func (s *Snapshot) OwnTool(server, name string) (*Tool, bool) {
	t, ok := s.own[pair{server, name}]
	return t, ok
}

// Prompt returns the prompt that clients call by this name.
func (s *Snapshot) Prompt(exposed string) (*Prompt, bool) {
	p, ok := s.prompts[exposed]
	return p, ok
}

// OwnPrompt returns a prompt by its server and its own name.
func (s *Snapshot) OwnPrompt(server, name string) (*Prompt, bool) {
	p, ok := s.ownPrompt[pair{server, name}]
	return p, ok
}

// build makes a snapshot of what is known of each server.
func build(servers []*Server, lists map[string]*lists) *Snapshot {
	s := &Snapshot{
		tools: map[string]*Tool{}, own: map[pair]*Tool{}, prompts: map[string]*Prompt{},
		ownPrompt: map[pair]*Prompt{}, resources: map[string]*Item{}, templates: map[string]*Template{},
		ownResources: map[pair]bool{}, ownTemplates: map[pair]bool{}, servers: map[string]bool{}, prefixes: map[string]string{}, claims: map[pair]string{},
		leftOut: map[pair]Note{},
	}
	for _, server := range servers {
		s.servers[server.Name] = true
		if server.Prefix != "" {
			s.prefixes[server.Prefix] = server.Name
		}
		for _, name := range sortedNames(server.Views) {
			v := server.Views[name]
			claim := pair{server.Name, Expose(server.Prefix, server.Name, v.Name)}
			if _, taken := s.claims[claim]; v.Name != "" && !v.Hidden && !taken {
				s.claims[claim] = name
			}
		}
	}
	for _, server := range servers {
		if l := lists[server.Name]; l != nil {
			before := len(s.Tools)
			s.addTools(server, l)
			if text := CostNote(s.Tools[before:]); text != "" {
				s.note(server, "%s", text)
			}
			s.addPrompts(server, l)
			s.addResources(server, l)
			s.addTemplates(server, l)
			s.degraded(server, l)
			s.unmatched(server, l)
		}
	}
	return s
}

// degraded notes which lists are not whole. One reason is told once, for all lists
// that have it.
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
			s.note(server, "its lists of %s and %s are not whole: %s", strings.Join(which[:last], ", "), which[last], why)
		} else {
			s.note(server, "its list of %s is not whole: %s", which[0], why)
		}
	}
}

func (s *Snapshot) note(server *Server, format string, args ...any) {
	s.Notes = append(s.Notes, Note{Server: server.Name, Text: fmt.Sprintf(format, args...)})
}

// doubt notes that what the configuration says at a place does not fit the
// server.
func (s *Snapshot) doubt(server *Server, at, hint, format string, args ...any) {
	s.Notes = append(s.Notes, Note{Server: server.Name, Text: fmt.Sprintf(format, args...), At: at, Hint: hint})
}

func (s *Snapshot) addTools(server *Server, l *lists) {
	for _, o := range l.parse(server).tools {
		t := o.item
		if t == nil {
			s.leaveOut(server, o.name, o.why)
			continue
		}
		if s.own[pair{server.Name, t.Name}] != nil {
			s.note(server, "tool %q stands in its list twice; the first one counts", t.Name)
			continue
		}
		s.own[pair{server.Name, t.Name}] = t
		for _, remark := range t.remarks {
			s.doubt(server, remark.At, remark.Hint, "%s", remark.Text)
		}
		if owner, ok := s.claims[pair{server.Name, t.Exposed}]; ok && owner != t.Name {
			s.note(server, "tool %q is hidden by a view, at %s, which gives its name to %q", t.Name, server.Views[owner].At, owner)
			continue
		}
		if other, ok := s.foreign(server, t.Exposed); ok {
			s.note(server, "tool %q is left out: such names belong to server %q; set a prefix", t.Exposed, other)
			continue
		}
		if other := s.tools[t.Exposed]; other != nil {
			s.note(server, "tool %q is hidden by the one of server %q; set a prefix", t.Exposed, other.Server)
			continue
		}
		s.tools[t.Exposed] = t
		s.Tools = append(s.Tools, t)
	}
}

// leaveOut takes note of a tool that is not offered, and why; without a text it
// is hidden on purpose.
func (s *Snapshot) leaveOut(server *Server, name string, why Note) {
	if why.Text == "" {
		return
	}
	why.Server = server.Name
	s.Notes = append(s.Notes, why)
	shown := name
	if v := server.Views[name]; v != nil && v.Name != "" {
		shown = v.Name
	}
	for _, key := range []pair{{server.Name, name}, {"", Expose(server.Prefix, server.Name, shown)}} {
		if _, taken := s.leftOut[key]; !taken {
			s.leftOut[key] = why
		}
	}
}

// LeftOut returns why a tool is not offered, by its server and its own name or,
// with an empty server, by the name that clients would call it by.
func (s *Snapshot) LeftOut(server, name string) (Note, bool) {
	why, ok := s.leftOut[pair{server, name}]
	return why, ok
}

// foreign returns the server whose prefix a name begins with that has none of
// its own. It would otherwise depend on whose lists arrive first which of two
// servers a client calls.
func (s *Snapshot) foreign(server *Server, exposed string) (string, bool) {
	prefix, _, ok := strings.Cut(exposed, separator)
	if server.Prefix != "" || !ok {
		return "", false
	}
	other, ok := s.prefixes[prefix]
	return other, ok
}

func (s *Snapshot) addPrompts(server *Server, l *lists) {
	for _, o := range l.parse(server).prompts {
		p := o.item
		if p == nil {
			s.note(server, "%s", o.why.Text)
			continue
		}
		if s.ownPrompt[pair{server.Name, p.Name}] != nil {
			s.note(server, "prompt %q stands in its list twice; the first one counts", p.Name)
			continue
		}
		s.ownPrompt[pair{server.Name, p.Name}] = p
		if other, ok := s.foreign(server, p.Exposed); ok {
			s.note(server, "prompt %q is left out: such names belong to server %q; set a prefix", p.Exposed, other)
			continue
		}
		if other := s.prompts[p.Exposed]; other != nil {
			s.note(server, "prompt %q is hidden by the one of server %q; set a prefix", p.Exposed, other.Server)
			continue
		}
		s.prompts[p.Exposed] = p
		s.Prompts = append(s.Prompts, p)
	}
}

// Names lists what can be asked for, for suggestions.
func (s *Snapshot) Names() []string { return slices.Sorted(maps.Keys(s.tools)) }

func sortedNames[V any](m map[string]V) []string {
	return slices.SortedFunc(maps.Keys(m), strings.Compare)
}
