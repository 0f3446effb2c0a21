package cliconfig

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
)

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
// although they need it. A required path is a file of dir, if there is one.
func (t *Tool) Harmless(dir string) []json.RawMessage {
	var b struct {
		Arguments []argument `json:"argument"`
	}
	_ = json.Unmarshal(t.Block, &b)
	given := map[string]any{}
	for i := range b.Arguments {
		if a := &b.Arguments[i]; a.Required {
			given[a.Name] = a.harmless(fileOf(dir))
		}
	}
	tries := []json.RawMessage{object(given)}
	for i := range b.Arguments {
		if a := &b.Arguments[i]; a.Flag == "" && !a.Required {
			given[a.Name] = a.harmless(".")
			return append(tries, object(given))
		}
	}
	return tries
}

// fileOf returns the first of some regular files in a directory, or "." if there is none.
func fileOf(dir string) string {
	const most = 256
	d, err := os.Open(dir)
	if err != nil {
		return "."
	}
	defer func() { _ = d.Close() }()
	entries, _ := d.ReadDir(most)
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(e.Name(), "-") {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return "."
	}
	return slices.Min(names)
}

// harmless returns a valid value for the argument. path is the value for a path.
func (a *argument) harmless(path string) any {
	var v any = "."
	switch a.Type {
	case "path":
		if !strings.Contains(a.Name, "dir") {
			v = path
		}
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
