package cliconfig

import (
	"encoding/json"
	"strings"

	"github.com/junctor-mcp/junctor/host/truncate"
)

// Read reports whether the tool block declares read access.
func (t *Tool) Read() bool {
	var b struct{ Access string }
	return json.Unmarshal(t.Block, &b) == nil && b.Access == "read"
}

// An argument is the part of an argument block that determines a value.
type argument struct {
	Name, Type, Flag string
	Values           []string
	Required, Repeat bool
	Minimum          *float64
}

// Harmless returns arguments with which the tool can be tried: first the required ones,
// then these and the first positional one. Many programs document that one as optional
// although they need it.
func (t *Tool) Harmless() []json.RawMessage {
	var b struct {
		Arguments []argument `json:"argument"`
	}
	_ = json.Unmarshal(t.Block, &b)
	given := map[string]any{}
	for i := range b.Arguments {
		if a := &b.Arguments[i]; a.Required {
			given[a.Name] = a.harmless()
		}
	}
	tries := []json.RawMessage{object(given)}
	for i := range b.Arguments {
		if a := &b.Arguments[i]; a.Flag == "" && !a.Required {
			given[a.Name] = a.harmless()
			return append(tries, object(given))
		}
	}
	return tries
}

// harmless returns a valid value for the argument.
func (a *argument) harmless() any {
	var v any = "."
	switch a.Type {
	case "bool":
		v = true
	case "integer", "number", "count":
		if v = 1; a.Minimum != nil {
			v = *a.Minimum
		}
	case "map":
		return map[string]string{}
	case "duration":
		v = "1s"
	case "enum":
		if len(a.Values) > 0 {
			v = a.Values[0]
		}
	}
	if a.Repeat && a.Type != "count" || a.Type == "list" {
		return []any{v}
	}
	return v
}

func object(members map[string]any) json.RawMessage {
	text, err := json.Marshal(members)
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return text
}

// triedMost is the maximum length of a program's output in a remark, in bytes.
const triedMost = 200

// Tried reads the result of a tool call. It returns "" after a success and the beginning of
// the error output otherwise.
func Tried(result []byte) string {
	var r struct {
		IsError bool `json:"isError"`
		Content []struct{ Text string }
		Output  struct{ Stderr string } `json:"structuredContent"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return "the result has an unexpected form"
	}
	if !r.IsError {
		return ""
	}
	said := r.Output.Stderr
	if strings.TrimSpace(said) == "" && len(r.Content) > 0 {
		said = r.Content[0].Text
	}
	said = truncate.Bytes(strings.Join(strings.Fields(said), " "), triedMost)
	if said == "" {
		return "it failed and printed nothing"
	}
	return said
}
