package httpserver

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// oddResult returns the result that testdata/evil/mcp prints in its mode "odd".
func oddResult(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile("../../testdata/evil/mcp/odd.go")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(source), "const Odd = `")
	text, _, _ := strings.Cut(after, "`\n\n")
	return regexp.MustCompile("` \\+\n\t`").ReplaceAllString(text, "")
}

// TestFidelity checks with the real programs that the bytes of params, results
// and errors are relayed unchanged.
func TestFidelity(t *testing.T) {
	p := startStdio(t, "", "odd", "odd-error", "hidden", "ok")
	if a, _ := p.call("a__bad", ""); a != `{"jsonrpc":"2.0","id":1,"result":`+oddResult(t)+`}` {
		t.Errorf("%s\nwant the result\n%s", a, oddResult(t))
	}
	const rpcError = `{ "data":{"elicitations":[{"url":"https://x","n":9007199254740993}]},"message":"URL needed\/","code":-32042,"more":[] }`
	if a, _ := p.call("b__bad", ""); a != `{"jsonrpc":"2.0","id":2,"error":`+rpcError+`}` {
		t.Errorf("%s\nwant the error\n%s", a, rpcError)
	}
	if a, _ := p.call("c__bad",
		""); a != `{"jsonrpc":"2.0","id":3,"result":{"jsonrpc":"2.0","id":1,"method":"ping","content":[]}}` {
		t.Errorf("%q", a)
	}
	const params = `"z":[1.50, 1e300,9007199254740993],"arguments":{ "b" : 2,"a":"\ufffd\u0041\/" },	"unknown":{"k":null}, "_meta":{"x":1}}`
	if a := p.waitForAnswer(p.start("tools/call", `{"name":"d__echo",`+params)); a !=
		`{"jsonrpc":"2.0","id":4,"result":{"content":[],"echo":{"name":"echo",`+params+`}}` {
		t.Errorf("%s", a)
	}
	// A CR in the client's message becomes white space.
	p.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"d__echo",` + "\r" +
		`"x":{"jsonrpc":"2.0","id":9,"method":"ping"}` + "\r" + `}}`)
	if a := p.waitForAnswer("5"); !strings.Contains(a,
		`{"name":"echo", "x":{"jsonrpc":"2.0","id":9,"method":"ping"} }`) {
		t.Errorf("%q", a)
	}
	p.expectEcho("d")
}
