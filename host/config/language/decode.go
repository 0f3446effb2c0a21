package language

import (
	"fmt"
	"reflect"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// A Partial is a block of which not everything is read in each case.
type Partial interface {
	// Done is called after each field. If it returns true, the rest is neither read nor checked.
	Done() bool
}

// Decode reads a block into the struct that declares it. It reports
// unknown names and wrong values to the host of the reader.
func Decode(r Reader, into any) { decode(r, reflect.ValueOf(into).Elem(), true) }

// Override is Decode for a struct that has the values of absent attributes.
func Override(r Reader, into any) { decode(r, reflect.ValueOf(into).Elem(), false) }

func decode(r Reader, into reflect.Value, defaults bool) {
	d := declarationOf(into.Type(), "")
	partial, _ := into.Addr().Interface().(Partial)
	r.state = &readState{read: map[string]bool{}}
	r.Check(&d.form)
	labels := r.all
	for _, f := range d.fields {
		v := into.FieldByIndex(f.index)
		switch f.option {
		case "label":
			if len(labels) > 0 {
				v.SetString(labels[0])
				labels = labels[1:]
			}
		case "block":
			r.decodeBlocks(f.name, v)
		default:
			if f.start != nil && defaults {
				f.start(v)
			}
			before := r.state.errors
			f.read(r, v)
			if r.state.errors > before {
				r.state.read[f.name] = false
			}
			if f.needed && r.Host != nil && !r.IsSet(f.name) {
				r.ReportMissing(f.name, r.Head)
			}
		}
		if partial != nil && partial.Done() {
			return
		}
	}
	if r.Host == nil {
		return
	}
	for _, f := range d.fields {
		r.checkRelations(f)
	}
	if v, ok := into.Addr().Interface().(Validator); ok {
		v.Validate(r)
	}
}

// checkRelations reports attributes that conflict with another one, or lack one.
func (r Reader) checkRelations(f field) {
	if len(f.conflicts)+len(f.requires) == 0 || !r.IsSet(f.name) {
		return
	}
	for _, other := range f.conflicts {
		if r.IsSet(other) {
			r.ErrorAt(r.NameAt(f.name), "keep one of them", "%q cannot be set together with %q", f.name, other)
		}
	}
	for _, other := range f.requires {
		if !r.IsSet(other) {
			r.ErrorAt(r.NameAt(f.name), fmt.Sprintf("add %s = ... to the block", other), "%q needs %q beside it",
				f.name, other)
		}
	}
}

// Defaults returns a block in which nothing is set.
func Defaults[T any]() (block T) {
	decode(Reader{Body: &hclsyntax.Body{}}, reflect.ValueOf(&block).Elem(), true)
	return block
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
			decode(r.Nested(b), one, true)
			into.Set(reflect.Append(into, one))
		}
	case len(blocks) > 0 && into.Kind() == reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		decode(r.Nested(blocks[0]), into.Elem(), true)
	case len(blocks) > 0:
		decode(r.Nested(blocks[0]), into, true)
	case into.Kind() == reflect.Struct:
		inner, _ := r.BlockOrEmpty(name)
		decode(inner, into, true)
	}
}

// Block opens the first nested block of a type.
func (r Reader) Block(kind string) (inner Reader, found bool) {
	for _, b := range r.Body.Blocks {
		if b.Type == kind {
			return r.Nested(b), true
		}
	}
	return Reader{}, false
}

// Labelled returns the nested blocks of a type with one label.
func (r Reader) Labelled(kind string) (blocks []*hclsyntax.Block) {
	for _, b := range r.Body.Blocks {
		if b.Type == kind && len(b.Labels) == 1 {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// Nested returns a reader of a block inside this one.
func (r Reader) Nested(b *hclsyntax.Block) Reader {
	inner := NewReader(b, r.In)
	inner.Host = r.Host
	inner.Fallback = r.inheritedBlock(b.Type)
	return inner
}

// BlockOrEmpty is Block, and an empty block if there is none.
func (r Reader) BlockOrEmpty(kind string) (inner Reader, found bool) {
	if inner, found = r.Block(kind); !found {
		inner = Reader{Host: r.Host, In: r.In, Body: &hclsyntax.Body{}, Fallback: r.inheritedBlock(kind)}
	}
	return inner, found
}

// inheritedBlock returns the body of the first inherited block of a type, or nil.
func (r Reader) inheritedBlock(kind string) *hclsyntax.Body {
	if r.Fallback == nil {
		return nil
	}
	for _, b := range r.Fallback.Blocks {
		if b.Type == kind {
			return b.Body
		}
	}
	return nil
}
