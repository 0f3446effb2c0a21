package schema

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// seeds covers all keywords.
var seeds = []string{
	issue, search, `{"$ref":"#"}`, doubling(5), doubling(11), nest(`{"not":`, 20, `{}`, `}`),
	`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/a","definitions":{"a":{"type":"object","properties":{"b":{"$ref":"#/definitions/a"}},"dependencies":{"b":["c"],"c":{}}}}}`,
	`{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"contains":{"pattern":"\\u00e9"},"unevaluatedItems":false}`,
	`{"patternProperties":{"^[a-z]{1,5}$":{"multipleOf":0.5}},"propertyNames":{"maxLength":3},"if":{"required":["a"]},"then":{"minProperties":2},"else":false}`,
	`{"$id":"http://x/y","$defs":{"a":{"$id":"z","$anchor":"b"}},"oneOf":[{"const":1e3},{"enum":[null,{"a":[]}]}],"uniqueItems":true}`,
}

// FuzzVet checks that nothing panics, and that vetted schemas compile fast with bounded
// memory.
func FuzzVet(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		vetted := reason(t, vetError(raw))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		s, err := Compile(raw)
		if took := time.Since(start); took > time.Second { // 200 ms without instrumentation and parallel fuzzing
			t.Errorf("took %v", took)
		}
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20+4000*uint64(len(raw)) {
			t.Errorf("%d bytes for a schema of %d", grown, len(raw))
		}
		compiled := reason(t, err)
		if vetted != "" && compiled != vetted {
			t.Errorf("vetted as %q, compiled as %q", vetted, compiled)
		}
		if err != nil && strings.Contains(err.Error(), "panic") {
			t.Error(err)
		}
		if err == nil {
			s.Check([]byte(`{"a":[1,"b",null],"owner":{"c":true}}`))
		}
		Properties(raw)
		_ = VetElicitation(raw)
		fuzzViews(t, raw, vetted)
	})
}

func fuzzViews(t *testing.T, raw []byte, vetted string) {
	hidden, err := Hide(raw, []string{"a", "owner"})
	if err != nil && vetted == "" {
		t.Errorf("Hide: %v", err)
	}
	if err == nil && vetted == "" && !jsontext.Value(hidden).IsValid(lenient) {
		t.Errorf("Hide made %s", hidden)
	}
	for _, p := range Properties(hidden) {
		if p.Name == "a" && len(p.Type) == 0 {
			t.Error("a property without a type")
		}
	}
}

// FuzzCheck checks that Check never panics, is deterministic, and agrees with the library.
func FuzzCheck(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), []byte(`{"owner":"a","repo":{"name":1},"labels":["a","a"],"page":1e2,"who":{"kind":"user"}}`))
		f.Add([]byte(s), []byte(`[{"a":[]},1.50,"\u00e9",null,true,12345678901234567890]`))
	}
	f.Fuzz(func(t *testing.T, raw, instance []byte) {
		s, err := Compile(raw)
		if err != nil {
			return
		}
		start := time.Now()
		first := lines(s.Check(instance))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		if second := lines(s.Check(instance)); first != second {
			t.Errorf("%s\nthen\n%s", first, second)
		}
		if strings.Contains(first, "could not be checked") || len(first) > 20*(2<<10) {
			t.Errorf("%.2000s", first)
		}
		v, problem := decode(instance)
		if problem != nil || strings.Contains(first, "too large") {
			return
		}
		if valid := s.full.Validate(v) == nil; valid != (first == "") {
			t.Errorf("the library says valid: %v, Check: %s", valid, first)
		}
	})
}

// FuzzArguments checks that the result is either valid JSON or problems.
func FuzzArguments(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), "query=a\x00labels=b\x00labels=[\"c\"]\x00repo.owner=x\x00any:={\"a\":1}")
		f.Add([]byte(s), "a.b.c=1\x00=\x00x:=\x00owner=\xff")
	}
	f.Fuzz(func(t *testing.T, raw []byte, words string) {
		got, problems := Arguments(raw, strings.Split(words, "\x00"))
		switch {
		case (got == nil) == (problems == nil):
			t.Errorf("%s and %v", got, problems)
		case got != nil &&
			(!jsontext.Value(got).IsValid() || got[0] != '{' || strings.ContainsAny(string(got), "\r\n")):
			t.Errorf("%q", got)
		}
	})
}
