package mcp

import (
	"fmt"
	"strings"
	"testing"
)

// TestParseCorrects checks the deviations that Parse corrects, and those next to them
// that it refuses.
//
// deviation: a byte order mark before a message, on standard output, on standard input or in a body | skips one | dotnet/runtime#28929
// deviation: `"error": null` beside a result, or `"result": null` beside an error | takes the null as absent | Wazuh-MCP-Server#59
// deviation: ids as 1.0 or 1e0 | takes them as the integer 1 | Godot-MCP-Native#16
// deviation: the id of a response as a string of digits | takes it as the number | -
// deviation: `"params": null`, in requests and notifications | takes it as absent | MonkeyCode#1268, cline#10553, tidebreak#1464
// deviation: `"id": null` in a notification | takes it as absent | -
// deviation: errors with a code that is no integer of 32 bits, such as "ENOENT" | makes it -32603, with the original in `data` | XcodeMCPKit#205
// deviation: errors with a code such as "-32601" or -32601.0 | makes it an integer | -
// deviation: errors without a message, or with one that is no string | makes a message of what is there | XcodeMCPKit#205
// deviation: errors that are a string, a list or a number | makes them the message or `data` of -32603 | -
// deviation: messages of errors above 16 KiB | cuts them | -
func TestParseCorrects(t *testing.T) {
	response := func(rest string) string { return `{"jsonrpc":"2.0","id":1,` + rest + "}" }
	for _, c := range []struct{ name, in, want string }{
		{"mark", "\ufeff" + response(`"result":{}`), "id 1 result {}"},
		{"mark and space", "\ufeff\n" + response(`"result":{}`), "id 1 result {}"},
		{"two marks", "\ufeff\ufeff" + response(`"result":{}`), "message is not valid JSON"},
		{"mark at the end", response(`"result":{}`) + "\ufeff", "message is not valid JSON"},
		{"mark inside", "{\ufeff" + response(`"result":{}`)[1:], "message is not valid JSON"},

		{"error null", response(`"result":{},"error":null`), "id 1 result {}"},
		{"error null first", response(`"error":null,"result":[]`), "id 1 result []"},
		{"result null",
			response(`"result":null,"error":{"code":1,"message":"x"}`), `id 1 error {"code":1,"message":"x"}`},
		{"both null", response(`"result":null,"error":null`), "id 1 result null"},
		{"method and params null", response(`"method":null,"params":null,"result":{},"error":null`), "id 1 result {}"},
		{"request with nulls",
			response(`"method":"ping","params":null,"result":null,"error":null`), "id 1 method ping"},
		{"error false", response(`"result":{},"error":false`), "message needs either a result or an error"},
		{"error empty", response(`"result":{},"error":{}`), "message needs either a result or an error"},
		{"result false",
			response(`"result":false,"error":{"code":1,"message":"x"}`), "message needs either a result or an error"},
		{"method null alone", response(`"method":null`), "message has a method that is not a name"},
		{"request and result", response(`"method":"ping","result":{}`), "message is a request and a response at once"},

		{"params null", response(`"method":"tools/list","params":null`), "id 1 method tools/list"},
		{"params null in a notification", `{"jsonrpc":"2.0","method":"notifications/initialized","params":null}`,
			"id  method notifications/initialized"},
		{"params false", response(`"method":"tools/list","params":false`), "message has params that are not an object"},
		{"params a text",
			response(`"method":"tools/list","params":"null"`), "message has params that are not an object"},
		{"id null in a notification",
			`{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}`, "id  method notifications/initialized"},
		{"id null in a request",
			`{"jsonrpc":"2.0","id":null,"method":"notification"}`, "message is a request with the id null"},

		{"id 1.0", `{"jsonrpc":"2.0","id":1.0,"result":{}}`, "id 1 result {}"},
		{"id 1e0", `{"jsonrpc":"2.0","id":1e0,"method":"ping"}`, "id 1 method ping"},
		{"id 12.50e1", `{"jsonrpc":"2.0","id":12.50e1,"method":"ping"}`, "id 125 method ping"},
		{"id -0.0", `{"jsonrpc":"2.0","id":-0.0,"method":"ping"}`, "id 0 method ping"},
		{"id text 1.0", `{"jsonrpc":"2.0","id":"1.0","method":"ping"}`, `id "1.0" method ping`},
		{"id 1.5",
			`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, "message has an id that is neither a string nor an integer"},
		{"id 1e-1",
			`{"jsonrpc":"2.0","id":1e-1,"method":"ping"}`, "message has an id that is neither a string nor an integer"},
		{"id 1e300",
			`{"jsonrpc":"2.0","id":1e300,"method":"ping"}`,
			"message has an id that is neither a string nor an integer"},
		{"id not exact", `{"jsonrpc":"2.0","id":9007199254740993.0,"method":"ping"}`,
			"message has an id that is neither a string nor an integer"},

		{"code a word", response(`"error":{"code":"ENOENT","message":"no such file"}`),
			`id 1 error {"code":-32603,"message":"no such file","data":{"original":{"code":"ENOENT","message":"no such file"}}}`},
		{"code digits",
			response(`"error":{"code":"-32601","message":"x"}`), `id 1 error {"code":-32601,"message":"x"}`},
		{"code 1e3", response(`"error":{"code":1e3,"message":"x"}`), `id 1 error {"code":1000,"message":"x"}`},
		{"code 1.5", response(`"error":{"code":1.5,"message":"x"}`),
			`id 1 error {"code":-32603,"message":"x","data":{"original":{"code":1.5,"message":"x"}}}`},
		{"code of 33 bits", response(`"error":{"code":2147483648,"message":"x"}`),
			`id 1 error {"code":-32603,"message":"x","data":{"original":{"code":2147483648,"message":"x"}}}`},
		{"code huge", response(`"error":{"code":1e300,"message":"x"}`),
			`id 1 error {"code":-32603,"message":"x","data":{"original":{"code":1e300,"message":"x"}}}`},
		{"code null", response(`"error":{"code":null,"message":"x","data":1}`),
			`id 1 error {"code":-32603,"message":"x","data":{"original":{"code":null,"message":"x","data":1}}}`},
		{"no message",
			response(`"error":{"code":-32601}`), `id 1 error {"code":-32601,"message":"the server gave no message"}`},
		{"message null", response(`"error":{"code":7,"message":null,"data":"x"}`),
			`id 1 error {"code":7,"message":"the server gave no message","data":"x"}`},
		{"message an object",
			response(`"error":{"code":7,"message":{"en":"x"}}`), `id 1 error {"code":7,"message":"{\"en\":\"x\"}"}`},
		{"message empty", response(`"error":{"code":7,"message":""}`), `id 1 error {"code":7,"message":""}`},
		{"data null",
			response(`"error":{"code":7,"message":"x","data":null}`),
			`id 1 error {"code":7,"message":"x","data":null}`},
		{"nothing", response(`"error":{}`),
			`id 1 error {"code":-32603,"message":"the server gave no message","data":{"original":{}}}`},
		{"a text", response(`"error":"boom"`), `id 1 error {"code":-32603,"message":"boom"}`},
		{"an empty text", response(`"error":""`), `id 1 error {"code":-32603,"message":"the server gave no message"}`},
		{"a list", response(`"error":["boom"]`),
			`id 1 error {"code":-32603,"message":"the server sent an invalid error","data":{"original":["boom"]}}`},
		{"a flag", response(`"error":true`),
			`id 1 error {"code":-32603,"message":"the server sent an invalid error","data":{"original":true}}`},
		{"null alone", response(`"error":null`),
			`id 1 error {"code":-32603,"message":"the server sent an invalid error","data":{"original":null}}`},
		{"unknown members", response(`"error":{"x":[1e2],"message":"m","code":7,"data":[0.10]}`),
			`id 1 error {"x":[1e2],"message":"m","code":7,"data":[0.10]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse([]byte(c.in))
			got := fmt.Sprint(err)
			switch {
			case err != nil:
			case m.IsResponse() && m.Error != nil:
				got = fmt.Sprintf("id %s error %s", m.ID, m.Error)
			case m.IsResponse():
				got = fmt.Sprintf("id %s result %s", m.ID, m.Result)
			default:
				got = fmt.Sprintf("id %s method %s%s", m.ID, m.Method, m.Params)
			}
			if got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestErrorsAreBounded checks that no error of a peer is passed on in full size.
func TestErrorsAreBounded(t *testing.T) {
	large := strings.Repeat("é", 3<<20)
	for _, rpcError := range []string{
		`{"code":1,"message":"` + large + `"}`,
		`"` + large + `"`, `["` + large + `"]`, `{"code":"x","message":"` + large + `"}`,
		`{"code":"x","message":"m","data":"` + large + `"}`, `{"code":1,"message":["` + large + `"]}`,
	} {
		m, err := Parse([]byte(`{"jsonrpc":"2.0","id":1,"error":` + rpcError + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Error) > 32<<10 || !validError(m.Error) || Scan(m.Error) != nil {
			t.Errorf("%.30s: %d bytes: %.200s", rpcError, len(m.Error), m.Error)
		}
	}
}

// TestForeignWords checks that the error for a word which JSON lacks names the word and
// its place.
//
// deviation: NaN, Infinity or None in a result | fails the call with the word and its place | python-sdk#3385
func TestForeignWords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"mean":NaN}}}`,
			"is not valid JSON: NaN at byte 62, the value of result.structuredContent.mean"},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"a":1}, {"n":[1,-Infinity]}]}}`,
			"is not valid JSON: -Infinity at byte 62, the value of result.content[1].n[1]"},
		{`{"a\u001b":None}`, `is not valid JSON: None at byte 11, the value of a\x1b`},
		{`NaN`, "is not valid JSON: NaN at byte 0"},
		{`[True]`, "is not valid JSON: True at byte 1, the value of [0]"},
		{`{"a":nul}`, "is not valid JSON: nul at byte 5, the value of a"},
		{`{"a":` + strings.Repeat("x", 100) + `}`,
			"is not valid JSON: " + strings.Repeat("x", 24) + " at byte 5, the value of a"},
		{`{"` + strings.Repeat("a", 200) + `":NaN}`,
			"is not valid JSON: NaN at byte 204, the value of " + strings.Repeat("a", 120) + "…"},
		{strings.Repeat("[", 20) + "NaN",
			"is not valid JSON: NaN at byte 20, the value of " + strings.Repeat("[0]", 8)},
		{`{"a":-}`, "is not valid JSON"}, {`{"a":}`, "is not valid JSON"}, {`{"a":'x'}`, "is not valid JSON"},
		{`{a:1}`, "is not valid JSON"},
		{`{"a":01}`, "is not valid JSON"}, {`{"a":é}`, "is not valid JSON"}, {``, "is not valid JSON"},
	} {
		if err := Scan([]byte(c.in)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", c.in, err, c.want)
		}
	}
}
