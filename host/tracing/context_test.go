package tracing

import (
	"strings"
	"testing"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestNewContext(t *testing.T) {
	if c := NewContext(parent, "a=b,c=d"); c.Parent != parent || c.State != "a=b,c=d" ||
		c.TraceID() != "0af7651916cd43dd8448eb211c80319c" || c.SpanID() != "b7ad6b7169203331" {
		t.Errorf("%+v", c)
	}
	for what, text := range map[string]string{
		"empty": "", "short": parent[1:], "long": parent + "0", "with more": parent + "-00",
		"upper case": strings.ToUpper(parent),
		"version ff": "ff" + parent[2:], "no trace": "00-" + strings.Repeat("0", 32) + parent[35:],
		"no span":          parent[:36] + strings.Repeat("0", 16) + parent[52:],
		"other separators": strings.ReplaceAll(parent, "-", "_"), "a line end": parent[:54] + "\n",
		"not ASCII": parent[:53] + "é",
	} {
		if c := NewContext(text, "a=b"); !c.Zero() || c.State != "" || c.TraceID() != "" || c.SpanID() != "" {
			t.Errorf("%s: %+v", what, c)
		}
	}
}

func TestStates(t *testing.T) {
	members := func(n int, same bool) string {
		var all []string
		for i := range n {
			key := "k"
			if !same {
				key += strings.Repeat("x", i)
			}
			all = append(all, key+"=v")
		}
		return strings.Join(all, ",")
	}
	for text, want := range map[string][2]bool{
		"a=b": {true, true}, "a=b, c=d\t": {true, true}, "a=b,a=c": {false, true},
		"": {}, "a": {}, "=b": {}, "a=b,": {}, "a b=c": {}, "a=b\n": {}, "a=é": {},
		"a=" + strings.Repeat("x", 510): {true, true},
		"a=" + strings.Repeat("x", 511): {false, true}, "a=" + strings.Repeat("x", 8190): {false, true},
		"a=" + strings.Repeat("x", 8191): {}, members(20, false): {true, true}, members(33, true): {false, true},
		strings.Repeat("abc=d,", 70) + "a=b": {false, false},
	} {
		if got := ([2]bool{ValidState(text), ValidBaggage(text)}); got != want {
			t.Errorf("%.40q: tracestate, baggage %v, want %v", text, got, want)
		}
	}
}

func TestFromHeader(t *testing.T) {
	for what, c := range map[string]struct {
		h    map[string][]string
		want Context
	}{
		"both":       {map[string][]string{"Traceparent": {parent}, "Tracestate": {"a=b"}}, Context{parent, "a=b"}},
		"one":        {map[string][]string{"Traceparent": {parent}}, Context{parent, ""}},
		"none":       {nil, Context{}},
		"only state": {map[string][]string{"Tracestate": {"a=b"}}, Context{}},
		"two":        {map[string][]string{"Traceparent": {parent, parent}}, Context{}},
		"two states": {map[string][]string{"Traceparent": {parent}, "Tracestate": {"a=b", "c=d"}},
			Context{parent, ""}},
		"a wrong state": {map[string][]string{"Traceparent": {parent}, "Tracestate": {"a"}}, Context{parent, ""}},
	} {
		if got := FromHeader(c.h); got != c.want {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}

// FuzzNewContext checks that a context from outside is safe to send on as a header.
func FuzzNewContext(f *testing.F) {
	f.Add(parent, "a=b,c=d")
	f.Add("", "\n")
	f.Fuzz(func(t *testing.T, p, state string) {
		c := NewContext(p, state)
		if c.Zero() && c.State != "" || !c.Zero() && len(c.TraceID())+len(c.SpanID()) != 48 ||
			len(c.State) > maxState || strings.ContainsAny(c.Parent+c.State, "\r\n\x00") {
			t.Errorf("%+v", c)
		}
		_ = ValidBaggage(state)
	})
}
