package language

import "reflect"

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
	for _, f := range declarationOf(v.Type()).fields {
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
			settings[f.name] = of.Interface()
		}
	}
	if p, ok := block.(Publisher); ok {
		p.Public(settings)
	}
	return settings
}
