package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     string // the result of String, or the error
		kind     string
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `id 1 method "ping"`, "request"},
		{"id a string", `{"jsonrpc":"2.0","id":"a","method":"ping"}`, `id "a" method "ping"`, "request"},
		{"id negative", `{"jsonrpc":"2.0","id":-1,"method":"ping"}`, `id -1 method "ping"`, "request"},
		{"id beyond every integer type", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"x"}`,
			`id 123456789012345678901234567890 method "x"`, "request"},
		{"escaped names",
			`{"\u006asonrpc":"2.0","\u0069d":1,"metho\u0064":"p\u0069ng"}`, `id 1 method "ping"`, "request"},
		{"notification", `{"jsonrpc":"2.0","method":"n","params":{}}`, `id  method "n"`, "notification"},
		{"result", `{"jsonrpc":"2.0","id":1,"result":null}`, `id 1 method ""`, "response"},
		{"error", `{"jsonrpc":"2.0","id":null,"error":{}}`, `id null method ""`, "response"},
		{"unknown members", `{"x":1,"jsonrpc":"2.0","y":{},"id":1,"result":{}}`, `id 1 method ""`, "response"},

		{"nothing", ``, "is not valid JSON", ""},
		{"two values", `{"jsonrpc":"2.0","id":1,"result":{}} {}`, "is not valid JSON", ""},
		{"a second request behind a line break",
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\"}",
			"is not valid JSON", ""},
		{"batch", ` [{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
			"is a JSON-RPC batch, which is not supported; send each message by itself", ""},
		{"empty batch", "\n[]", "is a JSON-RPC batch, which is not supported; send each message by itself", ""},
		{"a string", `"x"`, `has no "jsonrpc":"2.0"`, ""},
		{"no version", `{"id":1,"method":"ping"}`, `has no "jsonrpc":"2.0"`, ""},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `has no "jsonrpc":"2.0"`, ""},
		{"version a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, `has no "jsonrpc":"2.0"`, ""},
		{"id a fraction",
			`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "has an id that is neither a string nor an integer", ""},
		{"id an object",
			`{"jsonrpc":"2.0","id":{},"method":"ping"}`, "has an id that is neither a string nor an integer", ""},
		{"id a flag",
			`{"jsonrpc":"2.0","id":true,"method":"ping"}`, "has an id that is neither a string nor an integer", ""},
		{"id long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", MaxID) + `","method":"ping"}`,
			"has an id that is too long", ""},
		{"request with null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, "is a request with the id null", ""},
		{"method a number", `{"jsonrpc":"2.0","id":1,"method":7}`, "has a method that is not a name", ""},
		{"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, "has a method that is not a name", ""},
		{"method long", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", MaxMethod+1) + `"}`,
			"has a method whose name is too long", ""},
		{"params a list",
			`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, "has params that are not an object", ""},
		{"request and response",
			`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, "is a request and a response at once", ""},
		{"neither", `{"jsonrpc":"2.0","id":1}`, "needs either a result or an error", ""},
		{"empty", `{"jsonrpc":"2.0"}`, "is neither a request nor a response", ""},
		{"result without an id", `{"jsonrpc":"2.0","result":{}}`, "is neither a request nor a response", ""},
		{"error and result without an id",
			`{"jsonrpc":"2.0","result":{},"error":{}}`, "needs either a result or an error", ""},
		{"error without an id", `{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}`, `id  method ""`, "response"},
		{"both", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, "needs either a result or an error", ""},
		{"name twice", `{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}`, "has a name twice in one object", ""},
		{"name twice, escaped", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"allowed","n\u0061me":"admin"}}`,
			"has a name twice in one object", ""},
		{"a number no decoder holds", `{"jsonrpc":"2.0","id":1,"method":"a","params":{"n":-1e999}}`,
			"has a number beyond the range of a 64-bit float", ""},
		{"not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "is not valid UTF-8", ""},
		{"surrogate in raw bytes",
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}", "is not valid UTF-8", ""},
		{"NUL", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\x00\"}", "is not valid JSON", ""},
		{"deep", `{"jsonrpc":"2.0","id":1,"method":"a","params":` + strings.Repeat(`{"a":`,
			MaxDepth) + "1" + strings.Repeat("}", MaxDepth) + "}", "nests deeper than 64 levels", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse([]byte(c.in))
			if err != nil {
				if err.Error() != "message "+c.want || m != nil {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			kind := map[bool]string{m.IsRequest(): "request", m.IsNotification(): "notification",
				m.IsResponse(): "response"}[true]
			if m.String() != c.want || kind != c.kind {
				t.Errorf("%s is a %s", m, kind)
			}
		})
	}
}

// TestParseReplacesLineBreaks checks that line breaks cannot hide a second message
// from readers of lines.
func TestParseReplacesLineBreaks(t *testing.T) {
	in := []byte(
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\"}\r\r\n}\n",
	)
	m, err := Parse(in)
	if err != nil {
		t.Fatal(err)
	}
	if string(m.Result) != `{"jsonrpc":"2.0","id":2,"method":"tools/call"}` || bytes.ContainsAny(in, "\r\n") {
		t.Errorf("%q in %q", m.Result, in)
	}
}

// TestGlance checks the id and shape of truncated messages.
func TestGlance(t *testing.T) {
	for _, c := range []struct {
		name, in, id string
		shape        Shape
	}{
		{"request", `{"jsonrpc":"2.0","id":7,"method":"x","params":{"a`, "7", ShapeRequest},
		{"params first", `{"jsonrpc":"2.0","id":7,"params":{"a`, "7", ShapeRequest},
		{"answer", `{"jsonrpc":"2.0","id":"7","result":{"a":"method`, `"7"`, ShapeResponse},
		{"error", `{"error":{"id":1},"id":null,"x`, "null", ShapeResponse},
		{"both", `{"id":7,"result":1,"method":"x"}`, "7", ShapeUnknown},
		{"too early", `{"jsonrpc":"2.0","id":7,`, "7", ShapeUnknown},
		{"number cut off", `{"id":12`, "", ShapeUnknown},
		{"string cut off", `{"id":"12`, "", ShapeUnknown},
		{"id behind the cut", `{"result":{"id":7,"x":[`, "", ShapeResponse},
		{"twice: the first", `{"id":1,"id":2,"method":"x"}`, "1", ShapeRequest},
		{"not JSON", "{\"id\":\"a\rb\",\"method\":\"x\"}", "", ShapeRequest},
		{"not an object", `[{"id":1}]`, "", ShapeUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			if id, shape := Glance([]byte(c.in)); string(id) != c.id || shape != c.shape {
				t.Errorf("%q, %d", id, shape)
			}
		})
	}
}

func TestAppend(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"request", string(AppendRequest(nil, []byte("1"), "a\"b", []byte(`{"x":1}`))),
			`{"jsonrpc":"2.0","id":1,"method":"a\"b","params":{"x":1}}`},
		{"request without params",
			string(AppendRequest([]byte(">"), []byte("1"), "é", nil)), `>{"jsonrpc":"2.0","id":1,"method":"é"}`},
		{"notification", string(AppendNotification(nil, NoteProgress, []byte(`{}`))),
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`},
		{"result",
			string(AppendResult(nil, []byte(`"x"`), []byte(` { } `))), `{"jsonrpc":"2.0","id":"x","result": { } }`},
		{"error", string(AppendError(nil, nil, ErrorObject(-1, "a\nb", []int{1}))),
			`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"a\nb","data":[1]}}`},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
}

func TestIDNumber(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "7": 7, `"7"`: 7, "-1": -1, "null": -1, `"x"`: -1, `""`: -1, `"+7"`: -1, "99999999999999999999": -1,
	} {
		if n, ok := ID(in).Number(); ok != (want >= 0) || ok && n != uint64(want) {
			t.Errorf("%s is %d, %t", in, n, ok)
		}
	}
}

func TestLastID(t *testing.T) {
	for suffix, want := range map[string]string{
		`...]},"jsonrpc":"2.0","id":7}`:           `7`,
		`...]},"id":7,"jsonrpc":"2.0"}`:           `7`,
		`...]} , "id" : 7 , "jsonrpc" : "2.0" } `: `7`,
		`...]},"id":"a-1"}`:                       `"a-1"`,
		`..."}},"id":-3}`:                         `-3`,
		`{"id":7}`:                                `7`,
		`...,"text":"{\"id\":7}`:                  ``,
		`...,"text":",\"id\":7}"}}`:               ``,
		`...,"id":7}}`:                            ``, // a nested id
		`...,"id":7,"jsonrpc":"1.0"}`:             ``,
		`...,"id":7.5}`:                           ``,
		`...,"id":null}`:                          ``,
		`...,"id":"a\"b"}`:                        ``,
		`...,"xid":7}`:                            ``,
		`...,"jsonrpc":"2.0"}`:                    ``,
		``:                                        ``,
	} {
		if got := LastID([]byte(suffix)); string(got) != want {
			t.Errorf("LastID(%s) = %s", suffix, got)
		}
	}
}

// TestDuplicateNames checks objects with few and with many names, whose duplicates are
// found in different ways.
func TestDuplicateNames(t *testing.T) {
	for _, n := range []int{1, 2, fewNames - 1, fewNames, fewNames + 1, 2 * fewNames, 5000} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"n%d":{"a":1,"b":{"a":1}},`, i)
		}
		for _, c := range []struct {
			last string
			want error
		}{
			{`"x":1`, nil},
			{`"n0":1`, errDuplicate},
			{fmt.Sprintf(`"n%d":1`, n-1), errDuplicate},
			{`"\u006e0":1`, errDuplicate},
			{`"n0\u0000":1`, nil},
			{`"x":{"a":1,"a":2}`, errDuplicate},
			{`"\ud800":1,"\udfff":1`, errDuplicate},
			{`"\ud83d\ude00":1,"😀":1`, errDuplicate},
		} {
			if err := Scan([]byte("{" + b.String() + c.last + "}")); err != c.want {
				t.Errorf("%d names and %s: %v, want %v", n, c.last, err, c.want)
			}
		}
	}
}

// TestPlainText checks the search for the end of plain text at each offset in a word.
func TestPlainText(t *testing.T) {
	for before := range 20 {
		for c := range 256 {
			for _, after := range []string{"", "a", "abcdefgh\x00\"\\"} {
				text := strings.Repeat("\x80", before) + string([]byte{byte(c)}) + after
				want := strings.IndexFunc(text, func(r rune) bool { return r == '"' || r == '\\' || r < 0x20 })
				if want < 0 {
					want = len(text)
				}
				if got := skipPlain([]byte(text), 0); got != want {
					t.Fatalf("%q: %d, want %d", text, got, want)
				}
			}
		}
	}
}

// TestMayLink checks which results are searched for resources.
func TestMayLink(t *testing.T) {
	for result, want := range map[string]bool{
		`{"content":[{"type":"text","text":"a \"resource\" of \"type\""}]}`:             false,
		`{"content":[{"type":"text","text":"a"},{"type":"resource_link","uri":"a:b"}]}`: true,
		`{"content":[{"uri":"a:b","type":"resource"}]}`:                                 true,
		`{"content":[{"ty\u0070e" : "resource_link","uri":"a:b"}]}`:                     true,
		`{"content":[{"type":"\u0072esource","uri":"a:b"}]}`:                            true,
		`{"messages":[{"content":{"type":"resource"}}]}`:                                true,
		`{"result":{"content":[{"type":"resource_link"}]}}`:                             true,
		`{"type":7}`: false, `{}`: false, `["type"]`: false,
	} {
		m, err := Parse([]byte(`{"jsonrpc":"2.0","params":{"type":"resource"},"id":1,"result":` + result + `}`))
		if err != nil || m.Names.MayLink() != want {
			t.Errorf("%s: %v, %v", result, m.Names.MayLink(), err)
		}
	}
}

// TestDeepRequestIsInvalid checks the code of a request that is JSON but nests too deeply.
func TestDeepRequestIsInvalid(t *testing.T) {
	for params, want := range map[string]int{
		strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth): CodeInvalidRequest,
		"[": CodeParse,
	} {
		_, err := Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":` + params + `}`))
		e, ok := errors.AsType[*ParseError](err)
		if !ok || e.Code != want || string(e.ID) != "1" && want == CodeInvalidRequest {
			t.Errorf("%+v, want %d", err, want)
		}
	}
}
