package language

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// The words of the tag reload say what a change of a field does in a reload.
const (
	ReloadConnection = "connection" // connections are opened anew
	ReloadCache      = "cache"      // lists that were cached before do not count
	ReloadView       = "view"       // clients may see other lists of items
	ReloadNone       = "none"       // each generation reads the field again; no other word beside it
)

// reloadWords has the results of ReloadWords for tags without a mistake, by tag.
var reloadWords sync.Map

// ReloadWords returns the words of the tag reload of a field; none without the tag.
// The list is shared: do not change it. It is safe for concurrent use.
func ReloadWords(tag reflect.StructTag) ([]string, error) {
	if known, ok := reloadWords.Load(tag); ok {
		return known.([]string), nil
	}
	words := list(tag.Get("reload"))
	for _, word := range words {
		if !slices.Contains([]string{ReloadConnection, ReloadCache, ReloadView, ReloadNone}, word) {
			return nil, fmt.Errorf("tag reload: %q is not known", word)
		}
	}
	if len(words) > 1 && slices.Contains(words, ReloadNone) {
		return nil, fmt.Errorf("tag reload: %q has no other word beside it", ReloadNone)
	}
	reloadWords.Store(tag, words)
	return words, nil
}

// Noticed returns the values of the fields of a block with a word in their tag reload. A field
// of a nested block that is a struct is called block.name, and a field that is no attribute as
// in Go. block points to the struct. It panics if the tags are wrong, because that is a mistake
// in the program.
func Noticed(block any, word string) map[string]any {
	return noticed(reflect.ValueOf(block).Elem(), word)
}

func noticed(v reflect.Value, word string) map[string]any {
	values := map[string]any{}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		words, err := ReloadWords(f.Tag)
		if err != nil {
			panic("language: " + v.Type().String() + ": field " + f.Name + ": " + err.Error())
		}
		tag, tagged := f.Tag.Lookup("hcl")
		name, option, _ := strings.Cut(tag, ",")
		switch {
		case slices.Contains(words, word) && !tagged:
			values[f.Name] = v.Field(i).Interface()
		case slices.Contains(words, word):
			values[name] = v.Field(i).Interface()
		case !tagged && f.Anonymous && f.Type.Kind() == reflect.Struct:
			maps.Copy(values, noticed(v.Field(i), word))
		case option == "block" && f.Name != "_" && f.Type.Kind() == reflect.Struct:
			for inner, value := range noticed(v.Field(i), word) {
				values[name+"."+inner] = value
			}
		}
	}
	return values
}
