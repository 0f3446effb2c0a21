package listen

import (
	"strings"
	"testing"
)

// A wire is a client of one era, that sends params as they are.
type wire struct {
	*visitor
	modern bool
}

// call calls a tool with params that lack the name of it, and returns the answer
// without its frame.
func (w wire) call(tool, params string) string {
	w.t.Helper()
	message := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `",` + params + `}}`
	header := []string{}
	if w.modern {
		header = []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}
	}
	_, answer, _, err := w.post(message, header...)
	if err != nil {
		w.t.Fatal(err)
	}
	answer, ok := strings.CutPrefix(answer, `{"jsonrpc":"2.0","id":7,`)
	if !ok {
		w.t.Errorf("the answer begins with %.60q", answer)
	}
	return strings.TrimSuffix(answer, "}")
}

// TestFidelityOverHTTP: through the real programs, the bytes of params, of
// results and of errors are the ones that were sent. Where a client and a server
// are of different eras, just what one of the two does not have is another.
func TestFidelityOverHTTP(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many programs")
	}
	modes := []string{"odd", "odd-error", "hidden", "ok", "modern-odd", "modern-odd-error", "modern-hidden", "modern-ok"}
	at := openSite(t, t.TempDir(), blocks(t, "", modes...), "127.0.0.1:0")
	const (
		rpcError = `"error":{ "data":{"elicitations":[{"url":"https://x","n":9007199254740993}]},"message":"URL needed\/","code":-32042,"more":[] }`
		// JSON that says the same in fewer bytes, or that a typed relay would lose.
		rest = `"z":[1.50, 1e400,9007199254740993],"arguments":{ "b" : 2,"a":"\ud83d\u0041\/" },	"unknown":{"k":null}, "_meta":{"x":1`
		// What each request of a modern client says about it.
		about   = `,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{}`
		junctor = `,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"junctor","version":"VERSION"},"io.modelcontextprotocol/clientCapabilities":{}`
		done    = `"resultType":"complete"`
	)
	whole := func(result string) string { return "{" + done + "," + result[1:] }                 // as a modern server says it
	completed := func(result string) string { return result[:len(result)-1] + "," + done + "}" } // as Junctor says it for an old one
	plain := `{"jsonrpc":"2.0","id":1,"method":"ping"}`

	for name, w := range map[string]wire{"legacy": {at.visit(t).greet(), false}, "modern": {at.visit(t), true}} {
		t.Run(name, func(t *testing.T) {
			w.t = t
			params := rest + "}"
			said := params // what a server of the same era is sent
			if w.modern {
				params = rest + about + "}"
				said = params
			}
			for _, test := range []struct {
				modern       bool // the server
				odd, failing string
				hidden, ok   string
			}{
				{false, "a__bad", "b__bad", "c__bad", "d__echo"},
				{true, "e__bad", "f__bad", "g__bad", "h__echo"},
			} {
				result, empty := odd(t), func(s string) string { return s }
				sent := said
				switch {
				case test.modern && w.modern:
					empty = whole
				case w.modern:
					empty, sent = completed, rest+"}"
				case test.modern:
					sent = rest + junctor + "}"
				}
				if got, want := w.call(test.odd, params), `"result":`+empty(result); got != want {
					t.Errorf("server modern %t: %s\nwant %s", test.modern, got, want)
				}
				if got := w.call(test.failing, params); got != rpcError {
					t.Errorf("server modern %t: %s\nwant %s", test.modern, got, rpcError)
				}
				_ = plain
				if got, want := w.call(test.ok, params), `"result":`+empty(`{"content":[],"echo":{"name":"echo",`+sent+`}}`); got != want {
					t.Errorf("server modern %t: %s\nwant %s", test.modern, got, want)
				}
			}
		})
	}
}
