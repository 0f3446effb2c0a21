package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// decoded decodes settings into a new every.
func decoded(t *testing.T, settings string) (*every, error) {
	t.Helper()
	c := new(every)
	return c, sdk.Decode(sdk.SchemaOf[every](), []byte(settings), c)
}

// with adds members to the required settings.
func with(members string) string {
	s := `{"text":"t","must":{"name":"n"}`
	if members != "" {
		s += "," + members
	}
	return s + "}"
}

func TestDecode(t *testing.T) {
	yes, empty := true, ""
	for _, c := range []struct {
		name, members string
		change        func(*every)
	}{
		{"defaults", ``, func(*every) {}},
		{"null is left out", `"mode":null,"maybe":null,"retry":null,"peer":null,"headers":null`, func(*every) {}},
		{"texts", `"maybe":"","mode":"fast"`, func(e *every) { e.Maybe, e.Mode = &empty, "fast" }},
		{"flags", `"flag":true,"on":true`, func(e *every) { e.Flag, e.On = true, &yes }},
		{"smallest", `"small":-128,"big":-9223372036854775808,"count":0,"huge":0`,
			func(e *every) { e.Small, e.Big, e.Count = -128, -1<<63, 0 }},
		{"largest", `"small":127,"big":9223372036854775807,"count":65535,"huge":18446744073709551615`,
			func(e *every) { e.Small, e.Big, e.Count, e.Huge = 127, 1<<63-1, 65535, 1<<64-1 }},
		{"beyond 2^53",
			`"big":9007199254740993,"huge":9007199254740993`, func(e *every) { e.Big, e.Huge = 1<<53+1, 1<<53+1 }},
		{"whole in disguise", `"small":1e2,"big":-0,"count":5.0`, func(e *every) { e.Small, e.Count = 100, 5 }},
		{"ratios", `"ratio":1e300,"coarse":0.25`, func(e *every) { e.Ratio, e.Coarse = 1e300, 0.25 }},
		{"durations", `"wait":"1h1m","waits":["0s","1ms"]`,
			func(e *every) { e.Wait, e.Waits = 61*time.Minute, []time.Duration{0, time.Millisecond} }},
		{"lists", `"words":[],"env":["A"]`, func(e *every) { e.Words, e.Env = []string{}, []string{"A"} }},
		{"maps", `"headers":{"Host":"x","":"y"},"limits":{"a":1},"table":{"a":[1,2]}`, func(e *every) {
			e.Headers, e.Limits, e.Table = map[string]string{"Host": "x", "": "y"}, map[string]int{"a": 1},
				map[string][]int{"a": {1, 2}}
		}},
		{"anything", `"any":{"a":[null, 1]},"anything":{"a":null}`, func(e *every) {
			e.Any, e.Anything = json.RawMessage(`{"a":[null, 1]}`),
				map[string]json.RawMessage{"a": json.RawMessage("null")}
		}},
		{"a pair", `"old":"o","flag":true`, func(e *every) { e.Old, e.Flag = "o", true }},
		{"a block", `"retry":{"max":3}`, func(e *every) { e.Retry = &retry{Max: 3, Delay: time.Second} }},
		{"several blocks",
			`"peer":[{"name":"a"},{"name":"b","port":1}]`, func(e *every) { e.Peers = []peer{{"a", 80}, {"b", 1}} }},
		{"no block of several", `"peer":[]`, func(e *every) { e.Peers = []peer{} }},
		{"unicode", `"maybe":"\u00e9\ud83d\ude00"`, func(e *every) { s := "é😀"; e.Maybe = &s }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := &every{
				Text: "t", Mode: "safe", Count: 7, Ratio: 0.5, Wait: 30 * time.Second, Words: []string{"a", "b"},
				Quoted: "a\"b\\c\u0007é😀<", Must: must{Name: "n"},
			}
			c.change(want)
			got, err := decoded(t, with(c.members))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name, settings string
		want           []string // texts "path: message" in order
	}{
		{"not an object", `[]`, []string{"settings are not a JSON object"}},
		{"not JSON", `{"text":`, []string{"settings are not a JSON object"}},
		{"nothing", ``, []string{"text: is required", "must: is required"}},
		{"null", `null`, []string{"text: is required", "must: is required"}},
		{"unknown", with(`"txet":1,"aaa":2`),
			[]string{"aaa: is not a setting; known are text, maybe, ", "txet: is not a setting"}},
		{"a field that is not a setting", with(`"unexported":"x"`), []string{"unexported: is not a setting"}},
		{"several at once", `{"mode":"slow","wait":"x","must":{}}`,
			[]string{"text: is required", "mode: must be one of fast, safe",
				"wait: must be a duration", "must.name: is required"}},
		{"text", with(`"maybe":1`), []string{"maybe: must be a string"}},
		{"flag", with(`"flag":"true"`), []string{"flag: must be a bool"}},
		{"number as text", with(`"big":"1"`), []string{"big: must be a number"}},
		{"flag as number", with(`"big":true`), []string{"big: must be a number"}},
		{"fraction", with(`"big":1.5`), []string{"big: must be a whole number that fits, not 1.5"}},
		{"too small", with(`"small":-129`), []string{"small: must be a whole number that fits"}},
		{"too large", with(`"small":128,"count":65536`), []string{"small: must be", "count: must be"}},
		{"negative", with(`"count":-1,"huge":-1`), []string{"count: must be", "huge: must be"}},
		{"beyond 64 bits",
			with(`"big":9223372036854775808,"huge":18446744073709551616`), []string{"big: must be", "huge: must be"}},
		{"inexact", with(`"big":1e18`), []string{"big: must be"}},
		{"beyond a float", with(`"ratio":1e999`), []string{"ratio: must be a number"}},
		{"beyond a small float", with(`"coarse":1e300`), []string{"coarse: must be a number that fits"}},
		{"duration as number", with(`"wait":30`), []string{"wait: must be a duration"}},
		{"negative duration", with(`"wait":"-1s"`), []string{`wait: must be a duration such as "30s", not "-1s"`}},
		{"second duration", with(`"waits":["1s","x"]`), []string{"waits[1]: must be a duration"}},
		{"list", with(`"words":"a"`), []string{"words: must be a list"}},
		{"element", with(`"words":["a",2]`), []string{"words[1]: must be a string"}},
		{"null in a list", with(`"words":["a", null ]`), []string{"words[1]: must have a value"}},
		{"map", with(`"headers":[]`), []string{"headers: must be a map"}},
		{"member", with(`"headers":{"X-A":1}`), []string{`headers["X-A"]: must be a string`}},
		{"null in a map", with(`"limits":{"a":null}`), []string{`limits["a"]: must have a value`}},
		{"deep", with(`"table":{"a":[1,"2"]}`), []string{`table["a"][1]: must be a number`}},
		{"conflict", with(`"old":"o","new":"n","flag":false`), []string{"old: cannot stand beside new"}},
		{"companion", with(`"old":"o"`), []string{"old: needs flag beside it"}},
		{"block is a list", with(`"retry":[{"max":1}]`), []string{"retry: is not a block"}},
		{"block is a text", with(`"retry":"x"`), []string{"retry: is not a block"}},
		{"list is a block", with(`"peer":{"name":"a"}`), []string{"peer: is not a block"}},
		{"inside a block", with(`"retry":{"max":"1","min":2}`),
			[]string{"retry.max: must be a number", "retry.min: is not a setting; known are max, delay"}},
		{"inside the second block",
			with(`"peer":[{"name":"a"},{"name":"b","port":-1}]`), []string{"peer[1].port: must be"}},
		{"no label", with(`"peer":[{}]`), []string{"peer[0].name: must have a value"}},
		{"bad label", with(`"peer":[{"name":7}]`), []string{"peer[0].name: must be a string"}},
		{"empty block of several", with(`"peer":[null]`), []string{"peer[0].name: must have a value"}},
		{"two deep", `{"text":"t","must":{"name":"n","deep":{}}}`, []string{"must.deep.max: is required"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decoded(t, c.settings)
			checkErrors(t, err, c.want)
		})
	}
}

// checkErrors checks that err joins errors of code Invalid whose texts begin
// with those wanted.
func checkErrors(t *testing.T, err error, want []string) {
	t.Helper()
	got := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		got = joined.Unwrap()
	}
	if len(got) != len(want) {
		t.Fatalf("got %d errors, want %d: %v", len(got), len(want), err)
	}
	for i, e := range got {
		se, ok := e.(*sdk.Error)
		if !ok || se.Code != sdk.Invalid || !strings.HasPrefix(se.Error(), want[i]) {
			t.Errorf("error %d is %#v, want %q", i, e, want[i])
		}
	}
}

// checked has a Validate method.
type checked struct {
	From int `hcl:"from" doc:"From."`
	To   int `hcl:"to" doc:"To."`
}

func (c *checked) Validate() error {
	switch {
	case c.From > c.To:
		return sdk.AttrErrorf("from", "must not be larger than to")
	case c.From == c.To:
		return errors.New("nothing is between")
	}
	return nil
}

func TestTransportDecodes(t *testing.T) {
	var opened []checked
	transport := sdk.NewTransport(func(_ context.Context, _ *sdk.Server, c *checked) (sdk.Conn, error) {
		opened = append(opened, *c)
		return nil, nil
	})
	auth := sdk.NewAuth(func(_ context.Context, _ *sdk.AuthServer, c *checked) (sdk.Authorizer, error) {
		opened = append(opened, *c)
		return nil, nil
	})
	for _, c := range []struct{ settings, want string }{
		{`{"from":1,"to":2}`, ""},
		{`{"from":3,"to":2}`, "from: must not be larger than to"},
		{`{"from":2,"to":2}`, "nothing is between"}, // an error without a code becomes Invalid
		{`{"from":2}`, "to: is required"},
	} {
		_, openErr := transport.Open(t.Context(), &sdk.Server{}, []byte(c.settings))
		_, startErr := auth.Start(t.Context(), &sdk.AuthServer{}, []byte(c.settings))
		for _, err := range []error{
			openErr, startErr, transport.Validate(t.Context(), []byte(c.settings)),
			auth.Validate(t.Context(), []byte(c.settings)),
		} {
			if c.want == "" && err == nil {
				continue
			}
			checkErrors(t, err, []string{c.want})
		}
	}
	if want := []checked{{1, 2}, {1, 2}}; !slices.Equal(opened, want) {
		t.Errorf("opened with %v", opened)
	}
	if !reflect.DeepEqual(transport.Schema(), auth.Schema()) {
		t.Error("the schemas differ")
	}
}

func TestCodeOf(t *testing.T) {
	inner := sdk.Errorf(sdk.Denied, "no")
	for _, c := range []struct {
		err  error
		want sdk.Code
	}{
		{inner, sdk.Denied},
		{fmt.Errorf("asking: %w", inner), sdk.Denied},
		{errors.Join(errors.New("x"), inner), sdk.Denied},
		{errors.New("x"), sdk.Internal},
		{sdk.AttrErrorf("a", "b"), sdk.Invalid},
	} {
		if got := sdk.CodeOf(c.err); got != c.want {
			t.Errorf("CodeOf(%v) is %s, want %s", c.err, got, c.want)
		}
	}
}
