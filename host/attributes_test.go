package host

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// byPlugin are the fields of config.Server that connectionInput reads itself, with their plugins.
var byPlugin = []string{"Transport", "Auth"}

// TestReloadNoticesEveryAttribute: each field of a server says in its tag reload what a reload does
// after a change of it, and a reload does that.
func TestReloadNoticesEveryAttribute(t *testing.T) {
	g := &generation{opts: &Options{}, Config: &config.Config{}}
	eachField(reflect.TypeFor[config.Server](), "", nil, func(path string, f reflect.StructField, index []int) {
		words, err := language.ReloadWords(f.Tag)
		switch {
		case err != nil:
			t.Errorf("%s: %v", path, err)
		case slices.Contains(byPlugin, path) && words == nil:
			words = []string{language.ReloadConnection}
		case len(words) == 0:
			t.Errorf("say in the tag reload of %s what a reload does after a change", path)
		}
		before, after := &config.Server{Name: "a"}, &config.Server{Name: "a"}
		alter(t, path, reflect.ValueOf(after).Elem().FieldByIndex(index))
		got := g.connectionInput(before) != g.connectionInput(after)
		if got != slices.Contains(words, language.ReloadConnection) {
			t.Errorf("%s: new connections: %v", path, got)
		}
		if got := !sameView(before, after); got != slices.Contains(words, language.ReloadView) {
			t.Errorf("%s: new lists: %v", path, got)
		}
		if slices.Contains(words, language.ReloadCache) && !slices.Contains(words, language.ReloadConnection) {
			t.Errorf("%s: a server that offers something else needs new connections", path)
		}
	})
}

// TestReloadKeepsItsClasses: these attributes do what they always did in a reload.
func TestReloadKeepsItsClasses(t *testing.T) {
	s := config.Server{}
	for word, names := range map[string][]string{
		language.ReloadCache: {"max_message", "protocol"},
		language.ReloadConnection: {
			"Fingerprint", "Layer", "idle", "max_message", "protocol", "share", "timeouts.call", "timeouts.install",
			"timeouts.progress_extends", "timeouts.shutdown", "timeouts.start",
		},
		language.ReloadView: {
			"Lock", "Managed", "Views", "bad_schema", "definitions", "describe", "prefix", "share", "tools.allow",
			"tools.confirm", "tools.deny", "tools.idempotent", "tools.read", "tools.write",
		},
	} {
		noticed := language.Noticed(&s, word)
		for _, name := range names {
			if _, found := noticed[name]; !found {
				t.Errorf("%s has lost its tag reload:%q", name, word)
			}
		}
	}
}

// eachField calls do with each exported field of a struct, and of the nested blocks in it.
func eachField(of reflect.Type, prefix string, index []int, do func(string, reflect.StructField, []int)) {
	for i := range of.NumField() {
		f := of.Field(i)
		if !f.IsExported() {
			continue // written is for people; _ declares what another field has
		}
		path, at := prefix+f.Name, append(slices.Clone(index), i)
		if strings.HasSuffix(f.Tag.Get("hcl"), ",block") && f.Type.Kind() == reflect.Struct {
			eachField(f.Type, path+".", at, do)
			continue
		}
		do(path, f, at)
	}
}

// alter gives a field another value.
func alter(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	var to any
	switch v.Interface().(type) {
	case string:
		to = "changed"
	case []string:
		to = []string{"changed"}
	case bool:
		to = true
	case int:
		to = 1
	case time.Duration:
		to = time.Second
	case config.Idle:
		to = config.Idle{After: time.Second}
	case source.Position:
		to = source.Position{Line: 7}
	case config.Block:
		to = config.Block{Component: "changed"}
	case *config.Block:
		to = &config.Block{Component: "changed"}
	case config.Patterns:
		to = config.Patterns{{Glob: "changed"}}
	case []config.View:
		to = []config.View{{}}
	default:
		t.Fatalf("%s has a type that the test does not know", path)
	}
	v.Set(reflect.ValueOf(to))
}
