package host

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// Where a reload notices that a field of config.Server has changed.
const (
	inConnection = "new connections"     // see connectionInput
	inView       = "new lists"           // see sameView
	inBoth       = inConnection + inView // each makes new lists
	elsewhere    = ""                    // read again in each generation
)

// noticed has every field of a server block, and of the structs in it.
var noticed = map[string]string{
	// Identity, and what decides whether there is a server.
	"Name": elsewhere, "At": elsewhere, "Enabled": elsewhere, "Blocked": elsewhere, "BlockedByUser": elsewhere,
	"Registry": elsewhere, "Required": elsewhere,
	"written": elsewhere, // for people
	// In gateway.Server, which each generation makes.
	"Resources.Unlisted": elsewhere, "Context": elsewhere, "Trace": elsewhere, "LogLevel": elsewhere,

	"Layer": inConnection, "Protocol": inConnection, "MaxMessage": inConnection,
	"Fingerprint": inConnection, "Transport": inConnection, "Auth": inConnection,
	"Idle.Adaptive": inConnection, "Idle.Never": inConnection, "Idle.After": inConnection,
	"Timeouts.Start": inConnection, "Timeouts.Call": inConnection,
	"Timeouts.Shutdown": inConnection, "Timeouts.Install": inConnection, "Timeouts.Extends": inConnection,
	"Share":   inBoth,
	"Managed": inView, "Definitions": inView,
	"Lock": inView, "Prefix": inView, "Describe": inView, "BadSchema": inView, "Views": inView,
	"Tools.Allow": inView, "Tools.Deny": inView, "Tools.Read": inView, "Tools.Write": inView,
	"Tools.Idempotent": inView, "Tools.Confirm": inView,
}

// TestReloadNoticesEveryAttribute: a new attribute of a server block takes effect in a
// reload, or the table says why not.
func TestReloadNoticesEveryAttribute(t *testing.T) {
	g := &generation{opts: &Options{}, Config: &config.Config{}}
	seen := map[string]bool{}
	eachField(reflect.TypeFor[config.Server](), "", nil, func(path string, index []int) {
		seen[path] = true
		want, ok := noticed[path]
		if !ok {
			t.Errorf("say where a reload notices %s, and add it there", path)
			return
		}
		if path == "written" {
			return // not exported, and shown to people only
		}
		before, after := &config.Server{Name: "a"}, &config.Server{Name: "a"}
		alter(t, path, reflect.ValueOf(after).Elem().FieldByIndex(index))
		if got := g.connectionInput(before) != g.connectionInput(after); got != (want == inConnection ||
			want == inBoth) {
			t.Errorf("%s: new connections: %v", path, got)
		}
		if got := !sameView(before, after); got != (want == inView || want == inBoth) {
			t.Errorf("%s: new lists: %v", path, got)
		}
	})
	for _, path := range slices.Sorted(maps.Keys(noticed)) {
		if !seen[path] {
			t.Errorf("%s is no field of a server", path)
		}
	}
}

// eachField calls do with each field of a struct, and of the structs in it that
// have no more than numbers, truth values and lists.
func eachField(of reflect.Type, prefix string, index []int, do func(path string, index []int)) {
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Name == "_" {
			continue // it declares what another field has
		}
		path, at := prefix+f.Name, append(slices.Clone(index), i)
		switch f.Type {
		case reflect.TypeFor[config.Idle](), reflect.TypeFor[config.Timeouts](), reflect.TypeFor[config.Tools](),
			reflect.TypeFor[config.Resources]():
			eachField(f.Type, path+".", at, do)
		default:
			do(path, at)
		}
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
