package httpserver

import (
	"regexp"
	"strings"
	"testing"
)

// The bytes that TestFidelityOverHTTP sends and expects.
const (
	// JSON that could be written in fewer bytes, or that a typed relay would
	// lose. It ends within _meta.
	oddParams = `"z":[1.50, 1e300,9007199254740993],"arguments":{ "b" : 2,"a":"\ufffd\u0041\/" },	"unknown":{"k":null}, "_meta":{"x":1`
	oddError  = `{ "data":{"elicitations":[{"url":"https://x","n":9007199254740993}]},"message":"URL needed\/","code":-32042,"more":[] }`
	oddPing   = `{"jsonrpc":"2.0","id":1,"method":"ping","content":[]}`

	// The _meta of a modern client, and the one that Junctor adds for a legacy
	// client.
	saysClient  = `,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1.0"},"io.modelcontextprotocol/clientCapabilities":{}`
	saysJunctor = `,"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"junctor","version":"…"}`
)

// junctorVersion matches the version, which differs between releases.
var junctorVersion = regexp.MustCompile(`("name":"junctor","version":")[^"]*`)

// A fidelityCase is what a client of one era gets from a server of one era.
type fidelityCase struct {
	name    string
	modern  bool   // era of the client
	servers string // letters of the servers with odd, failing, hidden and echoed messages
	params  string // sent by the client
	relayed string // received by the server
	// result returns what the client gets of a result without the additions of
	// a modern server.
	result func(string) string
	hidden string // result that contains a hidden message
	fault  string
}

// asModern returns a result as a modern server sends it, and Junctor for a
// legacy server.
func asModern(result string) string { return `{"resultType":"complete",` + result[1:] }

// asShortened returns a result without that member and the white space after
// it, for a legacy client.
func asShortened(result string) string { return "{" + strings.TrimLeft(result[1:], " ") }

// asSent returns a result unchanged.
func asSent(result string) string { return result }

// TestFidelityOverHTTP checks with the real programs that the bytes of params,
// results and errors are relayed unchanged. Between two eras only the members
// differ that one of them lacks.
func TestFidelityOverHTTP(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many programs")
	}
	const (
		old, new = "abcd", "efgh"
		asked    = oddParams + saysClient + "}"
		// A modern client gets the URLs in the form of its era.
		lacks = `{"code":-32021,"message":"URL needed/","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}`
	)
	at := startHTTP(t, t.TempDir(), serverBlocks(t, "", "odd", "odd-error", "hidden", "ok", "modern-odd",
		"modern-odd-error", "modern-hidden", "modern-ok"), "127.0.0.1:0")
	for _, f := range []fidelityCase{
		{"legacy to legacy", false, old, oddParams + "}", oddParams + "}", asSent, oddPing, oddError},
		{"legacy to modern",
			false, new, oddParams + "}", oddParams + saysJunctor + "}", asShortened, oddPing, oddError},
		{"modern to modern", true, new, asked, asked, asModern, oddPing, oddError},
		{"modern to legacy", true, old, asked, oddParams + "}", asModern, asModern(oddPing), lacks},
	} {
		t.Run(f.name, func(t *testing.T) {
			v := at.newClient(t)
			if !f.modern {
				v.initialize()
			}
			for i, want := range []string{
				`"result":` + f.result(oddResult(t)), `"error":` + f.fault, `"result":` + f.hidden,
				`"result":` + f.result(`{"content":[],"echo":{"name":"echo",`+f.relayed+`}}`),
			} {
				tool := f.servers[i:i+1] + "__bad"
				if i == 3 {
					tool = f.servers[i:] + "__echo"
				}
				for _, accept := range []string{"application/json", "text/event-stream"} {
					if got := v.postRaw(tool, f.params, accept, f.modern); got != `{"jsonrpc":"2.0","id":7,`+want+`}` {
						t.Errorf("%s as %s: %s\nwant …%s", tool, accept, got, want)
					}
				}
			}
		})
	}
}

// postRaw calls a tool with literal params, to which it adds the name.
func (v *testClient) postRaw(tool, params, accept string, modern bool) string {
	v.t.Helper()
	header := []string{"Accept", accept}
	if modern {
		header = append(header, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
	}
	_, answer, _, err := v.post(
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"`+tool+`",`+params+`}}`,
		header...,
	)
	if err != nil {
		v.t.Fatal(err)
	}
	return junctorVersion.ReplaceAllString(answer, "$1…")
}
