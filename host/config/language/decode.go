package language

import (
	"reflect"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Decode reads a block into the struct that declares it; see [Setting] for the tags. It reports
// unknown names and wrong values to the host of the reader.
func Decode(r Reader, into any) { decode(r, reflect.ValueOf(into).Elem()) }

func decode(r Reader, into reflect.Value) {
	d := declarationOf(into.Type())
	r.Check(&d.form)
	for _, f := range d.fields {
		v := into.FieldByIndex(f.index)
		switch f.option {
		case "label":
			v.SetString(r.Label)
		case "block":
			r.decodeBlocks(f.name, v)
		default:
			f.read(r, v)
			if f.needed && !r.IsSet(f.name) {
				r.ReportMissing(f.name, r.Head)
			}
		}
	}
	if v, ok := into.Addr().Interface().(Validator); ok {
		v.Validate(r)
	}
}

// decodeBlocks reads the nested blocks of one type into a field.
func (r Reader) decodeBlocks(name string, into reflect.Value) {
	var blocks []*hclsyntax.Block
	for _, b := range r.Body.Blocks {
		if b.Type == name {
			blocks = append(blocks, b)
		}
	}
	switch {
	case into.Kind() == reflect.Slice:
		for _, b := range blocks {
			one := reflect.New(into.Type().Elem()).Elem()
			decode(r.Nested(b), one)
			into.Set(reflect.Append(into, one))
		}
	case len(blocks) > 0 && into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		decode(r.Nested(blocks[0]), into.Elem())
	case len(blocks) > 0:
		decode(r.Nested(blocks[0]), into)
	case into.Kind() == reflect.Struct:
		decode(Reader{Host: r.Host, In: r.In, Body: &hclsyntax.Body{}}, into)
	}
}

// Nested returns a reader of a block inside this one.
func (r Reader) Nested(b *hclsyntax.Block) Reader {
	inner := NewReader(b, r.In)
	inner.Host = r.Host
	return inner
}
