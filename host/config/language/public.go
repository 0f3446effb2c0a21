package language

import (
	"reflect"
	"slices"
	"sync"
)

// A Publisher is a block with public settings beyond its attributes.
type Publisher interface {
	// Public adds settings by name, or replaces them.
	Public(settings map[string]any)
}

// Public returns the settings of a block that may be shown, by name; those of a nested block are
// called block.name. Secrets and repeated blocks are left out; a [Publisher] adds what may be
// shown of them. block points to the struct, and path shortens the paths of files.
func Public(block any, path func(string) string) map[string]any {
	settings := map[string]any{}
	v := reflect.ValueOf(block).Elem()
	for _, f := range declarationOf(v.Type(), "").fields {
		of := v.FieldByIndex(f.index)
		switch {
		case f.option == "block":
			if of.Kind() == reflect.Struct {
				of = of.Addr()
			}
			if of.Kind() == reflect.Pointer && !of.IsNil() {
				for name, value := range Public(of.Interface(), path) {
					settings[f.name+"."+name] = value
				}
			}
		case f.option != "" || f.secret:
		case f.path:
			settings[f.name] = path(of.String())
		default:
			settings[f.name] = publicValue(of)
		}
	}
	if p, ok := block.(Publisher); ok {
		p.Public(settings)
	}
	return settings
}

// publicValue returns the value of an attribute as it may be shown.
func publicValue(v reflect.Value) any {
	if p, ok := v.Interface().(interface{ Public() any }); ok {
		return p.Public()
	}
	return v.Interface()
}

// An Attribute is one attribute of a block, or of a block in it.
type Attribute struct {
	Entry
	Block string // the block in it; empty: none

	index []int
}

// Path is the name of the attribute with that of its block, such as timeouts.call.
func (a Attribute) Path() string {
	if a.Block == "" {
		return a.Name
	}
	return a.Block + "." + a.Name
}

// Value returns the value in a block as it may be shown. block points to the struct.
func (a Attribute) Value(block any) any {
	return publicValue(reflect.ValueOf(block).Elem().FieldByIndex(a.index))
}

// attributeLists has the lists of attributes by type and part: every server asks for them.
var attributeLists sync.Map // declarationKey to []Attribute

// AttributesOf returns the attributes of a block and of its nested blocks that are structs, in
// the order of the fields. With a part they are those with that word in their tag in. The list is
// shared: do not change it. It is safe for concurrent use.
func AttributesOf[T any](part string) []Attribute { return attributes(reflect.TypeFor[T](), part) }

// attributes returns the shared list of a type and a part, which is read once.
func attributes(t reflect.Type, part string) []Attribute {
	key := declarationKey{t, part}
	if known, ok := attributeLists.Load(key); ok {
		return known.([]Attribute)
	}
	known, _ := attributeLists.LoadOrStore(key, slices.Clip(readAttributes(t, part)))
	return known.([]Attribute)
}

// readAttributes reads the attributes from the tags.
func readAttributes(t reflect.Type, part string) (all []Attribute) {
	d := declarationOf(t, part)
	for _, f := range d.fields {
		switch of := t.FieldByIndex(f.index).Type; {
		case f.option == "":
			all = append(all, Attribute{Entry: d.form.Entries[f.entry], index: f.index})
		case f.option == "block" && of.Kind() == reflect.Struct:
			for _, inner := range attributes(of, part) {
				inner.Block, inner.index = f.name, append(append([]int(nil), f.index...), inner.index...)
				all = append(all, inner)
			}
		}
	}
	return all
}
