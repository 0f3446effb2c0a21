package catalog

import (
	"bytes"
	"fmt"

	"github.com/junctor-mcp/junctor/host/classify"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/shape"
)

// An Item is a tool, resource, template or prompt of a server. Raw is its JSON in
// lists: the server's bytes with the host's names and the view applied. It is immutable once
// newItem has returned; snapshots share it.
type Item struct {
	Server      string
	Name        string // the server's name, URI or template
	Exposed     string // the name for clients
	Title       string
	Description string
	Raw         []byte

	normal string   // of a resource or a template; see [shape.NormalURI]
	left   []string // paths of what was left out of Raw; see shape
}

// A Tool is a tool of a server. It is immutable once it is part of a snapshot.
type Tool struct {
	Item
	Input  []byte // input schema as clients see it, or nil
	Output []byte // output schema, or nil
	// Removed is the output schema that results of the tool did not fit, or nil.
	Removed *Removal
	// Headers are the headers that an HTTP client sends with a call.
	Headers []Header

	// Refused explains which of the schemas above were replaced.
	Refused Refused

	// Untrusted hints of the server.
	ReadOnly, Destructive *bool

	// AsTask means that a legacy server requires that the tool is called as a task.
	AsTask bool

	// Class says whether the tool reads or writes.
	Class classify.Class
	// Unconfigured is the kind without what users say in tools { read }.
	Unconfigured classify.Kind

	modernOnly bool // Raw is for modern clients; see ForLegacy

	view    *View
	remarks []Note              // notes about the view and the schemas
	unset   map[string]nullRule // meaning of null, by argument with a default
}

// A Prompt is a prompt of a server.
type Prompt struct {
	Item
	Arguments []Argument
}

// An Argument is an argument of a prompt.
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// newTool parses a tool and applies its view. modern is the era of the server. If the
// tool is omitted, newTool returns nil and the reason. It keeps no state; the steps of its body
// are the order in which a definition is changed.
func newTool(s *Server, raw []byte, modern bool) (*Tool, Note) {
	it, why := newItem(s, toolKind, "name", raw)
	if why != "" {
		return nil, Note{Text: why}
	}
	omit := func(format string, args ...any) Note {
		return Note{Text: fmt.Sprintf("tool %.64q is left out: ", it.Name) + fmt.Sprintf(format, args...)}
	}
	asTask := !modern && requiresTask(raw)
	if asTask {
		it.Raw = mcp.DeleteMember(it.Raw, "execution") // clients make ordinary calls
	}
	if modern {
		if why := headerProblem(object(raw, "inputSchema")); why != "" {
			return nil, omit("its schema requires invalid headers: %s", why)
		}
	}
	view := s.Views[it.Name]
	if view != nil && view.Hidden {
		return nil, Note{}
	}
	raw, refused, left := vetSchemas(it.Raw, s.Describe)
	if why := refused.reason(); why != "" && s.HideBadSchema {
		return nil, omit("%s", why)
	}
	raw, removed := s.withoutBroken(it.Name, raw, &refused)
	it.Raw, it.left = raw, append(it.left, left...)
	t := &Tool{
		Item: it, Input: object(raw, "inputSchema"), Output: object(raw, "outputSchema"), Refused: refused,
		remarks: refused.notes(it.Name), Removed: removed,
		AsTask: asTask, ReadOnly: flag(raw, "readOnlyHint"), Destructive: flag(raw, "destructiveHint"), view: view,
	}
	t.Class, t.Unconfigured = s.classify(t)
	if t.Title == "" {
		t.Title, _ = mcp.TextMember(raw, "annotations", "title")
	}
	shown := it.Name
	if t.view != nil {
		if why, at := t.apply(t.view); why != "" {
			note := omit("%s", why)
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
	if t.Input == nil { // clients need one
		t.Raw = mcp.SetMember(t.Raw, "inputSchema", anyObject)
	}
	t.modernOnly = !bytes.Equal(shape.LegacyTool(t.Raw), t.Raw)
	return t, Note{}
}

// requiresTask reports whether a server says that a tool can only be called as a task.
func requiresTask(raw []byte) bool {
	support, _ := mcp.TextMember(raw, "execution", "taskSupport")
	return support == "required"
}

// ForLegacy returns a definition of the tool as legacy clients can read it. raw is Raw, or
// Raw with another schema.
func (t *Tool) ForLegacy(raw []byte) []byte {
	if !t.modernOnly {
		return raw
	}
	return shape.LegacyTool(raw)
}

// object returns a member if it is an object, and nil otherwise.
func object(raw []byte, name string) []byte {
	if v := mcp.Member(raw, name); len(v) > 0 && v[0] == '{' {
		return v
	}
	return nil
}

// flag returns an annotation if it is a boolean, and nil otherwise.
func flag(raw []byte, name string) *bool {
	switch string(mcp.Member(raw, "annotations", name)) {
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	return nil
}

// shapes correct the definitions of each kind.
var shapes = map[string]func(raw []byte) (fitted []byte, left []string){
	toolKind: shape.Tool, promptKind: shape.Prompt, resourceKind: shape.Resource, templateKind: shape.Template,
}

// newItem parses the common part of all items. id is the member with the name. Raw of
// the result has the host's names and texts. The second result is the reason for
// omitting the item, or "".
func newItem(s *Server, kind, id string, raw []byte) (Item, string) {
	if s.Access == "" { // the bundled transport speaks for Junctor
		raw = mcp.WithoutOwnMeta(raw)
	}
	raw, left := shapes[kind](raw)
	raw = s.Describe.item(kind, raw)
	it := Item{Server: s.Name, Raw: raw, left: left}
	it.Name, _ = mcp.TextMember(raw, id)
	it.Title, _ = mcp.TextMember(raw, "title")
	it.Description, _ = mcp.TextMember(raw, "description")
	if it.Title == "" && id != "name" {
		it.Title, _ = mcp.TextMember(raw, "name")
	}
	it.Exposed = it.Name
	switch why := nameProblem(it.Name); {
	case it.Name == "" && id != "name":
		return it, fmt.Sprintf("%s %.64q is left out: it has no %s", kind, it.Title, id)
	case why != "":
		return it, fmt.Sprintf("%s %.64q: %s", kind, it.Name, why)
	}
	return it, ""
}

// newPrompt parses a prompt. It returns nil and the reason if the prompt is omitted.
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
			return nil, fmt.Sprintf("prompt %.64q is left out: the name of an argument has invisible characters",
				it.Name)
		}
	}
	if p.Exposed = Expose(s.Prefix, s.Name, it.Name); p.Exposed != it.Name {
		p.Raw = mcp.SetMember(p.Raw, "name", mcp.AppendText(nil, p.Exposed))
	}
	return p, ""
}
