package wire

import (
	"bytes"
	"encoding/gob"
	"encoding/hex"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(name string) string { return filepath.Join("..", "..", "testdata", "wire", name) }

// wireTypes returns the structs in the arguments and replies of all methods, by
// name, and the methods as text.
func wireTypes(t *testing.T) (types map[string]reflect.Type, methods []string) {
	t.Helper()
	types = map[string]reflect.Type{}
	for _, side := range []struct {
		name string
		of   reflect.Type
	}{{"Plugin", reflect.TypeFor[*Control]()}, {"Host", reflect.TypeFor[*HostControl]()}} {
		for m := range side.of.Methods() {
			f := m.Type
			if f.NumIn() != 3 || f.In(2).Kind() != reflect.Pointer || f.NumOut() != 1 {
				t.Errorf("%s.%s is not a method that net/rpc can call", side.name, m.Name)
				continue
			}
			args, reply := f.In(1), f.In(2).Elem()
			methods = append(methods, fmt.Sprintf("%s.%s(%s) %s", side.name, m.Name, args.Name(), reply.Name()))
			walk(t, args.Name(), args, types)
			walk(t, reply.Name(), reply, types)
		}
	}
	return types, methods
}

// walk reports types that gob cannot send or changes in transit.
func walk(t *testing.T, path string, typ reflect.Type, into map[string]reflect.Type) {
	t.Helper()
	switch typ.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint32, reflect.Uint64, reflect.Uint8:
		if typ.PkgPath() != "" {
			t.Errorf("%s: %s has methods that gob may call, or a meaning that gob loses", path, typ)
		}
	case reflect.Slice:
		walk(t, path+"[]", typ.Elem(), into)
	case reflect.Map:
		if typ != reflect.TypeFor[map[string]string]() {
			t.Errorf("%s: %s: the only map allowed is map[string]string", path, typ)
		}
	case reflect.Struct:
		if typ.PkgPath() != reflect.TypeFor[Call]().PkgPath() {
			t.Errorf("%s: %s belongs to another package and may change with it", path, typ)
			return
		}
		into[typ.Name()] = typ
		for f := range typ.Fields() {
			if !f.IsExported() || f.Anonymous {
				t.Errorf("%s.%s is not sent by gob", path, f.Name)
			}
			walk(t, path+"."+f.Name, f.Type, into)
		}
	default:
		t.Errorf("%s: a %s does not survive gob", path, typ.Kind())
	}
}

// TestTypes compares the protocol with the golden list of version 1. Methods
// and fields may be added but not changed or removed.
func TestTypes(t *testing.T) {
	types, methods := wireTypes(t)
	var b strings.Builder
	for _, m := range methods {
		fmt.Fprintln(&b, m)
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		for f := range types[name].Fields() {
			fmt.Fprintf(&b, "%s.%s %s\n", name, f.Name, f.Type)
		}
	}
	for f := range reflect.TypeFor[Event]().Fields() {
		fmt.Fprintf(&b, "Event.%s %s %s\n", f.Name, f.Type, f.Tag)
	}
	fmt.Fprintf(&b, "frame header %d, message %d, event %d\n", frameHeader, kindMessage, kindEvent)
	fmt.Fprintf(&b, "handshake %s=%s, object %s, majors %v\n",
		CookieKey, CookieValue, Object, Majors())

	if *update {
		if err := os.WriteFile(golden("v1.golden"), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden("v1.golden"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(b.String(), "\n")
	for line := range strings.Lines(string(want)) {
		if !slices.Contains(got, strings.TrimSuffix(line, "\n")) {
			t.Errorf("older plugins and hosts rely on %q", strings.TrimSpace(line))
		}
	}
	if !t.Failed() && b.String() != string(want) {
		t.Error("the protocol has new methods or fields: run with -update and add a feature string for them")
	}
}

// fill sets every field to a value derived from its name, so that a new field
// does not change the values of others.
func fill(v reflect.Value, name string) {
	hash := fnv.New32a()
	hash.Write([]byte(name))
	number := int64(hash.Sum32()%1000) + 1
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(-number)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(number % 256))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{name: name + "'"}))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), name)
		fill(v.Index(1), name+"'")
	case reflect.Struct:
		for f, field := range v.Fields() {
			fill(field, name+"."+f.Name)
		}
	}
}

// leaves counts the values that are not zero.
func leaves(v reflect.Value) int {
	n := 0
	switch {
	case v.Kind() == reflect.Struct:
		for _, field := range v.Fields() {
			n += leaves(field)
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			n += leaves(v.Index(i))
		}
	case !v.IsZero():
		n = 1
	}
	return n
}

// older reports a value in got that is neither zero nor the value that fill
// sets.
func older(t *testing.T, path string, got, full reflect.Value) {
	t.Helper()
	switch {
	case got.Kind() == reflect.Struct:
		for f, field := range got.Fields() {
			older(t, path+"."+f.Name, field, full.FieldByName(f.Name))
		}
	case !got.IsZero() && got.Kind() == reflect.Slice && got.Type().Elem().Kind() == reflect.Struct &&
		got.Len() == full.Len():
		for i := range got.Len() {
			older(t, fmt.Sprintf("%s[%d]", path, i), got.Index(i), full.Index(i))
		}
	case !got.IsZero() && !reflect.DeepEqual(got.Interface(), full.Interface()):
		t.Errorf("%s arrived as %v, want %v", path, got, full)
	}
}

// TestGob decodes the encoding of version 1. Its lines are never changed,
// because released plugins send them.
func TestGob(t *testing.T) {
	types, _ := wireTypes(t)
	text, err := os.ReadFile(golden("v1.gob"))
	if err != nil && !*update {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		var name, dump string
		var want int
		if _, err := fmt.Sscan(line, &name, &want, &dump); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		known[name] = true
		typ, ok := types[name]
		if !ok {
			t.Errorf("%s was removed", name)
			continue
		}
		sent, err := hex.DecodeString(dump)
		if err != nil {
			t.Fatal(err)
		}
		full, got := reflect.New(typ), reflect.New(typ)
		fill(full.Elem(), name)
		if err := gob.NewDecoder(bytes.NewReader(sent)).DecodeValue(got); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		older(t, name, got.Elem(), full.Elem())
		if n := leaves(got.Elem()); n != want {
			t.Errorf("%s: %d of %d values arrived", name, n, want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		if known[name] {
			continue
		}
		if !*update {
			t.Errorf("%s is new; run with -update", name)
			continue
		}
		full := reflect.New(types[name])
		fill(full.Elem(), name)
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).EncodeValue(full); err != nil {
			t.Fatal(err)
		}
		text = fmt.Appendf(text, "%s %d %x\n", name, leaves(full.Elem()), b.Bytes())
	}
	if *update {
		if err := os.WriteFile(golden("v1.gob"), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWalkRefuses checks that walk reports types that gob cannot send.
func TestWalkRefuses(t *testing.T) {
	type code string
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*bool](), reflect.TypeFor[any](), reflect.TypeFor[error](), reflect.TypeFor[chan int](),
		reflect.TypeFor[func()](), reflect.TypeFor[map[string]any](), reflect.TypeFor[map[int]string](),
		reflect.TypeFor[[]*int](), reflect.TypeFor[reflect.Value](), reflect.TypeFor[code](),
		reflect.TypeFor[struct{ a int }](), reflect.TypeFor[[]map[string]int](), reflect.TypeFor[float64](),
	} {
		probe := new(testing.T)
		walk(probe, "x", typ, map[string]reflect.Type{})
		if !probe.Failed() {
			t.Errorf("%s was accepted", typ)
		}
	}
}
