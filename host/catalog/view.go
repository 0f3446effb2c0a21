package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
)

// A View is how the configuration wants one tool to be seen.
type View struct {
	Name           string // exposed in place of the tool's own; empty: that
	Description    string
	HasDescription bool
	Hidden         bool
	Pin            map[string]json.RawMessage // always sent, not in the schema
	Default        map[string]json.RawMessage // sent when the client sends nothing
	At             string                     // file:line:column
}

// apply makes what clients see fit the view.
func (t *Tool) apply(v *View) string {
	if v.HasDescription {
		t.Description = v.Description
		t.Raw = mcp.SetMember(t.Raw, "description", mcp.AppendText(nil, v.Description))
	}
	if len(v.Pin)+len(v.Default) == 0 {
		return ""
	}
	input := t.Input
	if input == nil {
		return "the tool has no input schema"
	}
	unknown, wrong := schema.CheckValues(input, v.Pin)
	if len(unknown) > 0 {
		// What was to be fixed would be open to whoever calls.
		return "pin: " + unknown[0].String()
	}
	moreUnknown, moreWrong := schema.CheckValues(input, v.Default)
	for _, p := range append(append(moreUnknown, wrong...), moreWrong...) {
		t.remarks = append(t.remarks, fmt.Sprintf("tool %.64q: its view at %s: %s", t.Name, v.At, p))
	}
	input, err := schema.Hide(input, sortedNames(v.Pin))
	if err == nil {
		input, err = schema.SetDefaults(input, v.Default)
	}
	if err != nil {
		return err.Error()
	}
	t.Input, t.Raw = input, mcp.SetMember(t.Raw, "inputSchema", input)
	return ""
}

// Arguments returns what to send to the server for the arguments a client
// sent: with the pinned ones, and the defaults that are missing. Arguments that
// need no change are returned as they are.
func (t *Tool) Arguments(sent []byte) []byte {
	if t.view == nil {
		return sent
	}
	for _, name := range sortedNames(t.view.Default) {
		if mcp.Member(sent, name) == nil {
			sent = mcp.SetMember(sent, name, t.view.Default[name])
		}
	}
	for _, name := range sortedNames(t.view.Pin) {
		sent = mcp.SetMember(sent, name, t.view.Pin[name])
	}
	return sent
}

// Pinned returns the names of the arguments that the view pins.
func (t *Tool) Pinned() []string {
	if t.view == nil {
		return nil
	}
	return sortedNames(t.view.Pin)
}

// View returns where the tool's view stands in the configuration, if any.
func (t *Tool) View() string {
	if t.view == nil {
		return ""
	}
	return t.view.At
}
