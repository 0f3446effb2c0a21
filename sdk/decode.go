package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Decode checks settings, a JSON object, against schema and stores them in the
// struct that into points to. schema must be made from that struct. Decode
// reports all mistakes, joined: each is an [*Error] of code Invalid with the
// path of the setting.
//
// The host checks most rules too, with better messages. The plugin checks again
// because an older host may check less.
func Decode(schema Schema, settings []byte, into any) error {
	if len(bytes.TrimSpace(settings)) == 0 {
		settings = []byte("{}")
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(settings, &all); err != nil {
		return AttrErrorf("", "settings are not a JSON object")
	}
	var d decoder
	d.block("", schema, all, reflect.ValueOf(into).Elem())
	return errors.Join(d.errs...)
}

// A decoder collects the mistakes found while decoding. It belongs to one call of Decode.
type decoder struct{ errs []error }

func (d *decoder) failf(path, format string, args ...any) {
	d.errs = append(d.errs, AttrErrorf(path, format, args...))
}

// block decodes one block's members into a struct.
func (d *decoder) block(prefix string, schema Schema, members map[string]json.RawMessage, into reflect.Value) {
	fields := map[string]reflect.Value{}
	for f, v := range into.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("hcl"), ",")
		if f.IsExported() && name != "" {
			fields[name] = v
		}
	}
	for _, a := range schema.Attributes {
		path, raw := prefix+a.Name, members[a.Name]
		if isNull(raw) {
			raw = a.Default
			if a.Required {
				d.failf(path, "is required")
			}
		} else {
			for _, other := range a.ConflictsWith {
				if !isNull(members[other]) {
					d.failf(path, "cannot stand beside %s", other)
				}
			}
			for _, other := range a.RequiredWith {
				if isNull(members[other]) {
					d.failf(path, "needs %s beside it", other)
				}
			}
		}
		if !isNull(raw) {
			d.attribute(path, a, raw, fields[a.Name])
		}
	}
	labels := map[string]bool{}
	for _, b := range schema.Blocks {
		d.nested(prefix+b.Name, b, members[b.Name], fields[b.Name])
		labels[b.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if schema.Attribute(name) == nil && !labels[name] && !fields[name].IsValid() {
			d.failf(prefix+name, "is not a setting; known are %s", strings.Join(schema.names(), ", "))
		}
	}
}

// isNull reports whether a setting is missing or null. The host treats both
// alike.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func (d *decoder) attribute(path string, a Attribute, raw json.RawMessage, into reflect.Value) {
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	if err := assignJSON(into, raw); err != nil {
		for at, ok := err.(*elementError); ok; at, ok = err.(*elementError) {
			path, err = path+at.path, at.err
		}
		d.failf(path, "%v", err)
		return
	}
	if len(a.Enum) > 0 && into.Kind() == reflect.String && !slices.Contains(a.Enum, into.String()) {
		d.failf(path, "must be one of %s", strings.Join(a.Enum, ", "))
	}
}

func (d *decoder) nested(path string, b Block, raw json.RawMessage, into reflect.Value) {
	if isNull(raw) {
		if b.Need {
			d.failf(path, "is required")
		}
		return
	}
	var several []map[string]json.RawMessage
	var err error
	if b.List {
		err = json.Unmarshal(raw, &several)
	} else {
		several = make([]map[string]json.RawMessage, 1)
		err = json.Unmarshal(raw, &several[0])
	}
	if err != nil {
		d.failf(path, "is not a block")
		return
	}
	switch into.Kind() {
	case reflect.Slice:
		into.Set(reflect.MakeSlice(into.Type(), len(several), len(several)))
		for i, one := range several {
			d.labelled(fmt.Sprintf("%s[%d].", path, i), b, one, into.Index(i))
		}
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		d.block(path+".", b.Schema, several[0], into.Elem())
	default:
		d.block(path+".", b.Schema, several[0], into)
	}
}

// labelled decodes one block of a list. The block's label is one of its
// members.
func (d *decoder) labelled(prefix string, b Block, members map[string]json.RawMessage, into reflect.Value) {
	if b.Label != "" {
		for f, v := range into.Fields() {
			if f.Tag.Get("hcl") != b.Label+",label" {
				continue
			}
			if err := assignJSON(v, members[b.Label]); err != nil {
				d.failf(prefix+b.Label, "%v", err)
			}
		}
	}
	d.block(prefix, b.Schema, members, into)
}

// An elementError reports which element of a list or map has a wrong value.
type elementError struct {
	path string
	err  error
}

func (e *elementError) Error() string { return e.path + ": " + e.err.Error() }

// assignJSON stores one JSON value in a field of a type that typeOf accepts.
func assignJSON(into reflect.Value, raw json.RawMessage) error {
	switch {
	case into.Type() == rawType:
		into.SetBytes(bytes.Clone(raw))
		return nil
	case isNull(raw):
		return fmt.Errorf("must have a value") // encoding/json would decode null as ""
	case into.Type() == durationType:
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return fmt.Errorf(`must be a duration such as "30s"`)
		}
		v, err := time.ParseDuration(s)
		if err != nil || v < 0 {
			return fmt.Errorf(`must be a duration such as "30s", not %q`, s)
		}
		into.SetInt(int64(v))
		return nil
	}
	switch into.Kind() {
	case reflect.Slice:
		var elems []json.RawMessage
		if json.Unmarshal(raw, &elems) != nil {
			return fmt.Errorf("must be a list")
		}
		into.Set(reflect.MakeSlice(into.Type(), len(elems), len(elems)))
		for i, e := range elems {
			if err := assignJSON(into.Index(i), e); err != nil {
				return &elementError{path: fmt.Sprintf("[%d]", i), err: err}
			}
		}
		return nil
	case reflect.Map:
		return assignMap(into, raw)
	case reflect.String, reflect.Bool:
		if json.Unmarshal(raw, into.Addr().Interface()) != nil {
			return fmt.Errorf("must be a %s",
				map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "bool"}[into.Kind()])
		}
		return nil
	default:
		return assignNumber(into, string(raw))
	}
}

func assignMap(into reflect.Value, raw json.RawMessage) error {
	var elems map[string]json.RawMessage
	if json.Unmarshal(raw, &elems) != nil {
		return fmt.Errorf("must be a map")
	}
	into.Set(reflect.MakeMap(into.Type()))
	for k, e := range elems {
		v := reflect.New(into.Type().Elem()).Elem()
		if err := assignJSON(v, e); err != nil {
			return &elementError{path: fmt.Sprintf("[%q]", k), err: err}
		}
		into.SetMapIndex(reflect.ValueOf(k).Convert(into.Type().Key()), v)
	}
	return nil
}

// assignNumber stores a number. Whole numbers may have the forms that cty
// writes, such as 5 and 1e3.
func assignNumber(into reflect.Value, text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("must be a number")
	}
	switch into.Kind() {
	case reflect.Float32, reflect.Float64:
		if into.OverflowFloat(f) {
			return fmt.Errorf("must be a number that fits, not %s", text)
		}
		into.SetFloat(f)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		u, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			u = uint64(f)
		}
		if f < 0 || (err != nil && (f != math.Trunc(f) || f > 1<<53)) || into.OverflowUint(u) {
			return fmt.Errorf("must be a whole number that fits, not %s", text)
		}
		into.SetUint(u)
	default:
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			i = int64(f)
		}
		if (err != nil && (f != math.Trunc(f) || math.Abs(f) > 1<<53)) || into.OverflowInt(i) {
			return fmt.Errorf("must be a whole number that fits, not %s", text)
		}
		into.SetInt(i)
	}
	return nil
}
