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

// A View is what the configuration says about one tool: its `tool` block in the server. Package
// host makes it of the configuration; it is immutable.
type View struct {
	Name           string // exposed name; "" for the tool's own
	Description    string // may be empty, if HasDescription
	HasDescription bool
	Hidden         bool                       // from all clients
	Pin            map[string]json.RawMessage // always sent, and removed from the schema
	Default        map[string]json.RawMessage // sent if the client omits the argument
	At             string                     // file:line:column
	Places         map[string]string          // position by argument; At if missing
}

// place returns the position of a pinned argument or a default. argument may be a path into it.
func (v *View) place(argument string) string {
	argument, _, _ = strings.Cut(argument, ".")
	argument, _, _ = strings.Cut(argument, "[")
	return cmp.Or(v.Places[argument], v.At)
}

// A nullRule is the meaning of null for an argument with a default. It is a value.
type nullRule struct {
	value  bool // null is an ordinary value, which the schema allows
	needed bool // the argument is required
}

// apply applies the description, the pins and the defaults of a view to the tool, before the tool is
// part of a snapshot. The name, and whether it is hidden, are left to the caller. If apply fails, it
// returns the reason and the position in the configuration, and the tool is not offered: an unknown
// pinned argument would be open to callers, and an invalid one would be sent with every call.
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
		t.remarks = append(t.remarks,
			Note{Text: fmt.Sprintf("tool %.64q has a default without effect: %s", t.Name, p), At: v.place(p.Path)})
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

// nullRules determines the meaning of null for each argument with a default.
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
			// A property without a type allows null only because it allows every value.
			rule.value = rule.value && !(p.Name == name && p.Type == "any")
		}
		rules[name] = rule
	}
	return rules
}

// Unset removes the arguments that a client set to null to suppress a default, and
// returns their names. If the schema allows null, the argument stays.
func (t *Tool) Unset(sent []byte) (rest []byte, names []string) {
	if len(t.unset) == 0 { // most tools: nothing to sort
		return sent, nil
	}
	for _, name := range sortedNames(t.unset) {
		if !t.unset[name].value && string(mcp.Member(sent, name)) == "null" {
			sent, names = mcp.DeleteMember(sent, name), append(names, name)
		}
	}
	return sent, names
}

// Needed reports whether an argument with a default is required.
func (t *Tool) Needed(name string) bool { return t.unset[name].needed }

// Arguments returns the arguments for the server: those of the client, the pinned ones, which win,
// and the missing defaults. Unchanged arguments keep their bytes. The view of a tool is set when its
// definition is read, so that a tool with pins is never offered without them.
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

// Pinned returns the names of the pinned arguments.
func (t *Tool) Pinned() []string {
	if t.view == nil {
		return nil
	}
	return sortedNames(t.view.Pin)
}

// View returns the position of the tool's view in the configuration, or "".
func (t *Tool) View() string {
	if t.view == nil {
		return ""
	}
	return t.view.At
}
