package catalog

import (
	"fmt"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/junctor-mcp/junctor/host/mcp"
)

// An Item is something that a server offers. Raw is what clients see in lists:
// the server's own bytes, but for what the host names or a view changes.
type Item struct {
	Server      string
	Name        string // the server's own: a name, a URI or a template
	Exposed     string // what clients call it
	Title       string
	Description string
	Raw         []byte
}

// A Tool is an item that can be called.
type Tool struct {
	Item
	Input  []byte // schema of the arguments as clients see it; nil: none
	Output []byte // schema of the structured result; nil: none
	// Headers are those that a client over HTTP sends with a call.
	Headers []Header

	// Refused says which of the schemas above are not the server's own, and why.
	Refused Refused

	// What the tool says about itself; not to be trusted.
	ReadOnly, Destructive *bool

	view    *View
	remarks []Note              // about the view and the schemas
	unset   map[string]nullRule // of the defaults, what null means
}

// A Prompt is an item that makes messages.
type Prompt struct {
	Item
	Arguments []Argument
}

// An Argument of a prompt.
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// A Template stands for resources whose URIs it can make.
type Template struct {
	Item
	match *uritemplate.Template
}

// newTool reads a tool of a server, which is a modern one or not, and applies
// its view. A nil tool is left out, for the reason given.
func newTool(s *Server, raw []byte, modern bool) (*Tool, Note) {
	it, why := newItem(s, toolKind, "name", raw)
	if why != "" {
		return nil, Note{Text: why}
	}
	leftOut := func(format string, args ...any) Note {
		return Note{Text: fmt.Sprintf("tool %.64q is left out: ", it.Name) + fmt.Sprintf(format, args...)}
	}
	if support, _ := mcp.TextMember(raw, "execution", "taskSupport"); support == "required" {
		return nil, leftOut("it can only be called as a task, which is not supported yet")
	}
	if modern {
		if why := misheaded(object(raw, "inputSchema")); why != "" {
			return nil, leftOut("the headers that its schema asks for cannot be sent: %s", why)
		}
	}
	view := s.Views[it.Name]
	if view != nil && view.Hidden {
		return nil, Note{}
	}
	raw, refused := vetSchemas(it.Raw, s.Describe)
	if why := refused.any(); why != "" && s.HideBadSchema {
		return nil, leftOut("%s", why)
	}
	it.Raw = raw
	t := &Tool{
		Item: it, Input: object(raw, "inputSchema"), Output: object(raw, "outputSchema"), Refused: refused, remarks: refused.remarks(it.Name),
		ReadOnly: flag(raw, "readOnlyHint"), Destructive: flag(raw, "destructiveHint"), view: view,
	}
	if t.Title == "" {
		t.Title, _ = mcp.TextMember(raw, "annotations", "title")
	}
	shown := it.Name
	if t.view != nil {
		if why, at := t.apply(t.view); why != "" {
			note := leftOut("%s", why)
			note.At, note.Refused = at, true
			return nil, note
		}
		if t.view.Name != "" {
			shown = t.view.Name
		}
	}
	t.Headers = headersOf(t.Input)
	t.Exposed = Expose(s.Prefix, s.Name, shown)
	if t.Exposed != it.Name {
		t.Raw = mcp.SetMember(t.Raw, "name", mcp.AppendText(nil, t.Exposed))
	}
	return t, Note{}
}

// object returns a member that is an object, nil for anything else.
func object(raw []byte, name string) []byte {
	if v := mcp.Member(raw, name); len(v) > 0 && v[0] == '{' {
		return v
	}
	return nil
}

// flag returns an annotation that is true or false, nil for anything else.
func flag(raw []byte, name string) *bool {
	switch string(mcp.Member(raw, "annotations", name)) {
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	return nil
}

// newItem reads what resources, templates and prompts have in common; id is the
// member that names them. Raw of the item is described as the server's block says.
func newItem(s *Server, kind, id string, raw []byte) (Item, string) {
	raw = s.Describe.item(kind, raw)
	it := Item{Server: s.Name, Raw: raw}
	it.Name, _ = mcp.TextMember(raw, id)
	it.Title, _ = mcp.TextMember(raw, "title")
	it.Description, _ = mcp.TextMember(raw, "description")
	if it.Title == "" && id != "name" {
		it.Title, _ = mcp.TextMember(raw, "name")
	}
	it.Exposed = it.Name
	if why := nameable(it.Name); why != "" {
		return it, fmt.Sprintf("%s %.64q: %s", kind, it.Name, why)
	}
	return it, ""
}

func newPrompt(s *Server, raw []byte) (*Prompt, string) {
	it, why := newItem(s, promptKind, "name", raw)
	if why != "" {
		return nil, why
	}
	p := &Prompt{Item: it}
	if mcp.Decode(mcp.Member(p.Raw, "arguments"), &p.Arguments) != nil {
		p.Arguments = nil
	}
	for _, a := range p.Arguments {
		if s.Describe != Verbatim && Visible(a.Name) != a.Name {
			return nil, fmt.Sprintf("prompt %.64q is left out: the name of an argument has characters that cannot be seen", it.Name)
		}
	}
	if p.Exposed = Expose(s.Prefix, s.Name, it.Name); p.Exposed != it.Name {
		p.Raw = mcp.SetMember(p.Raw, "name", mcp.AppendText(nil, p.Exposed))
	}
	return p, ""
}

// Templates are matched with regular expressions that strangers wrote, so to
// speak: they are bounded, and so is what they are compared with.
const (
	maxVariables = 10
	maxMatched   = 500 // templates of a server
	maxURI       = 8 << 10
)

// newTemplate reads a template. One that could stand for anything, because it
// does not begin with a scheme, is listed but owns nothing.
func newTemplate(s *Server, raw []byte) (*Template, string) {
	it, why := newItem(s, templateKind, "uriTemplate", raw)
	if why != "" {
		return nil, why
	}
	t := &Template{Item: it}
	fixed, _, _ := strings.Cut(it.Name, "{")
	variables := strings.Count(it.Name, "{") + strings.Count(it.Name, ",") // at most
	if match, err := uritemplate.New(it.Name); err == nil && strings.Contains(fixed, ":") && variables <= maxVariables {
		t.match = match
	}
	return t, ""
}

// Matches reports whether the template can make the URI.
func (t *Template) Matches(uri string) bool {
	return t.match != nil && len(uri) <= maxURI && t.match.Regexp().MatchString(uri)
}
