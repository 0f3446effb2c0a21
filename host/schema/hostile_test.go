package schema

import (
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// within fails the test if f is slower than limit ten times. A busy machine delays f, and
// endless work takes seconds. Precise times are measured only by make soak.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	limit *= slow
	if os.Getenv("JUNCTOR_SOAK") == "" {
		limit *= 10
	}
	var took time.Duration
	for range 10 {
		start := time.Now()
		f()
		if took = time.Since(start); took <= limit {
			return
		}
	}
	t.Errorf("took %v, at most %v allowed", took, limit)
}

// TestHostile covers schemas that are known to block or kill processes. Each must fail or
// compile fast and load nothing.
func TestHostile(t *testing.T) {
	var seen atomic.Int32
	canary, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := canary.Accept()
			if err != nil {
				return
			}
			seen.Add(1)
			_ = c.Close()
		}
	}()
	remote := "http://" + canary.Addr().String() + "/x"
	for name, schema := range map[string]string{
		"itself":         `{"$ref":"#"}`,
		"S1":             `{"type":"object","$ref":"#"}`,
		"each other":     `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`,
		"doubling":       doubling(22),
		"more doubling":  doubling(30),
		"remote":         `{"$ref":"` + remote + `"}`,
		"remote dynamic": `{"$dynamicRef":"` + remote + `"}`,
		"remote dialect": `{"$schema":"` + remote + `","type":"object"}`,
		"remote base":    `{"$id":"` + remote + `","$ref":"y"}`,
		"remote in base": `{"$id":"` +
			remote + `","$ref":"#/a","a":{"$schema":"` + remote + `#x","$id":"` + remote + `/z"}}`,
		"file":           `{"$ref":"file:///etc/passwd"}`,
		"file dialect":   `{"$schema":"file:///etc/passwd"}`,
		"lookahead":      `{"pattern":"(?=x)"}`,
		"repetition":     `{"pattern":"(a{1000}){1000}"}`,
		"deep":           nest(`{"not":`, 100_000, `{}`, `}`),
		"deep, open":     strings.Repeat(`{"not":`, 100_000),
		"deep lists":     strings.Repeat(`[`, 1<<20),
		"2 MiB":          `{"enum":["` + strings.Repeat("a", 2<<20) + `"]}`,
		"duplicate keys": `{"$ref":"#/$defs/a","$ref":"#","$defs":{"a":{}}}`,
		"bad patterns":   badPatterns(),
		"unused schemas": `{"$defs":{` + strings.TrimSuffix(strings.Repeat(`"a":{},`, 20000), ",") + `}}`,
		"large enum":     `{"enum":[` + strings.Repeat(`[[[[]]]],`, maxEnum-1) + `1]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var s *Schema
			var err error
			within(t, 50*time.Millisecond, func() { s, err = Compile([]byte(schema)) })
			reason(t, err)
			if err == nil {
				s.Check([]byte(`{"a":[1,"x",null]}`))
			}
		})
	}
	_ = canary.Close()
	<-done
	if n := seen.Load(); n > 0 {
		t.Errorf("%d connections to the canary", n)
	}
}

// badPatterns returns a document of patterns that are slow to reject.
func badPatterns() string {
	var keys []string
	for i := range 120 {
		keys = append(keys, fmt.Sprintf(`"p%d":{"pattern":"%d%s(?=x)"}`, i, i, strings.Repeat(`\\pL`, 240)))
	}
	return `{"properties":{` + strings.Join(keys, ",") + `}}`
}

// TestLargestSchemas checks that the largest vetted schemas compile in bounded time.
func TestLargestSchemas(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow with the race detector")
	}
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, schema := range map[string]string{
		"properties": `{"properties":{` + many(1990, `"p%d":{"type":"string","minLength":1}`) + `}}`,
		"references": `{"properties":{` + many(999, `"p%d":{"$ref":"#/$defs/d%[1]d"}`) + `},"$defs":{` + many(999,
			`"d%d":{"type":"string"}`) + `}}`,
		"elsewhere": `{"properties":{` + many(999, `"p%d":{"$ref":"#/x/d%[1]d"}`) + `},"x":{` + many(999,
			`"d%d":{"type":"string"}`) + `}}`,
		"one target": `{"prefixItems":[` + many(1990, `{"$ref":"#/$defs/d","title":"%d"}`) +
			`],"$defs":{"d":{"type":"string"}}}`,
		"anchors": `{"properties":{` + many(999, `"p%d":{"$ref":"#a%[1]d"}`) + `},"$defs":{` + many(999,
			`"d%d":{"$anchor":"a%[1]d"}`) + `}}`,
		"ids":          `{"$defs":{` + many(1990, `"d%d":{"$id":"http://x/%[1]d"}`) + `}}`,
		"patterns":     `{"properties":{` + many(1000, `"p%d":{"pattern":"^[a-z]{10}%[1]d$"}`) + `}}`,
		"pattern keys": `{"patternProperties":{` + many(1000, `"^[a-z]{10}%d$":{}`) + `}}`,
		"branches":     `{"anyOf":[` + many(1990, `{"const":%d}`) + `]}`,
		"enums":        `{"prefixItems":[` + many(25, `{"title":"%d","enum":[`+strings.Repeat("1,", 2000)+`2]}`) + `]}`,
		"type lists": `{"prefixItems":[` + many(1300,
			`{"type":["null","boolean","number","string","array","object"],"title":"%d"}`) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			within(t, 200*time.Millisecond, func() {
				if _, err := Compile([]byte(schema)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
