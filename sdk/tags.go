package sdk

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// SchemaOf returns the schema of the settings struct C. The tags of C's fields
// define it:
//
//	hcl:"name"            name of the attribute; ",optional" makes it optional
//	hcl:"name,block"      nested block: a struct (required), a pointer to a
//	                      struct (optional) or a slice of structs (repeated)
//	hcl:"name,label"      label of the block, in a struct of a slice
//	doc:"…"               description; required for every attribute and block
//	default:"…"           default value; makes the attribute optional
//	enum:"a,b"            allowed values
//	format:"…"            see [Attribute]
//	sensitive:"true"      the value is never printed
//	deprecated:"…"        replacement of a deprecated attribute
//	conflicts:"a,b"       attributes that exclude this one
//	requires:"a,b"        attributes that this one requires
//
// Fields may be string, bool, any integer or float, time.Duration, slices and
// string-keyed maps of those, and json.RawMessage for any value. A field of
// type *T is an optional T, nil if missing. Unexported fields are ignored.
//
// SchemaOf panics if C cannot be described, because that is a mistake in the
// program.
func SchemaOf[C any]() Schema {
	t := reflect.TypeFor[C]()
	s, err := schemaOf(t, nil)
	if err == nil {
		var label string
		if label, err = labelOf(t); label != "" {
			err = fmt.Errorf("%s has a label, but its block is named already", t)
		}
	}
	if err == nil {
		if err = s.check(); err != nil {
			err = fmt.Errorf("%s: %w", t, err)
		}
	}
	if err != nil {
		panic("sdk: " + err.Error())
	}
	return s
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	rawType      = reflect.TypeFor[json.RawMessage]()
)

// schemaOf returns the schema of one struct. around lists the structs that
// contain it.
func schemaOf(t reflect.Type, around []reflect.Type) (Schema, error) {
	var s Schema
	if t.Kind() != reflect.Struct {
		return s, fmt.Errorf("%s is not a struct", t)
	}
	if slices.Contains(around, t) {
		return s, fmt.Errorf("%s contains itself", t)
	}
	around = append(slices.Clip(around), t)
	for f := range t.Fields() {
		if !f.IsExported() {
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("hcl"), ",")
		var err error
		switch {
		case name == "":
			err = fmt.Errorf("has no hcl tag")
		case f.Tag.Get("doc") == "":
			err = fmt.Errorf("has no doc tag")
		case option == "label":
			continue // handled by addBlock
		case option == "block":
			err = addBlock(&s, f, name, around)
		case option == "" || option == "optional":
			err = addAttribute(&s, f, name, option == "optional")
		default:
			err = fmt.Errorf("hcl tag option %q is not known", option)
		}
		if err != nil {
			return s, fmt.Errorf("field %s.%s %w", t, f.Name, err)
		}
	}
	return s, nil
}

func addAttribute(s *Schema, f reflect.StructField, name string, optional bool) error {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t, optional = t.Elem(), true
	}
	typ, format, err := typeOf(t)
	if err != nil {
		return err
	}
	sensitive, given := f.Tag.Lookup("sensitive")
	if given && sensitive != "true" {
		return fmt.Errorf("has the tag sensitive:%q; it is \"true\" or absent", sensitive)
	}
	a := Attribute{
		Name: name, Description: f.Tag.Get("doc"), Type: typ, Required: !optional,
		Enum: list(f.Tag.Get("enum")), Format: format, Sensitive: given,
		Deprecated: f.Tag.Get("deprecated"), ConflictsWith: list(f.Tag.Get("conflicts")),
		RequiredWith: list(f.Tag.Get("requires")),
	}
	if v := f.Tag.Get("format"); v != "" {
		a.Format = v
	}
	if v, ok := f.Tag.Lookup("default"); ok {
		a.Required = false
		if a.Default, err = defaultJSON(t, v); err != nil {
			return fmt.Errorf("default: %w", err)
		}
	}
	s.Attributes = append(s.Attributes, a)
	return nil
}

func addBlock(s *Schema, f reflect.StructField, name string, around []reflect.Type) error {
	b := Block{Name: name}
	t := f.Type
	switch t.Kind() {
	case reflect.Struct:
		b.Need = true
	case reflect.Pointer:
		t = t.Elem()
	case reflect.Slice:
		t, b.List = t.Elem(), true
	}
	var err error
	if b.Schema, err = schemaOf(t, around); err != nil {
		return err
	}
	if b.Label, err = labelOf(t); err != nil {
		return err
	}
	b.Schema.Description = f.Tag.Get("doc")
	s.Blocks = append(s.Blocks, b)
	return nil
}

// labelOf returns the name of the attribute that receives the block's label, or
// "" if the block has none.
func labelOf(t reflect.Type) (string, error) {
	label := ""
	for f := range t.Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("hcl"), ",")
		if option != "label" || !f.IsExported() {
			continue
		}
		if label != "" || f.Type.Kind() != reflect.String {
			return "", fmt.Errorf("%s: a label is one string field", t)
		}
		label = name
	}
	return label, nil
}

// typeOf returns the configuration type of a field and its default format.
func typeOf(t reflect.Type) (typ json.RawMessage, format string, err error) {
	switch {
	case t == durationType:
		return json.RawMessage(`"string"`), "duration", nil
	case t == rawType:
		return json.RawMessage(`"dynamic"`), "", nil
	}
	switch t.Kind() {
	case reflect.String:
		return json.RawMessage(`"string"`), "", nil
	case reflect.Bool:
		return json.RawMessage(`"bool"`), "", nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return json.RawMessage(`"number"`), "integer", nil
	case reflect.Float32, reflect.Float64:
		return json.RawMessage(`"number"`), "", nil
	case reflect.Slice:
		elem, _, err := typeOf(t.Elem())
		return json.RawMessage(`["list",` + string(elem) + `]`), "", err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, "", fmt.Errorf("has type %s; keys must be strings", t)
		}
		elem, _, err := typeOf(t.Elem())
		return json.RawMessage(`["map",` + string(elem) + `]`), "", err
	}
	return nil, "", fmt.Errorf("has type %s, which settings cannot have", t)
}

// defaultJSON converts the text of a default tag to JSON and checks that the
// field accepts it.
func defaultJSON(t reflect.Type, text string) (json.RawMessage, error) {
	raw := json.RawMessage(text)
	if t.Kind() == reflect.String || t == durationType {
		var err error
		if raw, err = json.Marshal(text); err != nil {
			return nil, err
		}
	}
	if !json.Valid(raw) {
		return nil, fmt.Errorf("%q is not JSON", text)
	}
	return raw, assignJSON(reflect.New(t).Elem(), raw)
}

func list(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, ",")
}
