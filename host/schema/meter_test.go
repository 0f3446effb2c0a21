package schema

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMeter checks that instances within the meter's limit are validated fast. Each case is
// as large as the meter allows.
func TestMeter(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow with the race detector")
	}
	repeat := func(item string, times int) func(int) string {
		return func(n int) string { return `[` + strings.Repeat(item+`,`, n*times) + item + `]` }
	}
	numbered := func(format string, times int) func(int) string {
		return func(n int) string {
			var b strings.Builder
			for i := range n * times {
				fmt.Fprintf(&b, format+",", i)
			}
			return `[` + b.String() + `"x"]`
		}
	}
	deep := func(n int) string { return nest(`{"a":`, min(n+12, 17), `1`, `}`) }
	for name, c := range map[string]struct {
		schema   string
		instance func(n int) string
		values   int // values in an instance of size n
	}{
		"two ways": {`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`, deep,
			maxValues / 5},
		"two ways, errors": {`{"type":["object","string"],"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			deep, maxValues / 5},
		"two ways, sets": {`{"unevaluatedProperties":true,"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			deep, maxValues / 5},
		"branches": {`{"items":{"oneOf":[` + strings.Repeat(`{"properties":{"x":{"type":"string"}},"required":["x"]},`,
			50) + `{"type":"object"}]}}`, repeat(`{"x":1}`, 100), 220},
		"not":           {`{"items":{"not":{"required":["x"],"minProperties":2}}}`, repeat(`{"x":1}`, 1000), 2200},
		"texts in enum": {`{"items":{"enum":[` + strings.Repeat(`"abc",`, 2000) + `"x"]}}`, repeat(`"x"`, 50), 55},
		"objects in enum": {`{"items":{"enum":[` + strings.Repeat(`{"a":[1,2,3,4]},`, 2000) + `"x"]}}`,
			repeat(`{"a":[1,2,3,5]}`, 2), 13},
		"numbers in enum": {`{"items":{"enum":[` + strings.Repeat(`1e300,`, 2000) + `"x"]}}`, repeat(`1e-300`, 2), 2},
		"exponents":       {`{"items":{"minimum":0.5}}`, repeat(`1e-999`, 500), 550},
		"multiples": {`{"items":{"multipleOf":0.001,"type":"integer"}}`,
			repeat(`1234567890123456789012345678901234567890e900`, 500), 550},
		"unique exponents": {`{"uniqueItems":true}`, numbered(`%de-900`, 500), 550},
		"unique lists":     {`{"uniqueItems":true}`, numbered(`[%d]`, 50), 110},
		"key patterns": {`{"items":{"propertyNames":{"pattern":"^[a-z]{1,50}$"}}}`,
			repeat(`{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":1}`, 500), 1100},
		"patterns": {`{"items":{"pattern":"^([a-z]{0,50}[a-y]{0,50})*$"}}`,
			repeat(`"`+strings.Repeat("a", 100)+`"`, 10), 11},
		"contains":     {`{"items":{"contains":{"minimum":5}}}`, repeat(`[1,2,3,4]`, 500), 2750},
		"many missing": {`{"items":{"required":["x"` + manyNames(1900) + `]}}`, repeat(`{}`, 10), 11},
		"many unknown": {`{"items":{"properties":{"a":{}},"additionalProperties":false}}`,
			repeat(`{"x":1,"y":2,"z":3}`, 500), 2200},
		"unevaluated, items": {
			`{"items":{"allOf":[{"prefixItems":[true]},{"contains":{"type":"string"}}],"unevaluatedItems":false}}`,
			repeat(`[1,2,3,4]`, 500), 2750,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if os.Getenv("JUNCTOR_SOAK") == "" && !slices.Contains([]string{"two ways", "branches", "texts in enum",
				"exponents", "patterns", "many missing"}, name) {
				t.Skip("covered by make soak")
			}
			s := compile(t, c.schema)
			cost := func(n int) (int, any) {
				v, problem := decode([]byte(c.instance(n)))
				if problem != nil {
					t.Fatal(problem)
				}
				m := meter{left: maxWork, unevaluated: s.unevaluated}
				m.add(s.full, v)
				return maxWork - m.left, v
			}
			// Extrapolate from the cost of a few to the maximum; some costs grow faster than
			// linearly.
			few, largest := cost(4)
			for n := min(4*maxWork/few, maxValues/c.values); n > 4; n = n * 3 / 4 {
				work, v := cost(n)
				if work < maxWork {
					largest = v
					break
				}
			}
			within(t, 3*time.Second, func() { s.check(largest) })
		})
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"r%d"`, i)
	}
	return b.String()
}
