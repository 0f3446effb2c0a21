package sdk

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// A Schema describes the block of a transport, auth provider or secret store in
// the terms of the configuration language. It is encoded as JSON. Readers
// ignore unknown members.
type Schema struct {
	Version     int         `json:"version"` // version of this schema; the first is 0
	Description string      `json:"description,omitempty"`
	Attributes  []Attribute `json:"attributes,omitempty"`
	Blocks      []Block     `json:"blocks,omitempty"`
}

// An Attribute is one "name = value" setting of a block.
type Attribute struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Type is a type of the configuration language in its JSON form: "string",
	// "number", "bool", "dynamic", ["list","string"], ["map","number"].
	Type     json.RawMessage `json:"type"`
	Required bool            `json:"required,omitempty"`
	Default  json.RawMessage `json:"default,omitempty"`
	Enum     []string        `json:"enum,omitempty"`
	// Format narrows the type:
	//
	//   - "duration" is a string such as "1m30s".
	//   - "integer" is a number without a fraction.
	//   - "env_names" is a list of names of environment variables that the
	//     host passes in Server.Env.
	//   - "watched_file" is the path of a file that an auth provider reads its
	//     credential from. The host asks for a new credential when it changes.
	//   - "headers" is a map of strings: HTTP headers by name.
	//   - "header_name" is a string: the name of an HTTP header.
	//
	// The host rejects headers and header names that are invalid in HTTP.
	// Older hosts leave that check to the plugin. Other formats only inform
	// the user.
	Format     string `json:"format,omitempty"`
	Sensitive  bool   `json:"sensitive,omitempty"`  // the value is never printed
	Deprecated string `json:"deprecated,omitempty"` // what to use instead

	ConflictsWith []string `json:"conflicts_with,omitempty"` // names in the same block
	RequiredWith  []string `json:"required_with,omitempty"`  // names in the same block
}

// A Block is a nested block.
type Block struct {
	Name   string `json:"name"`
	Label  string `json:"label,omitempty"` // attribute that receives the block's label; empty: no label
	List   bool   `json:"list,omitempty"`  // the block may be repeated
	Need   bool   `json:"need,omitempty"`  // the block is required
	Schema Schema `json:"schema"`
}

// Attribute returns the attribute with the given name, or nil.
func (s *Schema) Attribute(name string) *Attribute {
	i := slices.IndexFunc(s.Attributes, func(a Attribute) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Attributes[i]
}

// Block returns the nested block with the given name, or nil.
func (s *Schema) Block(name string) *Block {
	i := slices.IndexFunc(s.Blocks, func(b Block) bool { return b.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Blocks[i]
}

// names returns the names of all attributes and blocks, for error messages.
func (s *Schema) names() []string {
	var names []string
	for _, a := range s.Attributes {
		names = append(names, a.Name)
	}
	for _, b := range s.Blocks {
		names = append(names, b.Name)
	}
	return names
}

// settingRule matches the names that the configuration language accepts.
var settingRule = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// check reports the first mistake in the schema. The host would report it too,
// but to a user who cannot correct the plugin.
func (s *Schema) check() error {
	taken := map[string]bool{}
	for _, name := range s.names() {
		if !settingRule.MatchString(name) {
			return fmt.Errorf("%q cannot be the name of a setting", name)
		}
		if taken[name] {
			return fmt.Errorf("there are two settings %q", name)
		}
		taken[name] = true
	}
	for _, a := range s.Attributes {
		if err := a.check(taken); err != nil {
			return fmt.Errorf("setting %q %w", a.Name, err)
		}
	}
	for _, b := range s.Blocks {
		switch {
		case b.Schema.Description == "":
			return fmt.Errorf("block %q has no description", b.Name)
		case b.Label != "" && !b.List:
			return fmt.Errorf("block %q has a label but may stand only once", b.Name)
		case slices.Contains(b.Schema.names(), b.Label):
			return fmt.Errorf("block %q has a label and a setting %q", b.Name, b.Label)
		}
		if err := b.Schema.check(); err != nil {
			return fmt.Errorf("block %q: %w", b.Name, err)
		}
	}
	return nil
}

// check reports the first mistake in the attribute. names holds all names in
// the same block.
func (a *Attribute) check(names map[string]bool) error {
	for _, other := range slices.Concat(a.ConflictsWith, a.RequiredWith) {
		if !names[other] || other == a.Name {
			return fmt.Errorf("names %q, which is not another setting beside it", other)
		}
	}
	switch {
	case a.Description == "":
		return fmt.Errorf("has no description")
	case !json.Valid(a.Type):
		return fmt.Errorf("has no type")
	case a.Default != nil && !json.Valid(a.Default):
		return fmt.Errorf("has a default that is not JSON")
	case a.Default != nil && a.Required:
		return fmt.Errorf("is required and has a default")
	case a.Enum != nil && string(a.Type) != `"string"`:
		return fmt.Errorf("has an enum but is not a string")
	case a.Format == "env_names" && string(a.Type) != `["list","string"]`:
		return fmt.Errorf("has the format env_names but is not a list of strings")
	case a.Format == "watched_file" && string(a.Type) != `"string"`:
		return fmt.Errorf("has the format watched_file but is not a string")
	case a.Format == "headers" && string(a.Type) != `["map","string"]`:
		return fmt.Errorf("has the format headers but is not a map of strings")
	case a.Format == "header_name" && string(a.Type) != `"string"`:
		return fmt.Errorf("has the format header_name but is not a string")
	}
	var word string
	if a.Enum != nil && a.Default != nil && json.Unmarshal(a.Default, &word) == nil && !slices.Contains(a.Enum, word) {
		return fmt.Errorf("has the default %q, which its enum lacks", word)
	}
	return nil
}
