package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Hide removes the named top-level properties from a schema. Use it for arguments that
// the host always sends itself. Hide removes them from properties and required and
// keeps all other bytes. It ignores unknown names, and returns a schema without
// properties unchanged.
//
// The result is only shown to clients. Arguments, with the host's own, are validated
// against the original schema. References to a hidden property, as in allOf or
// dependentRequired, therefore do no harm. The functions of this file are pure. The catalog
// calls them for tool blocks of the configuration.
func Hide(raw []byte, names []string) ([]byte, error) {
	if len(names) == 0 {
		return raw, nil
	}
	return edit(raw, func(properties *members) error {
		properties.drop(names)
		return nil
	}, names)
}

// SetDefaults sets the defaults of top-level properties and removes them from required.
// Use it for arguments that the host adds if they are missing. Otherwise it is like
// [Hide]. It fails if a value is not JSON.
func SetDefaults(raw []byte, values map[string]json.RawMessage) ([]byte, error) {
	if len(values) == 0 {
		return raw, nil
	}
	var names []string
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return edit(raw, func(properties *members) error {
		for _, name := range names {
			i := properties.find(name)
			if i < 0 {
				continue
			}
			value := strictJSON(string(values[name]))
			if value == nil {
				return fmt.Errorf("the default of %q is not valid JSON", shortenText(name))
			}
			if err := properties.list[i].setDefault(value); err != nil {
				return err
			}
		}
		return nil
	}, names)
}

var errNotJSON = errors.New("the schema is not valid JSON")

// edit changes properties and removes names from required.
func edit(raw []byte, change func(properties *members) error, names []string) ([]byte, error) {
	root, err := split(raw)
	if err != nil {
		return nil, err
	}
	at := root.find("properties")
	if at < 0 {
		return raw, nil
	}
	properties, err := split(root.list[at].value)
	if err != nil {
		return nil, err
	}
	if properties.open != '{' {
		return raw, nil
	}
	if err := change(properties); err != nil {
		return nil, err
	}
	root.list[at].value = properties.join()
	if at := root.find("required"); at >= 0 {
		required, err := split(root.list[at].value)
		if err != nil {
			return nil, err
		}
		if required.open == '[' && required.drop(names) {
			root.list[at].value = required.join()
			if len(required.list) == 0 {
				// draft-04 does not allow an empty list.
				root.list = slices.Delete(root.list, at, at+1)
			}
		}
	}
	return root.join(), nil
}

// setDefault sets the default in the schema of a property.
func (m *member) setDefault(value json.RawMessage) error {
	s, err := split(m.value)
	if err != nil {
		return err
	}
	switch {
	case s.open == '{':
		s.set("default", value)
		m.value = s.join()
	case string(m.value) == "true":
		m.value = []byte(`{"default":` + string(value) + `}`)
	}
	return nil // the schema false allows no value
}

// CheckValues validates values for top-level properties that the host will send.
// unknown lists values without a property, if the schema has properties. wrong lists
// invalid values. A schema that does not compile yields no wrong values.
func CheckValues(raw []byte, values map[string]json.RawMessage) (unknown, wrong []Problem) {
	if len(values) == 0 {
		return nil, nil
	}
	var names []string
	for _, p := range Properties(raw) {
		names = append(names, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if len(names) > 0 && !slices.Contains(names, name) {
			unknown = append(unknown,
				Problem{Path: name, Message: "is not an argument of the tool" + didYouMean(name, names)})
		}
	}
	object, err := json.Marshal(values)
	if err != nil {
		return unknown, whole("is not valid JSON")
	}
	s, err := CompileArguments(raw)
	if err != nil {
		return unknown, nil
	}
	for _, p := range s.Check(object) {
		name, _, _ := strings.Cut(p.Path, ".")
		name, _, _ = strings.Cut(name, "[")
		if _, ours := values[name]; ours && slices.Contains(names, name) {
			wrong = append(wrong, p)
		}
	}
	return unknown, wrong
}
