package cliconfig

import "encoding/json"

// Read reports whether the tool block declares read access.
func (t *Tool) Read() bool { return t.access() == "read" }

// access returns the access that the tool block declares.
func (t *Tool) access() string {
	var b struct{ Access string }
	if json.Unmarshal(t.Block, &b) != nil {
		return ""
	}
	return b.Access
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
