package catalog

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/shape"
)

// Every resource has a qualified URI that names its server: junctor://SERVER/ and the
// percent-encoded URI of the server. Lists use it if an earlier server in the
// configuration offers the same URI.

const qualifiedPrefix = "junctor://"

// A Location identifies a resource by its server and the server's URI. It is a value. Clients
// keep the URI that Qualify makes, so its form must stay.
type Location struct{ Server, URI string }

// Qualify returns the qualified URI of a resource.
func (l Location) Qualify() string {
	const digits = "0123456789ABCDEF"
	b := make([]byte, 0, len(qualifiedPrefix)+len(l.Server)+1+3*len(l.URI))
	b = append(append(append(b, qualifiedPrefix...), l.Server...), '/')
	for i := range len(l.URI) {
		switch c := l.URI[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~':
			b = append(b, c)
		default:
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(b)
}

// ClientURI returns the URI under which a client knows another resource of the server,
// if the client used the URI asked for the resource at l. A server may spell the resource
// at l in another way too.
func (l Location) ClientURI(uri, asked string) string {
	switch _, qualified := Unqualify(asked); {
	case asked == l.URI:
		return uri
	case uri == l.URI || Same(uri, l.URI):
		return asked
	case !qualified:
		return uri
	}
	return Location{Server: l.Server, URI: uri}.Qualify()
}

// Same reports whether two URIs are spellings of one.
func Same(a, b string) bool {
	return a == b || len(a) <= maxURI && len(b) <= maxURI && shape.NormalURI(a) == shape.NormalURI(b)
}

// Unqualify splits a qualified URI. The server's URI may be unencoded if it contains a
// colon, so that templates can be qualified.
func Unqualify(uri string) (l Location, ok bool) {
	rest, ok := strings.CutPrefix(uri, qualifiedPrefix)
	if !ok || len(uri) > maxQualified {
		return l, false
	}
	server, own, ok := strings.Cut(rest, "/")
	if !ok || server == "" || own == "" {
		return l, false
	}
	if !strings.Contains(own, ":") {
		decoded, err := url.PathUnescape(own)
		if err != nil || !utf8.ValidString(decoded) {
			return l, false
		}
		own = decoded
	}
	return Location{server, own}, len(own) <= maxURI
}

// maxQualified is the maximum size of a qualified URI, in bytes. Percent-encoding can
// triple the size.
const maxQualified = 3*maxURI + 256

// Locate returns the location of a URI. A plain URI belongs to the first server that
// lists it, or else to the first server with a matching template. If there is none, another
// spelling of the URI counts. The location has the server's spelling. listed is false if no
// server lists the URI, or not the server that the URI names.
func (s *Snapshot) Locate(uri string) (l Location, listed bool) {
	if l, ok := Unqualify(uri); ok && s.servers[l.Server] {
		return s.Listed(l)
	}
	if it := s.resources[uri]; it != nil {
		return Location{it.Server, it.Name}, true
	}
	respelt := newSpellings(uri)
	if it := s.normal[respelt.normal]; it != nil {
		return Location{it.Server, it.Name}, true
	}
	return s.expansion(uri, respelt, func(*Template) bool { return true })
}

// Listed returns the location of a resource of a server in the server's spelling. listed is
// false if the server has neither the resource nor a matching template; then it returns l.
func (s *Snapshot) Listed(l Location) (_ Location, listed bool) {
	if s.Exact(l) {
		return l, true
	}
	respelt := newSpellings(l.URI)
	if it := s.ownNormal[itemKey{l.Server, respelt.normal}]; it != nil {
		return Location{l.Server, it.Name}, true
	}
	at, listed := s.expansion(l.URI, respelt, func(t *Template) bool { return t.Server == l.Server })
	if !listed {
		return l, false
	}
	return at, true
}

// expansion returns the location of an expansion of the first template that matches it, or
// else one of its spellings. of selects templates.
func (s *Snapshot) expansion(uri string, respelt *spellings, of func(*Template) bool) (Location, bool) {
	for _, t := range s.Templates {
		if of(t) && t.Matches(uri) {
			return Location{t.Server, uri}, true
		}
	}
	for _, t := range s.Templates {
		if !of(t) {
			continue
		}
		if own, ok := t.respell(respelt); ok {
			return Location{t.Server, own}, true
		}
	}
	return Location{}, false
}

// Exact reports whether the server lists this URI itself, and not only a template.
func (s *Snapshot) Exact(l Location) bool { return s.ownResources[itemKey{l.Server, l.URI}] }

// Template returns the template with exactly this text, plain or qualified, or else the
// first with another spelling of it.
func (s *Snapshot) Template(text string) (*Template, bool) {
	of, qualified := Unqualify(text)
	i := slices.IndexFunc(s.Templates, func(t *Template) bool {
		return t.Exposed == text || qualified && t.Server == of.Server && t.Name == of.URI
	})
	if i < 0 && len(text) <= maxQualified {
		plain, own := shape.NormalURI(text), shape.NormalURI(of.URI)
		i = slices.IndexFunc(s.Templates, func(t *Template) bool {
			return t.Exposed == t.Name && t.normal == plain || qualified && t.Server == of.Server && t.normal == own
		})
	}
	if i < 0 {
		return nil, false
	}
	return s.Templates[i], true
}

// addResources adds the resources of a server. build calls it and addTemplates, before the
// snapshot is shared.
func (s *Snapshot) addResources(server *Server, l *lists) {
	for _, o := range l.parse(server).resources {
		it, own := o.item, itemKey{server.Name, o.item.Name}
		switch {
		case o.why.Text != "":
			s.note(server, "%s", o.why.Text)
			continue
		case s.ownResources[own]:
			s.note(server, "resource %s is listed twice; the first entry is used", it.Name)
			continue
		}
		s.ownResources[own] = true
		if other := (itemKey{server.Name, it.normal}); s.ownNormal[other] == nil {
			s.ownNormal[other] = it
		}
		other, plain := s.resources[it.Name], shape.Absolute(it.Name) && !strings.HasPrefix(it.Name, qualifiedPrefix)
		if other != nil || !plain {
			it = it.qualified("uri", Location{it.Server, it.Name}.Qualify())
		}
		if other != nil {
			s.noteResource(server, "resource %s is offered as %s: server %q lists it first",
				it.Name, it.Exposed, other.Server)
		} else if !strings.HasPrefix(it.Name, qualifiedPrefix) {
			s.resources[it.Name] = it
			if s.normal[it.normal] == nil && !strings.HasPrefix(it.normal, qualifiedPrefix) {
				s.normal[it.normal] = it
			}
		}
		s.Resources = append(s.Resources, it)
	}
}

// addTemplates adds the resource templates of a server.
func (s *Snapshot) addTemplates(server *Server, l *lists) {
	for _, o := range l.parse(server).templates {
		t := o.item
		if t == nil {
			s.note(server, "%s", o.why.Text)
			continue
		}
		switch first, own := s.templates[t.Name], (itemKey{server.Name, t.Name}); {
		case s.ownTemplates[own]:
			s.note(server, "resource template %s is listed twice; the first entry is used", t.Name)
			continue
		case first != nil:
			other := *t
			// Unencoded, because clients expand variables with encoded values.
			other.Item = *t.qualified("uriTemplate", qualifiedPrefix+server.Name+"/"+t.Name)
			s.noteResource(server, "resource template %s is offered as %s: server %q lists it first",
				t.Name, other.Exposed, first.Server)
			t = &other
		default:
			s.templates[t.Name] = t
		}
		s.ownTemplates[itemKey{server.Name, t.Name}] = true
		s.Templates = append(s.Templates, t)
	}
}

// qualified returns a copy of the item with another URI in the member id.
func (it *Item) qualified(id, uri string) *Item {
	other := *it
	other.Exposed = uri
	other.Raw = mcp.SetMember(it.Raw, id, mcp.AppendText(nil, uri))
	return &other
}
