package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Hide returns a schema without the named top-level properties, for arguments
// that the host always sends itself. They leave properties and required;
// everything else, white space included, stays byte for byte. Names that are
// not there are ignored, and a schema that is no object schema with properties
// comes back as it is.
//
// It is about what a client is shown. Arguments are checked against the
// original schema, with what the host sends in its place, so it does not
// matter that allOf or dependentRequired may still name what is hidden.
func Hide(raw []byte, names []string) ([]byte, error) {
	if len(names) == 0 {
		return raw, nil
	}
	return edit(raw, func(properties *members) error {
		properties.drop(names)
		return nil
	}, names)
}

// SetDefaults gives named top-level properties a default and takes them out of
// required, for arguments that the host adds when they are missing. Otherwise
// it is like [Hide]. A value that is not JSON is an error.
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
				return fmt.Errorf("the default of %q is not valid JSON", cut(name))
			}
			if err := properties.list[i].setDefault(value); err != nil {
				return err
			}
		}
		return nil
	}, names)
}

var errNotJSON = errors.New("the schema is not valid JSON")

// edit changes properties, and takes names out of required.
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

// setDefault puts a default into the schema of a property.
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
	return nil // false allows no value, so it needs no default
}

// CheckValues looks at values for top-level properties that the host is going
// to send: unknown are those that the schema has no property for although it
// has some, wrong are those that do not fit theirs. A schema that cannot be
// compiled finds nothing wrong.
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
			unknown = append(unknown, Problem{Path: name, Message: "is no argument of the tool" + didYouMean(name, names)})
		}
	}
	object, err := json.Marshal(values)
	if err != nil {
		return unknown, whole("is not valid JSON")
	}
	s, err := Compile(raw)
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
