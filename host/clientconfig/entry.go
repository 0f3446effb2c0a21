package clientconfig

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// serverOf reads an entry. c is the client, or nil.
func serverOf(name string, v any, c *Client) Server {
	members, ok := v.(map[string]any)
	if !ok {
		return Server{Name: name, Problem: "it is not an object"}
	}
	r := entryReader{members: maps.Clone(members), s: Server{Name: name}, client: c}
	r.lift("transport", "type") // of nexo
	for _, m := range Members {
		if m.read != nil {
			m.read(&r)
		}
	}
	for _, m := range Members {
		if m.Outcome == LeftOut {
			for _, name := range m.Names {
				delete(r.members, name)
			}
		}
	}
	s := r.s
	switch {
	case r.problem != "":
		return Server{Name: name, Problem: r.problem}
	case len(s.Command) == 0 && s.URL == "":
		return Server{Name: name, Problem: whyNone(members)}
	case len(s.Command) > 0 && s.URL != "":
		return Server{Name: name, Problem: "it has a command and a url, and only one of them can be meant"}
	}
	for member, v := range r.members {
		if v != nil {
			s.Ignored = append(s.Ignored, member)
		}
	}
	s.Ignored = append(s.Ignored, beside(members, s.URL != "")...)
	slices.Sort(s.Ignored)
	s.Ignored = slices.Compact(s.Ignored)
	return s
}

// An entryReader takes the members of an entry one after the other. Those that are left
// say something that it does not know. serverOf makes one for each entry.
type entryReader struct {
	members map[string]any
	s       Server
	client  *Client // nil: any
	problem string  // the first one

	streamable bool // the URL is that of streamable HTTP
}

// lift replaces a member that is an object by the members of the object. It does nothing for
// other values.
func (r *entryReader) lift(name, typical string) {
	inner, ok := r.members[name].(map[string]any)
	if !ok || inner[typical] == nil {
		return
	}
	delete(r.members, name)
	for k, v := range inner {
		if r.members[k] == nil {
			r.members[k] = v
		}
	}
}

// beside returns the members of an entry that say something only about the other kind of server.
func beside(members map[string]any, remote bool) (all []string) {
	for _, m := range Members {
		if m.of == ofAll || remote != (m.of == ofPrograms) {
			continue
		}
		for _, name := range m.Names {
			switch v := members[name].(type) {
			case nil:
				continue
			case string:
				if v == "" {
					continue
				}
			case []any:
				if len(v) == 0 {
					continue
				}
			case map[string]any:
				if len(v) == 0 {
					continue
				}
			}
			all = append(all, name)
		}
	}
	return all
}

// whyNone returns why an entry has neither a program nor a URL.
func whyNone(members map[string]any) string {
	for _, known := range []struct{ member, why string }{
		{"uses", "it is a block of the Continue hub, whose command is there"},
		{"settings", "an extension of Zed starts it; write its command here"},
		{"openapi", "agentgateway offers an HTTP API as its tools"},
		{"registry", "it is a name in a registry; add it with `junctor add`"},
	} {
		if members[known.member] != nil {
			return known.why
		}
	}
	return "it has neither a command nor a url"
}

func (r *entryReader) remark(format string, args ...any) {
	r.s.Notes = append(r.s.Notes, fmt.Sprintf(format, args...))
}

// ignore names a member of a member that says something else.
func (r *entryReader) ignore(of string, members map[string]any) {
	for name, v := range members {
		if v != nil {
			r.s.Ignored = append(r.s.Ignored, of+"."+name)
		}
	}
}

// object takes a member that is an object. It leaves other values.
func (r *entryReader) object(name string) map[string]any {
	v, ok := r.members[name].(map[string]any)
	if ok {
		delete(r.members, name)
	}
	return maps.Clone(v)
}

func (r *entryReader) fail(format string, args ...any) {
	if r.problem == "" {
		r.problem = fmt.Sprintf(format, args...)
	}
}

// take returns the first of several members that is present and not null. The others stay.
func (r *entryReader) take(names ...string) (value any, name string) {
	for _, n := range names {
		v := r.members[n]
		if v != nil && value != nil {
			continue
		}
		delete(r.members, n)
		if v != nil {
			value, name = v, n
		}
	}
	return value, name
}

func (r *entryReader) text(names ...string) string {
	v, name := r.take(names...)
	s, ok := v.(string)
	if v != nil && !ok {
		r.fail("%s is not a text", name)
	}
	return s
}

func (r *entryReader) texts(names ...string) []string {
	v, name := r.take(names...)
	if v == nil {
		return nil
	}
	all, ok := v.([]any)
	if !ok {
		r.fail("%s is not a list of texts", name)
	}
	list := make([]string, 0, len(all))
	for _, v := range all {
		s, ok := plainText(v)
		if !ok {
			r.fail("%s is not a list of texts", name)
		}
		list = append(list, r.reference(s))
	}
	return list
}

func (r *entryReader) textMap(names ...string) map[string]string {
	v, name := r.take(names...)
	if v == nil {
		return nil
	}
	all, ok := v.(map[string]any)
	if !ok {
		r.fail("%s is not an object of texts", name)
	}
	texts := make(map[string]string, len(all))
	for k, v := range all {
		if v == nil {
			continue
		}
		s, ok := plainText(v)
		if !ok {
			r.fail("%s.%s is not a text", name, k)
		}
		texts[k] = r.reference(s)
	}
	return texts
}

// plainText returns a text, or a number or a boolean as text, which clients accept too.
func plainText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number, bool, int64, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

var (
	wholeVariable = lazyregexp.New(`^((?:Bearer |Basic |Token |token )?)\$([A-Z_][A-Z0-9_]*)$`)
	envVariable   = lazyregexp.New(`\$env:([A-Za-z_][A-Za-z0-9_]*)`)
	wholeEnv      = lazyregexp.New(`^((?:Bearer |Basic |Token |token )?)\$env:([A-Za-z_][A-Za-z0-9_]*)$`)
	bareVariable  = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*)`)
)

// reference writes references to variables in the form ${VAR}. Gemini CLI has $VAR
// anywhere, and mcporter $env:VAR; elsewhere they are ones only as a whole text or after the
// scheme of a header, because a script of a shell may have them.
func (r *entryReader) reference(text string) string {
	if r.client != nil && r.client.Name == "mcporter" {
		text = envVariable.ReplaceAllString(text, "$${$1}")
	}
	text = wholeEnv.ReplaceAllString(text, "$1$${$2}")
	if r.client != nil && r.client.Name == "gemini" {
		return bareVariable.ReplaceAllString(text, "$${$1}")
	}
	return wholeVariable.ReplaceAllString(text, "$1$${$2}")
}
