package httpserver

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// odd returns the result that testdata/evil/mcp prints in its mode "odd".
func odd(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("../../testdata/evil/mcp/odd.go")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(source), "const Odd = `")
	text, _, _ := strings.Cut(after, "`\n\n")
	return regexp.MustCompile("` \\+\n\t`").ReplaceAllString(text, "")
}

// TestFidelity: through the real programs, the bytes of params, of results and
// of errors are the ones that were sent.
func TestFidelity(t *testing.T) {
	p := serve(t, "", "odd", "odd-error", "hidden", "ok")
	if a, _ := p.call("a__bad", ""); a != `{"jsonrpc":"2.0","id":1,"result":`+odd(t)+`}` {
		t.Errorf("%s\nwant the result\n%s", a, odd(t))
	}
	const rpcError = `{ "data":{"elicitations":[{"url":"https://x","n":9007199254740993}]},"message":"URL needed\/","code":-32042,"more":[] }`
	if a, _ := p.call("b__bad", ""); a != `{"jsonrpc":"2.0","id":2,"error":`+rpcError+`}` {
		t.Errorf("%s\nwant the error\n%s", a, rpcError)
	}
	if a, _ := p.call("c__bad", ""); a != `{"jsonrpc":"2.0","id":3,"result":{"jsonrpc":"2.0","id":1,"method":"ping"}}` {
		t.Errorf("%q", a)
	}
	const params = `"z":[1.50, 1e400,9007199254740993],"arguments":{ "b" : 2,"a":"\ud83d\u0041\/" },	"unknown":{"k":null}, "_meta":{"x":1}}`
	if a := p.answer(p.start("tools/call", `{"name":"d__echo",`+params)); a != `{"jsonrpc":"2.0","id":4,"result":{"content":[],"echo":{"name":"echo",`+params+`}}` {
		t.Errorf("%s", a)
	}
	// A CR in the client's message is white space before it goes on.
	p.say(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"d__echo",` + "\r" + `"x":{"jsonrpc":"2.0","id":9,"method":"ping"}` + "\r" + `}}`)
	if a := p.answer("5"); !strings.Contains(a, `{"name":"echo", "x":{"jsonrpc":"2.0","id":9,"method":"ping"} }`) {
		t.Errorf("%q", a)
	}
	p.works("d")
}
