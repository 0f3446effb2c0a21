package schema

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

const search = `{
	"type": "object",
	"properties": {
		"query":   {"type": "string"},
		"limit":   {"type": "integer"},
		"ratio":   {"type": "number"},
		"draft":   {"type": "boolean"},
		"state":   {"type": "string", "enum": ["open", "closed"]},
		"level":   {"enum": [1, 2, "2", null]},
		"labels":  {"type": "array", "items": {"type": "string"}},
		"ids":     {"type": "array", "items": {"type": "integer"}},
		"any":     {},
		"yes":     true,
		"since":   {"anyOf": [{"type": "string"}, {"type": "null"}]},
		"mixed":   {"type": ["string", "integer", "boolean", "object"]},
		"who":     {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
		"repo":    {"type": "object", "properties": {"owner": {"type": "string"}, "id": {"type": "integer"}}, "additionalProperties": false},
		"options": {"$ref": "#/$defs/options"},
		"matrix":  {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
		"a.b":     {"type": "integer"},
		"per_page": {"allOf": [{"$ref": "#/$defs/number"}], "default": 30},
		"kind":    {"anyOf": [{"enum": ["x", "y"]}, {"type": "null"}]},
		"open":    {"anyOf": [{"enum": ["x", "y"]}, {"type": "string"}]}
	},
	"patternProperties": {"^n_": {"type": "integer"}},
	"$defs": {"options": {"properties": {"deep": {"type": "object", "additionalProperties": {"type": "boolean"}}}}, "number": {"type": "integer"}},
	"additionalProperties": false
}`

func TestArguments(t *testing.T) {
	for name, c := range map[string]struct {
		words []string
		want  string
	}{
		"none":               {nil, `{}`},
		"string":             {[]string{`query=a b`}, `{"query":"a b"}`},
		"digits, string":     {[]string{`query=5`}, `{"query":"5"}`},
		"true, string":       {[]string{`query=true`}, `{"query":"true"}`},
		"JSON, string":       {[]string{`query={"a":1}`}, `{"query":"{\"a\":1}"}`},
		"empty, string":      {[]string{`query=`}, `{"query":""}`},
		"equals sign":        {[]string{`query=a=b:=c`}, `{"query":"a=b:=c"}`},
		"quotes":             {[]string{"query=a\"b\\c\nd"}, `{"query":"a\"b\\c\nd"}`},
		"integer":            {[]string{`limit=5`}, `{"limit":5}`},
		"big integer":        {[]string{`limit=9007199254740993`}, `{"limit":9007199254740993}`},
		"written as a float": {[]string{`limit=1e3`}, `{"limit":1e3}`},
		"negative":           {[]string{`limit=-5`}, `{"limit":-5}`},
		"number":             {[]string{`ratio=0.10`}, `{"ratio":0.10}`},
		"exponent":           {[]string{`ratio=1e3`}, `{"ratio":1e3}`},
		"whole number":       {[]string{`ratio=1`}, `{"ratio":1}`},
		"boolean":            {[]string{`draft=false`}, `{"draft":false}`},
		"enum":               {[]string{`state=open`}, `{"state":"open"}`},
		"enum, number":       {[]string{`level=1`}, `{"level":1}`},
		"enum, both":         {[]string{`level=2`}, `{"level":2}`},
		"enum, null":         {[]string{`level=null`}, `{"level":null}`},
		"enum, optional":     {[]string{`kind=null`}, `{"kind":null}`},
		"enum, open":         {[]string{`open=z`}, `{"open":"z"}`},
		"list":               {[]string{`labels=a`, `labels=b`}, `{"labels":["a","b"]}`},
		"list of one":        {[]string{`labels=a`}, `{"labels":["a"]}`},
		"list, JSON":         {[]string{`labels=["a", "b"]`}, `{"labels":["a","b"]}`},
		"list, both": {[]string{`labels=["a"]`, `labels=b`, `labels:=["c"]`, `labels:="d"`},
			`{"labels":["a","b","c","d"]}`},
		"list, bracket":  {[]string{`labels=[a`}, `{"labels":["[a"]}`},
		"list, empty":    {[]string{`labels=[]`}, `{"labels":[]}`},
		"list, integers": {[]string{`ids=1`, `ids=2`}, `{"ids":[1,2]}`},
		"list of lists":  {[]string{`matrix=[[1],[2]]`, `matrix=[[3]]`}, `{"matrix":[[1],[2],[3]]}`},
		"string or list": {[]string{`who=a`}, `{"who":"a"}`},
		"string to list": {[]string{`who=a`, `who=b`}, `{"who":["a","b"]}`},
		"unknown type":   {[]string{`any=5`, `yes=[1]`}, `{"any":"5","yes":"[1]"}`},
		"null":           {[]string{`since=null`}, `{"since":null}`},
		"not null":       {[]string{`since=nul`}, `{"since":"nul"}`},
		"union, integer": {[]string{`mixed=5`}, `{"mixed":5}`},
		"union, boolean": {[]string{`mixed=true`}, `{"mixed":true}`},
		"union, object":  {[]string{`mixed={"a": 1}`}, `{"mixed":{"a":1}}`},
		"union, string":  {[]string{`mixed=1.5`}, `{"mixed":"1.5"}`},
		"object":         {[]string{`repo={"owner": "x"}`}, `{"repo":{"owner":"x"}}`},
		"JSON":           {[]string{`query:=5`}, `{"query":5}`},
		"JSON, big": {[]string{`any:=[123456789012345678901234567890, 1.50]`},
			`{"any":[123456789012345678901234567890,1.50]}`},
		"JSON, lines":  {[]string{"any:={\r\n\"a\" : 1}"}, `{"any":{"a":1}}`},
		"nested":       {[]string{`repo.owner=x`, `repo.id=5`}, `{"repo":{"owner":"x","id":5}}`},
		"nested, JSON": {[]string{`repo.owner:=null`}, `{"repo":{"owner":null}}`},
		"nested deeper": {[]string{`options.deep.x=true`, `limit=1`, `options.deep.y=false`},
			`{"options":{"deep":{"x":true,"y":false}},"limit":1}`},
		"nested, unlisted": {[]string{`options.z=1`}, `{"options":{"z":"1"}}`},
		"dotted name":      {[]string{`a.b=5`}, `{"a.b":5}`},
		"allOf":            {[]string{`per_page=5`}, `{"per_page":5}`},
		"pattern key":      {[]string{`n_x=5`}, `{"n_x":5}`},
		"order":            {[]string{`state=open`, `query=x`, `limit=1`}, `{"state":"open","query":"x","limit":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := Arguments([]byte(search), c.words)
			if problems != nil || string(got) != c.want {
				t.Errorf("\ngot  %s %v\nwant %s", got, problems, c.want)
			}
		})
	}
}

func TestArgumentsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		words []string
		want  string
	}{
		"no key":        {[]string{`=5`}, `=5: must be written key=value or key:=json ()`},
		"no key, JSON":  {[]string{`:=5`}, `:=5: must be written key=value or key:=json ()`},
		"no sign":       {[]string{`query`}, `query: must be written key=value or key:=json ()`},
		"empty":         {[]string{``}, `: must be written key=value or key:=json ()`},
		"unknown":       {[]string{`qurey=x`}, `qurey: is not a known argument; did you mean "query"? ()`},
		"unknown, case": {[]string{`perPage=x`}, `perPage: is not a known argument; did you mean "per_page"? ()`},
		"unknown, far":  {[]string{`xyz=x`}, `xyz: is not a known argument ()`},
		"unknown below": {[]string{`repo.ownr=x`}, `repo.ownr: is not a known argument; did you mean "owner"? ()`},
		"not an object": {[]string{`query.x=1`}, `query.x: is not a known argument; did you mean "query"? ()`},
		"integer":       {[]string{`limit=five`}, `limit: must be an integer ()`},
		"fraction":      {[]string{`limit=1.5`}, `limit: must be an integer ()`},
		"leading zero":  {[]string{`limit=007`}, `limit: must be an integer ()`},
		"plus":          {[]string{`limit=+7`}, `limit: must be an integer ()`},
		"spaces":        {[]string{`limit= 7`}, `limit: must be an integer ()`},
		"empty integer": {[]string{`limit=`}, `limit: must be an integer ()`},
		"number":        {[]string{`ratio=.5`}, `ratio: must be a number ()`},
		"NaN":           {[]string{`ratio=NaN`}, `ratio: must be a number ()`},
		"boolean":       {[]string{`draft=yes`}, `draft: must be a boolean ()`},
		"enum":          {[]string{`state=opn`}, `state: must be one of "open", "closed"; did you mean "open"? ()`},
		"enum, quoted": {[]string{`state="open"`},
			`state: must be one of "open", "closed"; did you mean "open"? ()`},
		"enum, optional":   {[]string{`kind=z`}, `kind: must be one of "x", "y" ()`},
		"item":             {[]string{`ids=1`, `ids=x`}, `ids: has an item that must be an integer ()`},
		"object":           {[]string{`repo=x`}, `repo: must be an object, written as JSON ()`},
		"broken object":    {[]string{`repo={"a":}`}, `repo: must be an object, written as JSON ()`},
		"item of a matrix": {[]string{`matrix=1`}, `matrix: has an item that must be an array, written as JSON ()`},
		"broken JSON":      {[]string{`any:={`}, `any: is not valid JSON ()`},
		"no JSON":          {[]string{`any:=`}, `any: is not valid JSON ()`},
		"two JSON":         {[]string{`any:=1 2`}, `any: is not valid JSON ()`},
		"duplicate keys":   {[]string{`any:={"a":1,"a":2}`}, `any: is not valid JSON ()`},
		"twice":            {[]string{`query=a`, `query=b`}, `query: is given twice ()`},
		"twice, JSON":      {[]string{`query=a`, `query:="b"`}, `query: is given twice ()`},
		"whole and parts": {[]string{`repo={}`, `repo.owner=x`},
			`repo.owner: is given twice, as a whole and in parts ()`},
		"parts and whole": {[]string{`repo.owner=x`, `repo={}`}, `repo: is given twice ()`},
		"UTF-8":           {[]string{"query=\xff"}, `query: is not valid UTF-8 ()`},
		"UTF-8 in JSON":   {[]string{"any:=\"\xff\""}, `any: is not valid UTF-8 ()`},
		"UTF-8 in a key":  {[]string{"que\xffry=x"}, "que\ufffdry: is not valid UTF-8 ()"},
		"pattern key":     {[]string{`n_x=y`}, `n_x: must be an integer ()`},
		"all of them": {[]string{`limit=x`, `query=a`, `nope=1`, `draft=1`},
			"limit: must be an integer ()\nnope: is not a known argument ()\ndraft: must be a boolean ()"},
		"long": {[]string{strings.Repeat("k", 100) + `=1`},
			strings.Repeat("k", 64) + `…: is not a known argument ()`},
		"control character": {[]string{"a\x1b[31m=1"}, `a·[31m: is not a known argument ()`},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := Arguments([]byte(search), c.words)
			if got != nil || lines(problems) != c.want {
				t.Errorf("\ngot  %s %s\nwant %s", got, lines(problems), c.want)
			}
		})
	}
}

// TestArgumentsWithoutSchema checks that all values are strings without a schema.
func TestArgumentsWithoutSchema(t *testing.T) {
	for _, schema := range []string{``, `null`, `{"$ref":"#"}`, `{}`, `true`, `{"type":"object"}`,
		`{"properties":[]}`} {
		got, problems := Arguments([]byte(schema), []string{`a=1`, `b.c=x`, `d:={"e":[1]}`})
		if want := `{"a":"1","b.c":"x","d":{"e":[1]}}`; problems != nil || string(got) != want {
			t.Errorf("%s: %s %v", schema, got, problems)
		}
	}
}

// TestArgumentsPassCheck checks that typed arguments are valid for the schema.
func TestArgumentsPassCheck(t *testing.T) {
	s := compile(t, search)
	got, problems := Arguments([]byte(search), []string{`query=1`, `limit=2`, `draft=true`, `labels=x`, `ids=[3]`,
		`repo.id=4`, `who=a`, `who=b`, `options.deep.q=true`, `level=2`, `n_n=1`})
	if problems != nil || !jsontext.Value(got).IsValid() {
		t.Fatal(string(got), problems)
	}
	if problems := s.Check(got); problems != nil {
		t.Errorf("%s: %v", got, problems)
	}
}

func TestProperties(t *testing.T) {
	got := Properties([]byte(search))
	types := map[string]string{
		"query": "string", "limit": "integer", "ratio": "number", "draft": "boolean",
		"state": `"open"|"closed"`, "level": `1|2|"2"|null`,
		"labels": "string[]", "ids": "integer[]", "any": "any", "yes": "any", "since": "string|null",
		"mixed": "string|integer|boolean|object",
		"who":   "string|string[]", "repo": "object", "options": "object", "matrix": "integer[][]",
		"a.b": "integer", "per_page": "integer", "kind": `"x"|"y"|null`, "open": "string",
	}
	if len(got) != len(types) || got[0].Name != "query" || got[len(got)-1].Name != "open" {
		t.Errorf("%d properties, %v", len(got), got)
	}
	for _, p := range got {
		if p.Type != types[p.Name] || p.Required {
			t.Errorf("%+v, want %s", p, types[p.Name])
		}
		if p.Name == "per_page" && string(p.Default) != "30" {
			t.Errorf("default %s", p.Default)
		}
		if p.Name == "state" && strings.Join(p.Values, " ") != "open closed" {
			t.Errorf("values %q", p.Values)
		}
	}
}

func TestPropertiesElsewhere(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"none":      {`{"type":"object"}`, ""},
		"vetted":    {`{"$ref":"#","properties":{"a":{}}}`, ""},
		"broken":    {`{`, ""},
		"no schema": {`{"properties":{"a":"string"}}`, "a any;"},
		"required": {`{"required":["b"],"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`,
			"a string;b string!;"},
		"by ref": {`{"$ref":"#/$defs/a","$defs":{"a":{"required":["x"],"properties":{"x":{"type":"string"}}}}}`,
			"x string!;"},
		"by anyOf": {`{"properties":{"a":{}},"anyOf":[{"required":["a"]},{"properties":{"b":{}}}]}`, "a any;b any;"},
		"item union": {`{"properties":{"a":{"type":"array","items":{"type":["string","null"]}}}}`,
			"a (string|null)[];"},
		"recursive": {
			`{"properties":{"a":{"$ref":"#/$defs/l"}},"$defs":{"l":{"type":"array","items":{"$ref":"#/$defs/l"}}}}`,
			"a array[][][][];",
		},
		"many values": {`{"properties":{"a":{"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13]}}}`,
			"a 1|2|3|4|5|6|7|8|9|10|11|12|…;"},
		"guessed": {`{"properties":{"a":{"properties":{}},"b":{"items":{"const":1}}}}`, "a object;b 1[];"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, p := range Properties([]byte(c.schema)) {
				b.WriteString(p.Name + " " + p.Type)
				if p.Required {
					b.WriteByte('!')
				}
				b.WriteByte(';')
			}
			if b.String() != c.want {
				t.Errorf("%s, want %s", b.String(), c.want)
			}
		})
	}
	got := Properties([]byte(`{"properties":{"a":{"$ref":"#/$defs/a","default":{"x":[1.0,"é"]}}},"$defs":{"a":{"description":"from there","default":2}}}`))
	if len(got) != 1 || got[0].Description != "from there" || string(got[0].Default) != `{"x":[1.0,"é"]}` {
		t.Errorf("%+v", got)
	}
}
