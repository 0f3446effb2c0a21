package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
	Places         map[string]string          // of each pinned argument and default; missing: At
}

// place is where an argument that is pinned or has a default stands.
func (v *View) place(argument string) string {
	argument, _, _ = strings.Cut(argument, ".")
	argument, _, _ = strings.Cut(argument, "[")
	return cmp.Or(v.Places[argument], v.At)
}

// A nullRule says what null means for an argument that has a default.
type nullRule struct {
	value  bool // a value like any other: the schema allows it
	needed bool // the tool cannot be called without the argument
}

// apply makes what clients see fit the view. When that cannot be done it says
// why, and where in the configuration the reason stands: a pinned argument that
// is unknown would be open to whoever calls, and one that does not fit would be
// sent with every call.
func (t *Tool) apply(v *View) (why, at string) {
	if v.HasDescription {
		t.Description = v.Description
		t.Raw = mcp.SetMember(t.Raw, "description", mcp.AppendText(nil, v.Description))
	}
	if len(v.Pin)+len(v.Default) == 0 {
		return "", ""
	}
	input := t.Input
	if input == nil {
		return "it has no input schema, so nothing can be pinned and nothing can have a default", v.At
	}
	unknown, wrong := schema.CheckValues(input, v.Pin)
	if bad := append(unknown, wrong...); len(bad) > 0 {
		return "its pin: " + bad[0].String(), v.place(bad[0].Path)
	}
	unknown, wrong = schema.CheckValues(input, v.Default)
	if len(wrong) > 0 {
		return "its default: " + wrong[0].String(), v.place(wrong[0].Path)
	}
	for _, p := range unknown {
		t.remarks = append(t.remarks, Note{Text: fmt.Sprintf("tool %.64q has a default for nothing: %s", t.Name, p), At: v.place(p.Path)})
	}
	t.unset = nullRules(input, v.Default)
	input, err := schema.Hide(input, sortedNames(v.Pin))
	if err == nil {
		input, err = schema.SetDefaults(input, v.Default)
	}
	if err != nil {
		return err.Error(), v.At
	}
	t.Input, t.Raw = input, mcp.SetMember(t.Raw, "inputSchema", input)
	return "", ""
}

// nullRules finds out what null means for each argument that has a default.
func nullRules(input []byte, defaults map[string]json.RawMessage) map[string]nullRule {
	if len(defaults) == 0 {
		return nil
	}
	rules := map[string]nullRule{}
	properties := schema.Properties(input)
	for name := range defaults {
		_, wrong := schema.CheckValues(input, map[string]json.RawMessage{name: json.RawMessage("null")})
		rule := nullRule{value: len(wrong) == 0}
		for _, p := range properties {
			rule.needed = rule.needed || p.Name == name && p.Required
			// A property without a type allows null as it allows everything; nobody means it.
			rule.value = rule.value && !(p.Name == name && p.Type == "any")
		}
		rules[name] = rule
	}
	return rules
}

// Unset takes out of the arguments that a client sent those that are null to
// say that a default shall not be sent, and returns their names. Where the schema
// allows null it is a value, and stays.
func (t *Tool) Unset(sent []byte) (rest []byte, names []string) {
	for _, name := range sortedNames(t.unset) {
		if !t.unset[name].value && string(mcp.Member(sent, name)) == "null" {
			sent, names = mcp.DeleteMember(sent, name), append(names, name)
		}
	}
	return sent, names
}

// Needed reports whether the tool cannot be called without an argument that has
// a default.
func (t *Tool) Needed(name string) bool { return t.unset[name].needed }

// Arguments returns what to send to the server for the arguments a client
// sent: with the pinned ones, and the defaults that are missing and not unset.
// Arguments that need no change are returned as they are.
func (t *Tool) Arguments(sent []byte) []byte {
	if t.view == nil {
		return sent
	}
	sent, unset := t.Unset(sent)
	for _, name := range sortedNames(t.view.Default) {
		if mcp.Member(sent, name) == nil && !slices.Contains(unset, name) {
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
