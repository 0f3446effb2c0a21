package catalog

import (
	"regexp"
	"strings"
	"sync"

	"github.com/yosida95/uritemplate/v3"

	"github.com/junctor-mcp/junctor/host/shape"
)

// A Template is a resource template of a server. It is immutable once it is part of a snapshot.
type Template struct {
	Item
	match *matcher // nil: the template matches no URI
}

// Limits of templates. They are matched with regular expressions derived from untrusted
// input.
const (
	maxVariables = 10
	maxMatched   = 500     // matched templates of a server
	maxURI       = 8 << 10 // bytes of a URI that is matched
)

// newTemplate parses a template. A template without a fixed scheme could match any URI,
// so it is listed but matches none.
func newTemplate(s *Server, raw []byte) (*Template, string) {
	it, why := newItem(s, templateKind, "uriTemplate", raw)
	if why != "" {
		return nil, why
	}
	it.normal = shape.NormalURI(it.Name)
	t := &Template{Item: it}
	fixed, _, _ := strings.Cut(it.Name, "{")
	variables := strings.Count(it.Name, "{") + strings.Count(it.Name, ",") // upper bound
	if strings.Contains(fixed, ":") && variables <= maxVariables {
		t.match = newMatcher(it.Name)
	}
	return t, ""
}

// Matches reports whether a URI is an expansion of the template, as the server spells it.
func (t *Template) Matches(uri string) bool {
	return t.match != nil && len(uri) <= maxURI && t.match.exact(uri)
}

// respell returns an equivalent of a URI that is an expansion of the template. Its literals
// have the server's spelling, and its values are percent-encoded. It fails if there is none.
func (t *Template) respell(uri *spellings) (string, bool) {
	if t.match == nil || len(uri.normal) > 3*maxURI {
		return "", false
	}
	own, ok := t.match.respell(uri)
	if len(own) > maxURI { // with its escapes
		return "", false
	}
	return own, ok
}

// spellings holds forms of a URI that is compared with templates. One lookup makes it, for all
// templates.
type spellings struct {
	normal  string // see [shape.NormalURI]
	escaped string // normal, but for the authority, which may contain values of variables
}

// newSpellings returns the forms of a URI.
func newSpellings(uri string) *spellings {
	scheme, rest, ok := strings.Cut(uri, ":")
	if !ok || len(uri) > maxURI {
		return &spellings{}
	}
	return &spellings{shape.NormalURI(uri), strings.ToLower(scheme) + ":" + shape.NormalEscapes(rest)}
}

// A matcher matches URIs with a template. All snapshots share it. It is immutable, but for the
// expressions that once guards; it may be used concurrently.
type matcher struct {
	parts []templatePart

	once    sync.Once
	literal *regexp.Regexp // matches the spelling of the template
	respelt *regexp.Regexp // matches the equivalent spellings

	prefix    string // of all that respelt matches
	whole     bool   // respelt is for the normal form, and prefix is that of the first literal
	authority bool   // a variable may be in the authority, or follow it: values keep their case
}

// A templatePart is a literal or an expression of a template.
type templatePart struct {
	text       string // with braces if it is an expression
	expression bool
	operator   string // what an expansion begins with
	path       bool   // see pathPattern
}

// newMatcher returns the matcher of a template, or nil if the template is invalid. Literals
// may have characters that a URI cannot have.
func newMatcher(template string) *matcher {
	m := &matcher{}
	for template != "" {
		literal, rest, more := strings.Cut(template, "{")
		if strings.Contains(literal, "}") {
			return nil
		}
		if literal != "" {
			m.parts = append(m.parts, templatePart{text: literal})
		}
		if !more {
			break
		}
		inside, after, closed := strings.Cut(rest, "}")
		p := templatePart{text: "{" + inside + "}", expression: true}
		if _, err := uritemplate.New(p.text); err != nil || !closed {
			return nil
		}
		if i := strings.IndexByte("#./;?&", inside[0]); i >= 0 {
			p.operator = inside[:1]
		}
		p.path = p.operator == "" && inside[0] != '+' && strings.HasSuffix(inside, "*") &&
			!strings.Contains(inside, ",")
		m.parts = append(m.parts, p)
		template = after
	}
	m.setPrefix()
	return m
}

// setPrefix sets prefix and the form of a URI that it is for.
func (m *matcher) setPrefix() {
	first := m.parts[0].text // it has the scheme
	scheme, rest, _ := strings.Cut(first, ":")
	after, hierarchical := strings.CutPrefix(rest, "//")
	_, path := shape.CutAuthority(after)
	m.whole = hierarchical && path != "" || rest != "" && rest[0] != '/' || len(m.parts) == 1
	m.authority = hierarchical && !m.whole
	switch {
	case m.whole:
		m.prefix = shape.NormalURI(first)
	case hierarchical:
		m.prefix = strings.ToLower(scheme) + "://"
	default:
		m.prefix = strings.ToLower(scheme) + ":"
	}
}

// pathPattern matches the value of {name*}. By RFC 6570 it is a list with commas. Servers
// write it for the rest of a path, so that it may have slashes too.
const pathPattern = `((?:[\w\-.~:@!$&'()*+,;=/]|%[[:xdigit:]]{2})*)`

// pattern returns a regular expression for an expansion of the expression, with one group.
func (p *templatePart) pattern() string {
	if p.path {
		return pathPattern
	}
	t, err := uritemplate.New(p.text)
	if err != nil {
		return `([^\x00-\x{10FFFF}])` // impossible: the whole template is valid
	}
	return strings.TrimSuffix(strings.TrimPrefix(t.Regexp().String(), "^"), "$")
}

// compile makes the regular expressions. It does so at the first use, because most
// templates are never compared.
func (m *matcher) compile() {
	m.once.Do(func() {
		var literal strings.Builder
		for i := range m.parts {
			if p := &m.parts[i]; p.expression {
				literal.WriteString(p.pattern())
			} else {
				literal.WriteString("(?:" + regexp.QuoteMeta(p.text) + ")")
			}
		}
		m.literal = regexp.MustCompile("^" + literal.String() + "$")
		m.compileRespelt()
	})
}

// compileRespelt makes the regular expression of equivalent spellings.
func (m *matcher) compileRespelt() {
	var b strings.Builder
	b.WriteString("^" + regexp.QuoteMeta(m.prefix))
	authority := m.authority
	literal := func(text string) {
		host, path := "", text
		if authority {
			host, path = shape.CutAuthority(text)
			b.WriteString("(?i:" + regexp.QuoteMeta(shape.NormalEscapes(host)) + ")")
			authority = path == ""
			if path != "" && path[0] != '/' {
				b.WriteString("/?")
			}
		}
		b.WriteString(regexp.QuoteMeta(shape.NormalEscapes(path)))
	}
	if !m.whole {
		literal(strings.TrimPrefix(m.parts[0].text[strings.Index(m.parts[0].text, ":")+1:], "//"))
	}
	for _, p := range m.parts[1:] {
		if !p.expression {
			literal(p.text)
			continue
		}
		if authority && p.operator != "" && strings.Contains("/?#", p.operator) {
			if authority = false; p.operator != "/" {
				b.WriteString("/?")
			}
		}
		b.WriteString(p.pattern())
	}
	if authority {
		b.WriteString("/?")
	}
	m.respelt = regexp.MustCompile(b.String() + "$")
}

// exact reports whether a URI is an expansion of the template, as the server spells it.
func (m *matcher) exact(uri string) bool {
	if !strings.HasPrefix(uri, m.parts[0].text) {
		return false
	}
	m.compile()
	_, ok := m.expand(m.literal, uri)
	return ok
}

// respell implements [Template.respell].
func (m *matcher) respell(uri *spellings) (string, bool) {
	form := uri.escaped
	if m.whole {
		form = uri.normal
	}
	if !strings.HasPrefix(form, m.prefix) {
		return "", false
	}
	m.compile()
	return m.expand(m.respelt, form)
}

// expand matches a form of a URI, and returns the template with the values in it.
func (m *matcher) expand(re *regexp.Regexp, form string) (string, bool) {
	at := re.FindStringSubmatchIndex(form)
	if at == nil {
		return "", false
	}
	var b strings.Builder
	n := 0
	for _, p := range m.parts {
		if !p.expression {
			b.WriteString(p.text)
			continue
		}
		n++
		from, to := at[2*n], at[2*n+1]
		if from < 0 {
			continue
		}
		value := form[from:to]
		if p.path && !cleanSegments(value) {
			return "", false
		}
		b.WriteString(p.operator + value)
	}
	return b.String(), true
}

// cleanSegments reports whether each segment of a value with slashes names something. A
// segment ".." leads out of what the template is for.
func cleanSegments(value string) bool {
	if !strings.Contains(value, "/") {
		return true
	}
	for segment := range strings.SplitSeq(value, "/") {
		switch shape.NormalEscapes(segment) {
		case "", ".", "..":
			return false
		}
	}
	return true
}
