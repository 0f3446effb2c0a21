package httpserver

import (
	"regexp"
	"strings"
	"testing"
)

// The bytes that TestFidelityOverHTTP sends and wants to get.
const (
	// JSON that says the same in fewer bytes, or that a typed relay would lose;
	// it ends in the middle of _meta.
	oddParams = `"z":[1.50, 1e400,9007199254740993],"arguments":{ "b" : 2,"a":"\ud83d\u0041\/" },	"unknown":{"k":null}, "_meta":{"x":1`
	oddError  = `{ "data":{"elicitations":[{"url":"https://x","n":9007199254740993}]},"message":"URL needed\/","code":-32042,"more":[] }`
	oddPing   = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

	// What each modern request says of who asks: a client, and Junctor for one
	// that is not modern.
	saysClient  = `,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{}`
	saysJunctor = `,"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"junctor","version":"…"}`
)

// junctorVersion is what differs from release to release.
var junctorVersion = regexp.MustCompile(`("name":"junctor","version":")[^"]*`)

// A faithful is what a client of one era gets from a server of one era.
type faithful struct {
	name    string
	modern  bool   // the client
	servers string // letters of those that are odd, fail, hide something, and echo
	params  string // that the client sends
	relayed string // that the server gets
	// result is what the client gets of a result that is written down without
	// what a modern server adds.
	result func(string) string
	hidden string // the result that hides a message
	fault  string
}

// asModern is a result as a modern server says it, and Junctor for a server that
// is not; asSent as it was.
func asModern(result string) string { return `{"resultType":"complete",` + result[1:] }

// asShortened is what is left of it for a client that does not know the member,
// with which the white space behind it goes.
func asShortened(result string) string { return "{" + strings.TrimLeft(result[1:], " ") }
func asSent(result string) string      { return result }

// TestFidelityOverHTTP: through the real programs, the bytes of params, of
// results and of errors are the ones that were sent. Where a client and a server
// are of different eras, just what one of the two does not have is another.
func TestFidelityOverHTTP(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many programs")
	}
	const (
		old, new = "abcd", "efgh"
		asked    = oddParams + saysClient + "}"
		// A modern client learns what it would need to be asked, as its era has it.
		lacks = `{"code":-32021,"message":"URL needed/","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}`
	)
	at := openSite(t, t.TempDir(), blocks(t, "", "odd", "odd-error", "hidden", "ok", "modern-odd", "modern-odd-error", "modern-hidden", "modern-ok"), "127.0.0.1:0")
	for _, f := range []faithful{
		{"legacy to legacy", false, old, oddParams + "}", oddParams + "}", asSent, oddPing, oddError},
		{"legacy to modern", false, new, oddParams + "}", oddParams + saysJunctor + "}", asShortened, oddPing, oddError},
		{"modern to modern", true, new, asked, asked, asModern, oddPing, oddError},
		{"modern to legacy", true, old, asked, oddParams + "}", asModern, asModern(oddPing), lacks},
	} {
		t.Run(f.name, func(t *testing.T) {
			v := at.visit(t)
			if !f.modern {
				v.greet()
			}
			for i, want := range []string{
				`"result":` + f.result(odd(t)), `"error":` + f.fault, `"result":` + f.hidden,
				`"result":` + f.result(`{"content":[],"echo":{"name":"echo",`+f.relayed+`}}`),
			} {
				tool := f.servers[i:i+1] + "__bad"
				if i == 3 {
					tool = f.servers[i:] + "__echo"
				}
				for _, accept := range []string{"application/json", "text/event-stream"} {
					if got := v.raw(tool, f.params, accept, f.modern); got != `{"jsonrpc":"2.0","id":7,`+want+`}` {
						t.Errorf("%s as %s: %s\nwant …%s", tool, accept, got, want)
					}
				}
			}
		})
	}
}

// raw calls a tool with params that stand for themselves, but for its name.
func (v *visitor) raw(tool, params, accept string, modern bool) string {
	v.t.Helper()
	header := []string{"Accept", accept}
	if modern {
		header = append(header, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
	}
	_, answer, _, err := v.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"`+tool+`",`+params+`}}`, header...)
	if err != nil {
		v.t.Fatal(err)
	}
	return junctorVersion.ReplaceAllString(answer, "$1…")
}
