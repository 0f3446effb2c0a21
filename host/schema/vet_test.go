package schema

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A tester is the common part of testing.T and rapid.T.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// vetError returns the error of vet.
func vetError(raw []byte) error {
	_, err := vet(raw)
	return err
}

// reason returns the Reason of a VetError, or "" for nil.
func reason(t tester, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var verr *VetError
	if !errors.As(err, &verr) {
		t.Fatalf("%T is not a VetError: %v", err, err)
	}
	if strings.ContainsAny(verr.Error(), "\r\n") || len(verr.Error()) > 1000 {
		t.Errorf("message of %d bytes: %.100q", len(verr.Error()), verr.Error())
	}
	return verr.Reason
}

func TestVet(t *testing.T) {
	for name, c := range map[string]struct{ schema, reason string }{
		"object":               {`{"type":"object","properties":{"a":{"type":"string"}}}`, ""},
		"true":                 {`true`, ""},
		"false":                {`false`, ""},
		"empty object":         {` { } `, ""},
		"lone surrogate":       {`{"description":"\ud83d"}`, ""},
		"recursion by item":    {`{"properties":{"kids":{"items":{"$ref":"#"}}}}`, ""},
		"recursion by name":    {`{"additionalProperties":{"$ref":"#"}}`, ""},
		"recursion by pattern": {`{"patternProperties":{"^a":{"$ref":"#"}}}`, ""},
		"recursion by prefix":  {`{"prefixItems":[{"$ref":"#"}]}`, ""},
		"recursion contains":   {`{"contains":{"$ref":"#"}}`, ""},
		"recursion unevaluate": {`{"unevaluatedProperties":{"$ref":"#"}}`, ""},
		"recursiveRef": {
			`{"$schema":"https://json-schema.org/draft/2019-09/schema","properties":{"a":{"$recursiveRef":"#"}}}`, "",
		},
		"dynamicRef":        {`{"$dynamicAnchor":"n","properties":{"a":{"$dynamicRef":"#n"}}}`, ""},
		"anchor":            {`{"$defs":{"x":{"$anchor":"y"}},"$ref":"#y"}`, ""},
		"escaped pointer":   {`{"$defs":{"a/b~c d":{}},"$ref":"#/$defs/a~1b~0c%20d"}`, ""},
		"elsewhere":         {`{"components":{"schemas":{"A":{"type":"string"}}},"$ref":"#/components/schemas/A"}`, ""},
		"ref as a property": {`{"properties":{"$ref":{"type":"string"}}}`, ""},
		"ref in an enum":    {`{"enum":[{"$ref":"http://example.com"}]}`, ""},
		"null ref":          {`{"$ref":null}`, ""},
		"float max":         {`{"maximum":1.7976931348623157e+308}`, ""},

		"nothing":             {``, "syntax"},
		"cut":                 {`{"type":`, "syntax"},
		"trailing comma":      {`{"type":"object",}`, "syntax"},
		"two values":          {`{} {}`, "syntax"},
		"trailing brace":      {`{}}`, "syntax"},
		"mismatched":          {`{"a":[}`, "syntax"},
		"single quotes":       {`{'type':'object'}`, "syntax"},
		"NaN":                 {`{"minimum":NaN}`, "syntax"},
		"hostile name":        {`{"a\nb\u001b[31m":{"c":}}`, "syntax"},
		"hostile duplicate":   {`{"a\r":1,"a\r":2}`, "duplicate"},
		"null":                {`null`, "type"},
		"string":              {`"object"`, "type"},
		"number":              {`1`, "type"},
		"list":                {`[]`, "type"},
		"duplicate":           {`{"type":"object","type":"string"}`, "duplicate"},
		"duplicate by escape": {`{"type":"object","\u0074ype":"string"}`, "duplicate"},
		"duplicate below":     {`{"properties":{"a":{},"a":{}}}`, "duplicate"},
		"many digits":         {`{"minimum":1` + strings.Repeat("0", 500) + `}`, "number"},
		"large exponent":      {`{"minimum":1e9999}`, "number"},
		"larger exponent":     {`{"enum":[1E+2000000]}`, "number"},
		"small exponent":      {`{"minimum":1e-9999}`, "number"},

		"itself":            {`{"$ref":"#"}`, "cycle"},
		"object and itself": {`{"type":"object","$ref":"#"}`, "cycle"},
		"itself by pointer": {`{"$defs":{"a":{"$ref":"#/$defs/a"}}}`, "cycle"},
		"each other": {`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`,
			"cycle"},
		"by allOf":            {`{"allOf":[{"$ref":"#"}]}`, "cycle"},
		"by anyOf":            {`{"anyOf":[{"type":"string"},{"$ref":"#"}]}`, "cycle"},
		"by oneOf":            {`{"oneOf":[{"$ref":"#"}]}`, "cycle"},
		"by not":              {`{"not":{"$ref":"#"}}`, "cycle"},
		"by if":               {`{"if":{"$ref":"#"}}`, "cycle"},
		"by then":             {`{"if":true,"then":{"$ref":"#"}}`, "cycle"},
		"by else":             {`{"if":false,"else":{"$ref":"#"}}`, "cycle"},
		"by dependentSchemas": {`{"dependentSchemas":{"a":{"$ref":"#"}}}`, "cycle"},
		"by dependencies":     {`{"dependencies":{"a":{"$ref":"#"}}}`, "cycle"},
		"by propertyNames":    {`{"propertyNames":{"$ref":"#"}}`, "cycle"},
		"by anchor":           {`{"$anchor":"a","allOf":[{"$ref":"#a"}]}`, "cycle"},
		"by dynamicRef":       {`{"$dynamicAnchor":"a","$dynamicRef":"#a"}`, "cycle"},
		"by recursiveRef":     {`{"$recursiveRef":"#"}`, "cycle"},
		"unused cycle":        {`{"type":"object","definitions":{"a":{"not":{"$ref":"#/definitions/a"}}}}`, "cycle"},
		"cycle elsewhere":     {`{"x":{"a":{"allOf":[{"$ref":"#/x/a"}]}},"$ref":"#/x/a"}`, "cycle"},
		"cycle in a property": {`{"properties":{"a":{"$ref":"#/properties/a"}}}`, "cycle"},
		"cycle in draft-07": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"$ref":"#/definitions/a"}}}`,
			"cycle",
		},
		"cycle by two ids":     {`{"$defs":{"a":{"$id":"x:a","allOf":[{"$ref":"#"}]}}}`, "cycle"},
		"properties as schema": {`{"properties":{"allOf":{"type":"array"}},"$ref":"#/properties"}`, ""},

		"http":             {`{"$ref":"http://127.0.0.1:1/x"}`, "ref"},
		"file":             {`{"$ref":"file:///etc/passwd"}`, "ref"},
		"relative":         {`{"$ref":"other.json"}`, "ref"},
		"relative pointer": {`{"$ref":"other.json#/a"}`, "ref"},
		"absolute path":    {`{"$ref":"/etc/passwd"}`, "ref"},
		"metaschema":       {`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "ref"},
		"own id":           {`{"$id":"http://example.com/a","$ref":"http://example.com/a"}`, "ref"},
		"empty":            {`{"$ref":""}`, "ref"},
		"no string":        {`{"$ref":5}`, "ref"},
		"no anchor":        {`{"$ref":"#nowhere"}`, "ref"},
		"no pointer":       {`{"$ref":"#/$defs/a"}`, "ref"},
		"no index":         {`{"allOf":[{}],"$ref":"#/allOf/1"}`, "ref"},
		"index with zero":  {`{"allOf":[{},{}],"$ref":"#/allOf/01"}`, "ref"},
		"to a string":      {`{"title":"x","$ref":"#/title"}`, "ref"},
		"to a list":        {`{"enum":[1],"$ref":"#/enum"}`, "ref"},
		"bad escape":       {`{"$ref":"#/%zz"}`, "ref"},
		"two anchors":      {`{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, "ref"},
		"dynamic http":     {`{"$dynamicRef":"http://127.0.0.1:1/x"}`, "ref"},
		"recursive http":   {`{"$recursiveRef":"http://127.0.0.1:1/x"}`, "ref"},
		"dynamic and ids": {
			`{"$dynamicAnchor":"n","items":{"$id":"x:y","$dynamicAnchor":"n","items":{"$dynamicRef":"#n"}}}`, "ref",
		},
		"nested remote": {`{"properties":{"a":{"items":{"anyOf":[{"$ref":"https://example.com/"}]}}}}`, "ref"},
		"unused remote": {`{"$defs":{"a":{"$ref":"https://example.com/"}}}`, "ref"},

		"long pattern":     {`{"pattern":"` + strings.Repeat("a", maxPattern+1) + `"}`, "pattern"},
		"long pattern key": {`{"patternProperties":{"` + strings.Repeat("a", maxPattern+1) + `":{}}}`, "pattern"},
		"large patterns":   {largePatterns(), "pattern"},
		"large classes":    {`{"pattern":"` + strings.Repeat(`\\pL`, 250) + `"}`, "pattern"},
		"large enum":       {`{"enum":[` + strings.Repeat("1,", maxEnum) + `1]}`, "enum"},
		"large required":   {`{"required":[` + strings.Repeat(`"a",`, maxRequired) + `"a"]}`, "required"},
		"many schemas":     {`{"allOf":[` + strings.Repeat("{},", maxSubschemas) + `{}]}`, "subschemas"},
		"many booleans":    {`{"prefixItems":[` + strings.Repeat("true,", maxSubschemas) + `true]}`, "subschemas"},
		"deep schemas":     {nest(`{"not":`, maxDepth+1, `{}`, `}`), "depth"},
		"deep properties":  {nest(`{"properties":{"a":`, maxDepth+1, `{}`, `}}`), "depth"},
		"deep values":      {`{"default":` + nest(`[`, maxNesting, `1`, `]`) + `}`, "depth"},
		"long names": {`{"properties":{"` + strings.Repeat("a", 60<<10) + `":{"allOf":[` + strings.Repeat("{},",
			100) + `{}]}}}`, "size"},
		"2 MiB":            {`{"description":"` + strings.Repeat("a", 2<<20) + `"}`, "size"},
		"doubling":         {doubling(22), "cost"},
		"long chain":       {chain(maxChain + 1), "cost"},
		"long chain first": {chainBackwards(maxChain + 1), "cost"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reason(t, vetError([]byte(c.schema))); got != c.reason {
				t.Errorf("reason %q, want %q (%v)", got, c.reason, vetError([]byte(c.schema)))
			}
		})
	}
	for name, schema := range map[string]string{
		"just deep enough": nest(`{"not":`, maxDepth, `{}`, `}`),
		"just long enough": chain(maxChain - 1),
		"doubled enough":   doubling(11),
		"many schemas":     `{"prefixItems":[` + strings.Repeat("{},", maxSubschemas-2) + `{}]}`,
	} {
		if err := vetError([]byte(schema)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func nest(open string, times int, middle, end string) string {
	return strings.Repeat(open, times) + middle + strings.Repeat(end, times)
}

// doubling returns a schema that applies 2^n schemas to one value.
func doubling(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/d0","$defs":{%s"d%d":{"type":"object"}}}`, b.String(), n)
}

func chain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"$ref":"#/$defs/d%d"},`, i, i+1)
	}
	return fmt.Sprintf(`{"$defs":{%s"d%d":{"type":"object"}}}`, b.String(), n)
}

// chainBackwards returns a chain whose end comes first, so that each step refers to a schema
// with a known cost.
func chainBackwards(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"d%d":{"$ref":"#/$defs/d%d"}`, i+1, i)
	}
	return fmt.Sprintf(`{"$defs":{"d0":{"type":"object"}%s}}`, b.String())
}

func largePatterns() string {
	var keys []string
	for i := range 60 {
		keys = append(keys, fmt.Sprintf(`"p%d":{"pattern":"%d[a-z]{1000}"}`, i, i))
	}
	return `{"properties":{` + strings.Join(keys, ",") + `}}`
}
