package catalog

import (
	"encoding/json"

	"github.com/junctor-mcp/junctor/host/classify"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// accessMeta is the name in _meta under which the bundled cli transport says what its
// settings say about a tool.
const accessMeta = "junctor/access"

// classify tells whether a tool reads or writes. It is called before the view is applied:
// what the server said counts, and not what clients are shown.
//
// It also returns the kind without what the configuration says of tools that read. What the
// administrator says counts. It is pure. newTool calls it.
func (s *Server) classify(t *Tool) (class classify.Class, unconfigured classify.Kind) {
	what := classify.Tool{Name: t.Name, Description: t.Description, ReadOnly: t.ReadOnly, Destructive: t.Destructive}
	for name := range mcp.Members(mcp.Member(t.Input, "properties")) {
		what.Arguments = append(what.Arguments, name)
	}
	for _, p := range s.Patterns {
		switch {
		case p.List != "read" && p.List != "write" || !p.Match(t.Name):
		case p.List == "read" && what.ConfiguredRead == "":
			what.ConfiguredRead = p.At
		case p.List == "write" && what.ConfiguredWrite == "":
			what.ConfiguredWrite = p.At
		}
	}
	if s.Access != "" {
		switch kind, _ := mcp.TextMember(t.Raw, "_meta", accessMeta); {
		case kind == "read" && what.ConfiguredRead == "" && what.ConfiguredWrite == "":
			what.ConfiguredRead = s.Access
		case kind == "write" || kind == "destructive":
			what.ConfiguredWrite = s.Access
		}
	}
	class = classify.Of(what)
	if s.Managed || what.ConfiguredRead == "" {
		return class, class.Kind
	}
	what.ConfiguredRead = ""
	return class, classify.Of(what).Kind
}

// Unlisted returns a tool of which only the name and the configuration are known.
func (s *Server) Unlisted(name string) *Tool {
	t := &Tool{Item: Item{Server: s.Name, Name: name, Exposed: Expose(s.Prefix, s.Name, name)}, view: s.Views[name]}
	t.Class, t.Unconfigured = s.classify(t)
	return t
}

// Default returns what the configuration sends if a client omits an argument.
func (t *Tool) Default(argument string) (value []byte, ok bool) {
	if t.view == nil {
		return nil, false
	}
	value, ok = t.view.Default[argument]
	return value, ok
}

// Fixed returns the arguments that the configuration always sends, as a JSON object; nil:
// none.
func (t *Tool) Fixed() []byte {
	if t.view == nil || len(t.view.Pin) == 0 {
		return nil
	}
	object, err := json.Marshal(t.view.Pin)
	if err != nil {
		return nil // impossible: the values are JSON
	}
	return object
}
