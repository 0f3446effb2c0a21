package sdk

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// SchemaOf describes the settings struct C by its fields' tags:
//
//	hcl:"name"            the attribute's name; ",optional" makes it so
//	hcl:"name,block"      a nested block: a struct (must stand), a pointer to a
//	                      struct (may stand) or a slice of structs (any number)
//	hcl:"name,label"      in a block of a slice: the block's label
//	doc:"…"               what it is for; every attribute and block needs one
//	default:"…"           the value when unset, which makes it optional
//	enum:"a,b"            the values allowed
//	format:"…"            see [Attribute]
//	sensitive:"true"      never printed
//	deprecated:"…"        what to use instead
//	conflicts:"a,b"       attributes that may not stand beside it
//	requires:"a,b"        attributes that must stand beside it
//
// Fields may be string, bool, any integer or float, time.Duration, slices and
// string-keyed maps of those, and json.RawMessage for anything. A field of
// type *T is T that may be left out, and nil then. Unexported fields are
// ignored.
//
// It panics when C cannot be described: that is a mistake in the program.
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

// schemaOf describes one struct; around are those that it is nested in.
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
			continue // described by the block that has the label
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
		Deprecated: f.Tag.Get("deprecated"), ConflictsWith: list(f.Tag.Get("conflicts")), RequiredWith: list(f.Tag.Get("requires")),
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

// labelOf returns the attribute that a block's label becomes, if it has one.
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

// typeOf returns the configuration type of a field and the format that goes
// with it.
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

// defaultJSON turns the text of a default tag into JSON of the field's type
// and checks that it fits.
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
