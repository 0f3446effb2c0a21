package catalog

import (
	"fmt"
	"sync"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/shape"
)

// parsed holds the parsed items of a server, before names are compared across servers.
// All snapshots share it, so a list is parsed once and not for every change. lists.parse fills
// it once, for any number of goroutines.
type parsed struct {
	once      sync.Once
	tools     []outcome[*Tool]
	held      []Held
	names     []string // the server's names of its tools
	prompts   []outcome[*Prompt]
	resources []outcome[*Item]
	templates []outcome[*Template]
}

// An outcome is an item, or nil with the reason for its omission.
type outcome[T any] struct {
	item T
	name string // the server's name of a tool
	why  Note
}

// parse returns the parsed items, which are immutable.
func (l *lists) parse(s *Server) *parsed {
	p := &l.parsed
	p.once.Do(func() {
		p.parseTools(s, l)
		for _, raw := range l.Prompts.Items {
			pr, why := newPrompt(s, raw)
			p.prompts = append(p.prompts, outcome[*Prompt]{item: pr, why: Note{Text: why}})
		}
		for _, raw := range l.Resources.Items {
			it, why := newItem(s, resourceKind, "uri", raw)
			it.normal = shape.NormalURI(it.Name)
			p.resources = append(p.resources, outcome[*Item]{item: &it, why: Note{Text: why}})
		}
		p.parseTemplates(s, l.Templates.Items)
	})
	return p
}

// parseTools parses tools. Of a server with pins, the first tool of a name is the only one: another
// one must not be offered when the first is held back. For the same reason no tool gets the name
// that clients know a pinned tool by.
func (p *parsed) parseTools(s *Server, l *lists) {
	seen, digests := map[string]bool{}, s.digests()
	long := s.longNames(digests)
	for _, raw := range l.Tools.Items {
		t, why := newTool(s, raw, l.modern)
		name, named := mcp.TextMember(raw, "name")
		if named {
			p.names = append(p.names, name)
		}
		switch held := s.hold(name, raw, digests[name]); {
		case s.Pins != nil && seen[name] && (t != nil || why.Text != ""):
			t, why = nil, Note{Text: listedTwice(name)}
		case t != nil && long[t.Exposed] != "" && long[t.Exposed] != name:
			t, why = nil,
				Note{Text: fmt.Sprintf("tool %.64q is left out: clients know tool %.64q by that name, which is pinned",
					name, long[t.Exposed])}
		case held != nil && (t != nil || why.Text != ""): // a hidden tool stays hidden
			p.held = append(p.held, *held)
			t, why = nil, held.note(s.Name)
		}
		seen[name] = true
		p.tools = append(p.tools, outcome[*Tool]{t, name, why})
	}
}

func listedTwice(name string) string {
	return fmt.Sprintf("tool %q is listed twice; the first entry is used", name)
}

// parseTemplates parses templates. Only the first maxMatched of them match URIs.
func (p *parsed) parseTemplates(s *Server, items [][]byte) {
	matched := 0
	for _, raw := range items {
		t, why := newTemplate(s, raw)
		if t != nil && t.match != nil {
			if matched++; matched > maxMatched {
				t.match = nil
			}
		}
		p.templates = append(p.templates, outcome[*Template]{item: t, why: Note{Text: why}})
	}
}
