package schema

import (
	"fmt"
	"slices"
	"strconv"
)

// VetElicitation validates the requestedSchema of an elicitation: a flat object whose
// properties are a PrimitiveSchemaDefinition of MCP. Clients build forms from it, and
// some clients crash on other schemas.
//
// A string may have minLength, maxLength, pattern, one of the four formats, and a
// choice: enum (with enumNames), or oneOf of const and title. A number or integer may
// have bounds. A boolean has no constraints. An array is a multiple choice: its items
// are strings with an enum, or an anyOf of const and title. Unknown keywords are
// allowed. Errors are *VetError. Package gateway/question calls it for each elicitation of a
// server; it is pure.
func VetElicitation(raw []byte) error {
	d, err := vet(raw)
	if err != nil {
		return err
	}
	root := d.root.node
	if err := only(root, "", "type", "properties", "required", "additionalProperties"); err != nil {
		return err
	}
	properties := root.get("properties")
	switch extra := root.get("additionalProperties"); {
	case root.get("type").str() != "object":
		return unfit("/type", "must be \"object\"")
	case properties == nil || properties.kind != '{':
		return unfit("/properties", "must be an object")
	case extra != nil && extra.kind != 't' && extra.kind != 'f':
		return unfit("/additionalProperties", "must be a boolean")
	}
	for i, name := range properties.keys {
		if err := vetField(properties.kids[i], "/properties/"+escape(name)); err != nil {
			return err
		}
	}
	return vetRequired(root.get("required"), properties)
}

func unfit(at, message string) error {
	return &VetError{Reason: "elicitation", Path: at, Message: message}
}

func vetRequired(required, properties *node) error {
	if required == nil {
		return nil
	}
	if required.kind != '[' {
		return unfit("/required", "must be a list")
	}
	for i, name := range required.kids {
		if name.kind != '"' || properties.get(name.text) == nil {
			return unfit("/required/"+strconv.Itoa(i), "does not name a property")
		}
	}
	return nil
}

// only rejects the keywords of JSON Schema that are not in allowed.
func only(n *node, at string, allowed ...string) error {
	if n.kind != '{' {
		return unfit(at, "must be an object")
	}
	for _, key := range n.keys {
		_, applies := applicators[key]
		_, asserts := assertions[key]
		known := applies || asserts || key == "format" || slices.Contains(references, key)
		if known && !slices.Contains(allowed, key) {
			return unfit(at+"/"+key, "is not allowed in an elicitation")
		}
	}
	return nil
}

// fields lists the allowed keywords of each type.
var fields = map[string][]string{
	"string":  {"type", "minLength", "maxLength", "pattern", "format", "enum", "oneOf"},
	"number":  {"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"integer": {"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
	"boolean": {"type"},
	"array":   {"type", "minItems", "maxItems", "uniqueItems", "items"},
}

func vetField(n *node, at string) error {
	if n.kind != '{' {
		return unfit(at, "must be an object")
	}
	if either := n.get("anyOf"); either != nil && n.get("type") == nil {
		return vetOptional(n, either, at)
	}
	kind := n.get("type").str()
	allowed, ok := fields[kind]
	if !ok {
		return unfit(at+"/type", "must be one of string, number, integer, boolean, array")
	}
	if err := only(n, at, allowed...); err != nil {
		return err
	}
	for _, key := range allowed {
		if v := n.get(key); v != nil && !fieldValue(key, v) {
			return unfit(at+"/"+key, "has a value of the wrong type")
		}
	}
	if err := vetOrder(n, at); err != nil {
		return err
	}
	if v := n.get("default"); v != nil && !defaultFits(kind, v) {
		return unfit(at+"/default", "is not of the type "+kind)
	}
	switch kind {
	case "string":
		return vetChoice(n, at, "oneOf")
	case "array":
		return vetItems(n.get("items"), at+"/items")
	}
	return nil
}

// vetOptional validates a nullable field: anyOf of a field and null. Server libraries
// write it for optional fields. The specification does not include it, but clients
// support it.
func vetOptional(n, either *node, at string) error {
	if err := only(n, at, "anyOf"); err != nil {
		return err
	}
	if either.kind != '[' || len(either.kids) == 0 {
		return unfit(at+"/anyOf", "must be a list")
	}
	for i, kid := range either.kids {
		where := at + "/anyOf/" + strconv.Itoa(i)
		if kid.kind == '{' && kid.get("type").str() == "null" {
			if err := only(kid, where, "type"); err != nil {
				return err
			}
			continue
		}
		if kid.kind == '{' && kid.get("anyOf") != nil {
			return unfit(where, "nests one choice in another")
		}
		if err := vetField(kid, where); err != nil {
			return err
		}
	}
	return nil
}

// fieldValue reports whether the value of a keyword has the right type.
func fieldValue(key string, v *node) bool {
	switch key {
	case "minLength", "maxLength", "minItems", "maxItems":
		n, err := strconv.Atoi(v.text)
		return v.kind == '0' && err == nil && n >= 0
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return v.kind == '0'
	case "pattern":
		return v.kind == '"'
	case "format":
		return v.kind == '"' && slices.Contains([]string{"email", "uri", "date", "date-time"}, v.text)
	case "uniqueItems":
		return v.kind == 't' || v.kind == 'f'
	}
	return true // checked elsewhere
}

// vetOrder rejects contradictory bounds, which no user input could satisfy.
func vetOrder(n *node, at string) error {
	for _, pair := range [][2]string{{"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minimum", "maximum"}} {
		low, high := n.get(pair[0]), n.get(pair[1])
		if low == nil || high == nil {
			continue
		}
		l, err1 := strconv.ParseFloat(low.text, 64)
		h, err2 := strconv.ParseFloat(high.text, 64)
		if err1 != nil || err2 != nil || l > h {
			return unfit(at+"/"+pair[1], fmt.Sprintf("is less than %s", pair[0]))
		}
	}
	return nil
}

func defaultFits(kind string, v *node) bool {
	switch kind {
	case "string":
		return v.kind == '"'
	case "number", "integer":
		return v.kind == '0'
	case "boolean":
		return v.kind == 't' || v.kind == 'f'
	}
	return v.kind == '[' && v.allStrings()
}

// vetChoice validates enum with enumNames, or the titled entries of oneOf or anyOf.
func vetChoice(n *node, at, titled string) error {
	enum, entries := n.get("enum"), n.get(titled)
	switch {
	case enum != nil && entries != nil:
		return unfit(at, "has both enum and "+titled)
	case enum != nil && (enum.kind != '[' || len(enum.kids) == 0 || !enum.allStrings()):
		return unfit(at+"/enum", "must be a list of strings")
	case enum != nil:
		names := n.get("enumNames")
		if names != nil && (names.kind != '[' || len(names.kids) != len(enum.kids) || !names.allStrings()) {
			return unfit(at+"/enumNames", "must be a list of as many strings as enum has")
		}
	case entries != nil && (entries.kind != '[' || len(entries.kids) == 0):
		return unfit(at+"/"+titled, "must be a list")
	case entries != nil:
		for i, entry := range entries.kids {
			where := at + "/" + titled + "/" + strconv.Itoa(i)
			if err := only(entry, where, "const"); err != nil {
				return err
			}
			if value, title := entry.get("const"), entry.get("title"); value == nil || title == nil ||
				value.kind != '"' || title.kind != '"' {
				return unfit(where, "must have a const and a title, both strings")
			}
		}
	}
	return nil
}

func vetItems(items *node, at string) error {
	if items == nil {
		return unfit(at, "is missing")
	}
	if err := only(items, at, "type", "enum", "anyOf"); err != nil {
		return err
	}
	kind := items.get("type")
	switch {
	case items.get("enum") == nil && items.get("anyOf") == nil:
		return unfit(at, "must have an enum or an anyOf")
	case kind == nil && items.get("enum") != nil, kind != nil && kind.str() != "string":
		return unfit(at+"/type", "must be \"string\"")
	}
	return vetChoice(items, at, "anyOf")
}
