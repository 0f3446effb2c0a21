package schema

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func compile(t testing.TB, schema string) *Schema {
	t.Helper()
	s, err := Compile([]byte(schema))
	if err != nil {
		t.Fatalf("%v\n%s", err, schema)
	}
	return s
}

func lines(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%s: %s (%s)\n", p.Path, p.Message, p.Schema)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

const issue = `{
	"type": "object",
	"properties": {
		"owner":  {"type": "string", "minLength": 1},
		"repo":   {"type": "object", "properties": {"name": {"type": "string"}, "owner": {"type": "string"}}, "required": ["name"], "additionalProperties": false},
		"state":  {"enum": ["open", "closed", "all"]},
		"labels": {"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 3, "uniqueItems": true},
		"page":   {"type": "integer", "minimum": 1, "maximum": 100},
		"id":     {"type": "integer", "const": 9007199254740993},
		"score":  {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.25},
		"since":  {"anyOf": [{"type": "string", "pattern": "^\\d{4}$"}, {"type": "null"}]},
		"who":    {"oneOf": [
			{"properties": {"kind": {"const": "user"}, "login": {"type": "string"}}, "required": ["kind", "login"]},
			{"properties": {"kind": {"const": "team"}, "slug": {"type": "string"}}, "required": ["kind", "slug"]}
		]},
		"items":  {"type": "array", "items": {"$ref": "#/$defs/item"}},
		"meta":   {"type": "object", "propertyNames": {"pattern": "^x-"}},
		"pair":   {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": false},
		"a b":    {"type": "string"},
		"not":    {"not": {"type": "null"}}
	},
	"$defs": {"item": {"type": "object", "properties": {"name": {"type": "string"}, "items": {"type": "array", "items": {"$ref": "#/$defs/item"}}}, "required": ["name"]}},
	"required": ["owner"],
	"dependentRequired": {"page": ["state"]},
	"additionalProperties": false
}`

func TestCheckMessages(t *testing.T) {
	s := compile(t, issue)
	for name, c := range map[string]struct{ instance, want string }{
		"fits": {`{"owner":"a","repo":{"name":"b"},"state":"open","labels":["x","y"],"page":3,"id":9007199254740993,"score":0.5,"since":null,"a b":"c"}`,
			""},
		"white space": {" {\r\n \"owner\" : \"a\" } \n", ""},
		"missing":     {`{}`, `owner: is required (/required)`},
		"nested":      {`{"owner":"a","repo":{}}`, `repo.name: is required (/properties/repo/required)`},
		"type":        {`{"owner":5}`, `owner: must be a string, is a number (/properties/owner/type)`},
		"null":        {`{"owner":null}`, `owner: must be a string, is null (/properties/owner/type)`},
		"root type":   {`[]`, `: must be an object, is an array (/type)`},
		"integer": {`{"owner":"a","page":1.5,"state":"all"}`,
			`page: must be an integer, is a number (/properties/page/type)`},
		"whole float": {`{"owner":"a","page":1.0,"state":"all"}`, ``},
		"empty":       {`{"owner":""}`, `owner: must not be empty (/properties/owner/minLength)`},
		"unknown": {`{"onwer":"a","owner":"a"}`,
			`onwer: is not a known argument; did you mean "owner"? (/additionalProperties)`},
		"unknown far": {`{"zzzzzz":"a","owner":"a"}`, `zzzzzz: is not a known argument (/additionalProperties)`},
		"unknown below": {`{"owner":"a","repo":{"name":"b","Owner":"c"}}`,
			`repo.Owner: is not a known key; did you mean "owner"? (/properties/repo/additionalProperties)`},
		"enum": {`{"owner":"a","state":"opne"}`,
			`state: must be one of "open", "closed", "all"; did you mean "open"? (/properties/state/enum)`},
		"enum type": {`{"owner":"a","state":3}`,
			`state: must be one of "open", "closed", "all" (/properties/state/enum)`},
		"item": {`{"owner":"a","labels":["x","toolong"]}`,
			`labels[1]: must have at most 5 characters (/properties/labels/items/maxLength)`},
		"list": {`{"owner":"a","labels":["x","y","z","x"]}`,
			`labels: must have at most 3 items and must not repeat an item, [0] and [3] are equal (/properties/labels/maxItems)`},
		"minimum": {`{"owner":"a","page":0,"state":"all"}`, `page: must be at least 1 (/properties/page/minimum)`},
		"maximum": {`{"owner":"a","page":18446744073709551617,"state":"all"}`,
			`page: must be at most 100 (/properties/page/maximum)`},
		"big integer": {`{"owner":"a","id":9007199254740992}`, `id: must be 9007199254740993 (/properties/id/const)`},
		"more than":   {`{"owner":"a","score":0}`, `score: must be more than 0 (/properties/score/exclusiveMinimum)`},
		"multiple": {`{"owner":"a","score":0.3}`,
			`score: must be a multiple of 0.25 (/properties/score/multipleOf)`},
		"union types": {`{"owner":"a","since":true}`,
			`since: must be a string or null, is a boolean (/properties/since/anyOf)`},
		"union inside": {`{"owner":"a","since":"x"}`,
			`since: must match pattern ^\d{4}$ (/properties/since/anyOf/0/pattern)`},
		"union tag": {`{"owner":"a","who":{"kind":"team"}}`,
			`who.slug: is required (/properties/who/oneOf/1/required)`},
		"union no tag": {`{"owner":"a","who":{"kind":"robot"}}`,
			`who: matches none of the 2 allowed forms (/properties/who/oneOf)`},
		"union both": {`{"owner":"a","who":5}`,
			`who: matches more than one of the forms of which exactly one is allowed (/properties/who/oneOf)`},
		"references": {`{"owner":"a","items":[{"name":"a"},{"name":"b","items":[{"name":"c"},{"name":1}]}]}`,
			`items[1].items[1].name: must be a string, is a number (/$defs/item/properties/name/type)`},
		"key": {`{"owner":"a","meta":{"x-a":1,"b":2}}`,
			`meta.b: has a name that must match pattern ^x- (/properties/meta/propertyNames)`},
		"tuple":      {`{"owner":"a","pair":["a","b",3]}`, "pair[1]: must be a number, is a string (/properties/pair/prefixItems/1/type)\npair[2]: is not allowed (/properties/pair/items)"},
		"quoted":     {`{"owner":"a","a b":1}`, `["a b"]: must be a string, is a number (/properties/a b/type)`},
		"not":        {`{"owner":"a","not":null}`, `not: has a form that is not allowed here (/properties/not/not)`},
		"dependency": {`{"owner":"a","page":2}`, `state: is required with "page" (/dependentRequired/page)`},
		"several":    {`{"state":"x","page":0,"zz":1}`, "owner: is required (/required)\npage: must be at least 1 (/properties/page/minimum)\nstate: must be one of \"open\", \"closed\", \"all\" (/properties/state/enum)\nzz: is not a known argument (/additionalProperties)"},
		"no JSON":    {`{"owner":`, `: is not valid JSON ()`},
		"nothing":    {``, `: is not valid JSON ()`},
		"two values": {`{"owner":"a"}{}`, `: is not valid JSON ()`},
		"twice":      {`{"owner":"a","owner":"b"}`, `: has a key twice ()`},
		"hostile name": {`{"owner":"a","\u001b[31m\n":1}`,
			`["\x1b[31m\n"]: is not a known argument (/additionalProperties)`},
		"long name": {`{"owner":"a","` + strings.Repeat("é", 50) + `":1}`,
			`["` + strings.Repeat("é", 32) + `…"]: is not a known argument (/additionalProperties)`},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 { // the order of problems is stable
				if got := lines(s.Check([]byte(c.instance))); got != c.want {
					t.Fatalf("\ngot  %s\nwant %s", got, c.want)
				}
			}
		})
	}
}

func TestCheckMoreMessages(t *testing.T) {
	for name, c := range map[string]struct{ schema, instance, want string }{
		"false":          {`false`, `1`, `: is not allowed ()`},
		"false property": {`{"properties":{"a":false}}`, `{"a":1}`, `a: is not allowed (/properties/a)`},
		"unevaluated": {`{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"b":1}`,
			`b: is not a known argument (/unevaluatedProperties)`},
		"one of many": {`{"enum":["a","b","c","d","e","f","g","h","i","j","k","l"]}`, `1`,
			`: must be one of "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" or 2 others (/enum)`},
		"mixed enum": {`{"enum":[1,null,true,{"a":1},[1]]}`, `"x"`,
			`: must be one of 1, null, true, a certain object, a certain array (/enum)`},
		"long enum": {`{"enum":["` + strings.Repeat("a", 50) + `"]}`,
			`1`, `: must be "` + strings.Repeat("a", 40) + `…" (/enum)`},
		"empty enum": {`{"enum":[]}`, `1`, `: has no value that is allowed (/enum)`},
		"constants":  {`{"anyOf":[{"const":"a"},{"const":"b"}]}`, `"c"`, `: must be one of "a", "b" (/anyOf)`},
		"constants, null": {`{"anyOf":[{"const":"asc"},{"enum":["desc"]},{"type":"null"}]}`, `"dsc"`,
			`: must be one of "asc", "desc"; did you mean "asc"? (/anyOf)`},
		"deep union": {`{"anyOf":[{"anyOf":[{"type":"string"},{"type":"null"}]},{"type":"array"}]}`, `1`,
			`: must be a string, null or an array, is a number (/anyOf)`},
		"contains": {`{"contains":{"type":"string"}}`, `[1]`, `: has no item of the required form (/contains)`},
		"minContains": {`{"contains":{"type":"string"},"minContains":2}`, `["a"]`,
			`: must have at least 2 items of a certain form (/minContains)`},
		"maxContains": {`{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`,
			`: must have at most 1 item of a certain form (/maxContains)`},
		"minProperties": {`{"minProperties":1}`, `{}`, `: must have at least 1 key (/minProperties)`},
		"maxProperties": {`{"maxProperties":0}`, `{"a":1}`, `: must have at most 0 keys (/maxProperties)`},
		"exclusiveMax":  {`{"exclusiveMaximum":0.1}`, `1`, `: must be less than 0.1 (/exclusiveMaximum)`},
		"large bound": {`{"maximum":1.7976931348623157e+308}`, `1.8e308`,
			`: must be at most 1.7976931348623157e+308 (/maximum)`},
		"draft-04": {`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`,
			`{"a":1}`, `a: must be more than 1 (/properties/a/exclusiveMinimum)`},
		"draft-07 tuple": {`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":{"type":"number"}}`,
			`[1,"a"]`, "[0]: must be a string, is a number (/items/0/type)\n[1]: must be a number, is a string (/additionalItems/type)"},
		"dependencies": {`{"dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"c":1}`,
			"b: is required with \"a\" (/dependentRequired/a)\nd: is required (/dependencies/c/required)"},
		"names in two": {`{"additionalProperties":{"propertyNames":{"maxLength":1}}}`,
			`{"a":{"long":1},"b":{"long":1}}`,
			`: has a key "long" with a name that must have at most 1 character (/additionalProperties/propertyNames)`},
		"number key": {`{"additionalProperties":{"type":"string"}}`, `{"10":1,"9":1,"x":1}`,
			"9: must be a string, is a number (/additionalProperties/type)\n10: must be a string, is a number (/additionalProperties/type)\nx: must be a string, is a number (/additionalProperties/type)"},
		"at most 20": {`{"items":{"type":"string"}}`, `[` + strings.Repeat("1,", 30) + `1]`, twenty()},
		"pattern cut": {`{"pattern":"^` + strings.Repeat("a", 100) + `$"}`,
			`"x"`, `: must match pattern ^` + strings.Repeat("a", 79) + `… (/pattern)`},
		"required twice": {`{"required":["a","a"]}`, `{}`, `a: is required (/required)`},
		"digits":         {`{"type":"number"}`, `1` + strings.Repeat("0", maxDigits), ``},
		"digits, compared": {`{"minimum":2}`, `1` + strings.Repeat("0", maxDigits),
			`: has a number of more than 400 digits ()`},
		"exponent":        {`{"type":"integer"}`, `1e2000000`, `: has a number of more than 400 digits ()`},
		"exponent, bound": {`{"minimum":2}`, `1e2000000`, `: has a number of more than 400 digits ()`},
		"lone surrogate":  {`{"type":"string","minLength":1}`, `"\ud83d"`, ``},
		"unicode length":  {`{"type":"string","maxLength":2}`, `"éé"`, ``},
		"ECMA escapes":    {`{"type":"string","pattern":"^[\\u4e00-\\u9fa5]+\\u{1F600}$"}`, `"中😀"`, ``},
		"ECMA escapes, bad": {`{"type":"string","pattern":"^[\\u4e00-\\u9fa5]+$"}`, `"abc"`,
			`: must match pattern ^[\u4e00-\u9fa5]+$ (/pattern)`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lines(compile(t, c.schema).Check([]byte(c.instance))); got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
}

func twenty() string {
	var b []string
	for i := range 20 {
		b = append(b, fmt.Sprintf("[%d]: must be a string, is a number (/items/type)", i))
	}
	return strings.Join(b, "\n")
}

// TestCheckKeepsSecrets checks that messages never contain a value of the instance.
func TestCheckKeepsSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, schema := range []string{
		`{"properties":{"a":{"type":"number"}}}`, `{"properties":{"a":{"const":"x"}}}`,
		`{"properties":{"a":{"enum":["hunter"]}}}`, `{"properties":{"a":{"pattern":"^x"}}}`,
		`{"properties":{"a":{"maxLength":1}}}`, `{"properties":{"a":{"not":{}}}}`,
		`{"properties":{"a":{"anyOf":[{"const":1},{"maxLength":2}]}}}`, `{"properties":{"a":false}}`,
		`{"maxProperties":0}`, `{"type":"string"}`, `false`,
	} {
		problems := compile(t, schema).Check([]byte(`{"a":"` + secret + `"}`))
		if len(problems) == 0 || strings.Contains(fmt.Sprint(problems), secret) {
			t.Errorf("%s: %v", schema, problems)
		}
	}
}

// TestCheckIsBounded covers vetted schemas whose work multiplies with the instance.
func TestCheckIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("too slow with the race detector")
	}
	const tooLarge = "is too large to be validated against this schema"
	colliding := func(n int) string { // n different lists with the same hash
		var items []string
		for i := range n {
			var parts []string
			var b strings.Builder
			for bit := range 16 {
				b.WriteString("a")
				if i>>bit&1 == 1 {
					parts = append(parts, `"`+b.String()+`"`)
					b.Reset()
				} else {
					b.WriteString(`\u0004`)
				}
			}
			items = append(items, "["+strings.Join(append(parts, `"`+b.String()+`"`), ",")+"]")
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	for name, c := range map[string]struct{ schema, instance, want string }{
		"two ways down": {`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			nest(`{"a":`, 64, `1`, `}`), tooLarge},
		"two ways, invert": {`{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["b"]},{"properties":{"a":{"$ref":"#"}},"required":["c"]}]}`,
			nest(`{"a":`, 64, `1`, `}`), tooLarge},
		"costly items": {`{"items":{"$ref":"#/$defs/d0"},` + doubling(10)[len(`{"$ref":"#/$defs/d0",`):],
			`[` + strings.Repeat(`{},`, 10_000) + `{}]`, tooLarge},
		"unique objects": {`{"uniqueItems":true}`, colliding(20_000), tooLarge},
		"numbers in enum": {`{"items":{"enum":[` + strings.Repeat(`1,`, 2000) + `2]}}`,
			`[` + strings.Repeat(`2,`, 10_000) + `2]`, tooLarge},
		"large pattern": {`{"pattern":"^([a-z]{0,500}[a-y]{0,500})*$"}`,
			`"` + strings.Repeat("a", 1<<20) + `"`, tooLarge},
		"pattern keys": {`{"patternProperties":{"^([a-z]{0,500}[a-y]{0,500})*$":{}}}`,
			`{"` + strings.Repeat("a", 1<<20) + `":1}`, tooLarge},
		"many unevaluated": {`{"allOf":[` + strings.Repeat(`{"items":true},`, 100) + `{}],"unevaluatedItems":false}`,
			`[` + strings.Repeat(`1,`, 100_000) + `1]`, tooLarge},
		"many values": {`{"items":{"minimum":0.5}}`, `[` + strings.Repeat(`1,`, maxValues) + `1]`,
			"has more than 1048576 values"},
		"nested": {`{"items":{"$ref":"#"},"maxItems":1,"uniqueItems":true}`, nest(`[`, maxLevels+1, ``, `]`),
			"is nested deeper than 100"},
		"nested a lot": {`{"not":{"type":"null"}}`, strings.Repeat(`[`, 1<<20), "is nested deeper than 100"},
		"huge":         {`{}`, `"` + strings.Repeat("a", maxInstance) + `"`, "is larger than 16 MiB"},
		"many errors": {`{"items":{"minimum":0.5}}`, `[` + strings.Repeat(`0,`, 200_000) + `0]`,
			"does not match the schema and is too large to locate the error"},

		"many valid":          {`{"items":{"minimum":0.5}}`, `[` + strings.Repeat(`1,`, 200_000) + `1]`, ""},
		"many simple":         {`{"items":{"type":"number"}}`, `[` + strings.Repeat(`1,`, 1<<22) + `1]`, ""},
		"unique numbers":      {`{"uniqueItems":true}`, `[` + count100k() + `]`, ""},
		"unique objects, few": {`{"uniqueItems":true}`, colliding(500), ""},
		"long text":           {`{"pattern":"^[A-Za-z0-9+/]*={0,2}$"}`, `"` + strings.Repeat("A", 2<<20) + `"`, ""},
		"large object": {`{"additionalProperties":{"type":"integer"},"minProperties":1}`,
			`{` + manyKeys(50_000) + `}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := compile(t, c.schema)
			instance := []byte(c.instance)
			var problems []Problem
			within(t, 1500*time.Millisecond, func() { problems = s.Check(instance) })
			switch {
			case c.want == "" && len(problems) > 0, c.want != "" && len(problems) != 1:
				t.Errorf("%v", problems)
			case c.want != "" && problems[0].Message != c.want:
				t.Errorf("%v, want %s", problems, c.want)
			}
		})
	}
}

func count100k() string {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "%d,", i)
	}
	return b.String() + "-1"
}

func manyKeys(n int) string {
	var keys []string
	for i := range n {
		keys = append(keys, fmt.Sprintf(`"k%d":%[1]d`, i))
	}
	return strings.Join(keys, ",")
}
