package catalog

import (
	"sync"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// parsed is what the items of a server's lists become, before they are compared
// with those of other servers. Every snapshot uses it again, so reading schemas
// and texts costs once for each list, not once for each change of any list.
type parsed struct {
	once      sync.Once
	tools     []outcome[*Tool]
	names     []string // of the tools, as their server calls them
	prompts   []outcome[*Prompt]
	resources []outcome[*Item]
	templates []outcome[*Template]
}

// An outcome is an item, or nil and why it is left out.
type outcome[T any] struct {
	item T
	name string // of a tool, as its server calls it
	why  Note
}

// parse returns what the items of the lists become. Nothing of it is changed
// afterwards.
func (l *lists) parse(s *Server) *parsed {
	p := &l.parsed
	p.once.Do(func() {
		for _, raw := range l.Tools.Items {
			t, why := newTool(s, raw, l.modern)
			name, named := mcp.TextMember(raw, "name")
			if named {
				p.names = append(p.names, name)
			}
			p.tools = append(p.tools, outcome[*Tool]{t, name, why})
		}
		for _, raw := range l.Prompts.Items {
			pr, why := newPrompt(s, raw)
			p.prompts = append(p.prompts, outcome[*Prompt]{item: pr, why: Note{Text: why}})
		}
		for _, raw := range l.Resources.Items {
			it, why := newItem(s, resourceKind, "uri", raw)
			p.resources = append(p.resources, outcome[*Item]{item: &it, why: Note{Text: why}})
		}
		p.parseTemplates(s, l.Templates.Items)
	})
	return p
}

// parseTemplates reads templates, of which a limited number is matched.
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

// warnedSchemas bounds the tools whose schemas one change of a list warns of.
const warnedSchemas = 10

// warnRefused writes to the log which tools of a server have schemas that are
// refused.
func (c *Catalog) warnRefused(s *Server, l *lists) {
	n := 0
	for _, o := range l.parse(s).tools {
		if o.item == nil || o.item.Refused.any() == "" {
			continue
		}
		if n++; n <= warnedSchemas {
			c.log.Warn("a tool's schema is refused", "server", s.Name, "tool", o.item.Name, "error", o.item.Refused.any())
		}
	}
	if n > warnedSchemas {
		c.log.Warn("more schemas of a server are refused", "server", s.Name, "tools", n-warnedSchemas)
	}
}
