package sdk

import (
	"encoding/json"
	"slices"
)

// A Schema describes the settings of one transport or auth provider, in the
// terms of the configuration language: what may stand in its block. It is
// plain data that is written as JSON; members that a reader does not know are
// ignored.
type Schema struct {
	Version     int         `json:"version"` // of this schema; 0 is the first
	Description string      `json:"description,omitempty"`
	Attributes  []Attribute `json:"attributes,omitempty"`
	Blocks      []Block     `json:"blocks,omitempty"`
}

// An Attribute is one "name = value" of a block.
type Attribute struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Type is a type of the configuration language in its JSON form:
	// "string", "number", "bool", "dynamic", ["list","string"], ["map","number"].
	Type     json.RawMessage `json:"type"`
	Required bool            `json:"required,omitempty"`
	Default  json.RawMessage `json:"default,omitempty"`
	Enum     []string        `json:"enum,omitempty"`
	// Format narrows the type: "duration" is a string such as "1m30s",
	// "integer" a number without a fraction, "env_names" a list of names of
	// environment variables that the host passes in Server.Env. Others inform
	// people only.
	Format     string `json:"format,omitempty"`
	Sensitive  bool   `json:"sensitive,omitempty"`  // never printed
	Deprecated string `json:"deprecated,omitempty"` // what to use instead

	ConflictsWith []string `json:"conflicts_with,omitempty"` // names in the same block
	RequiredWith  []string `json:"required_with,omitempty"`  // names in the same block
}

// A Block is a nested block.
type Block struct {
	Name   string `json:"name"`
	Label  string `json:"label,omitempty"` // the attribute that the block's label becomes; empty: no label
	List   bool   `json:"list,omitempty"`  // may stand several times
	Need   bool   `json:"need,omitempty"`  // must stand at least once
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

// names returns what may stand in the block, for messages.
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
