package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
)

// TestModernHeaders checks the headers for a modern server.
func TestModernHeaders(t *testing.T) {
	t.Parallel()
	s := answering(t, nil)
	c := connect(t, s.url, `"headers":{"authorization":"Bearer x","X-Mine":"y"}`)
	for i, r := range []struct{ method, params, name string }{
		{"server/discover", ``, ""},
		{"tools/call", `"name":"plain"`, "plain"},
		{"tools/call", `"name":"größe"`, "=?base64?Z3LDtsOfZQ==?="},
		{"tools/call", `"name":" spaced"`, "=?base64?IHNwYWNlZA==?="},
		{"tools/call", `"name":"=?base64?eA==?="`, "=?base64?PT9iYXNlNjQ/ZUE9PT89?="},
		{"tools/call", `"name":"a\r\nX-Evil: 1"`, "=?base64?YQ0KWC1FdmlsOiAx?="},
		{"prompts/get", `"name":"p"`, "p"},
		{"resources/read", `"uri":"file:///a b"`, "file:///a b"},
		{"resources/list", `"name":"ignored"`, ""},
	} {
		c.send(modern(i, r.method, r.params))
		c.want(result(i))
		all := s.requests()
		h := all[len(all)-1].Header
		if h.Get("Mcp-Protocol-Version") != "2026-07-28" || h.Get("Mcp-Method") != r.method ||
			h.Get("Mcp-Name") != r.name ||
			h.Get("Mcp-Session-Id") != "" || h.Get("X-Evil") != "" {
			t.Errorf("%s %s has the headers %v", r.method, r.params, h)
		}
		if h.Get("Authorization") != "Bearer x" || h.Get("X-Mine") != "y" ||
			h.Get("Content-Type") != "application/json" {
			t.Errorf("the headers are %v", h)
		}
	}
}

// TestTrace checks that a valid traceparent of a message becomes a header.
// TRN-24
func TestTrace(t *testing.T) {
	t.Parallel()
	s := answering(t, nil)
	c := connect(t, s.url)
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for i, trace := range []string{parent, "00-short-01", strings.ToUpper(parent), "ff" + parent[2:], parent + "\n"} {
		c.send(strings.Replace(modern(i, "tools/list", ""), `"_meta":{`,
			`"_meta":{"traceparent":"`+strings.ReplaceAll(trace, "\n", `\n`)+`","tracestate":"a=b","baggage":"secret",`,
			1))
		c.want(result(i))
		all := s.requests()
		h := all[len(all)-1].Header
		if got, want := h.Get("Traceparent"), parent; i == 0 && (got != want || h.Get("Tracestate") != "a=b") ||
			i > 0 && got != "" {
			t.Errorf("%q arrives as %q", trace, got)
		}
		if h.Get("Baggage") != "" {
			t.Error("baggage was passed on")
		}
	}
}

const toolsWithParams = `{"tools":[{"name":"q","inputSchema":{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},
	"on":{"type":"boolean","x-mcp-header":"On"},"bad":{"type":"string","x-mcp-header":"a b"},
	"deep":{"type":"object","properties":{"er":{"type":"string","x-mcp-header":"Er"}}},
	"list":{"type":"array","items":{"type":"string","x-mcp-header":"Item"}}}}}]}`

// TestParams checks that arguments with x-mcp-header in the tool's schema are
// repeated in headers. It also covers tools listed by an earlier connection and
// tools that must be listed first.
func TestParams(t *testing.T) {
	t.Parallel()
	var refusals atomic.Int32
	s := answering(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		switch {
		case strings.Contains(body, "tools/list"):
			asJSON(w,
				strings.ReplaceAll(`{"jsonrpc":"2.0","id":`+idOf(body)+`,"result":`+toolsWithParams+`}`, "\n", " "))
		case strings.Contains(body, "tools/call") && r.Header.Get("Mcp-Param-Region") == "":
			refusals.Add(1)
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"header missing"}}`))
		default:
			return false
		}
		return true
	})
	const arguments = `"name":"q","arguments":{"region":"Zürich","n":42,"on":false,"bad":"x","deep":{"er":"in"},"list":["x"],"more":null}`
	c := connect(t, s.url)
	for i := range 2 { // the first call has no listed tools
		c.send(modern(i, "tools/call", arguments))
		c.want(result(i))
	}
	if refusals.Load() != 1 {
		t.Errorf("%d calls were rejected", refusals.Load())
	}
	all := s.requests()
	h := all[len(all)-1].Header
	want := map[string]string{"Region": "=?base64?WsO8cmljaA==?=", "N": "42", "On": "false", "Er": "in", "Item": ""}
	for name, value := range want {
		if got := h.Get("Mcp-Param-" + name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
	for name := range h {
		if short, ok := strings.CutPrefix(name, "Mcp-Param-"); ok && want[short] == "" {
			t.Errorf("there is a header %s", name)
		}
	}
}

// TestParamsAreKept checks that the cache file serves the next start, and that
// invalid files are ignored.
func TestParamsAreKept(t *testing.T) {
	dir := t.TempDir()
	p := newParams(dir, "https://x/")
	p.learn([]byte(`{"result":`+toolsWithParams+`}`), true)
	if next := newParams(dir, "https://x/"); len(headersOf(next)) != 4 {
		t.Errorf("the next start has the headers %v", headersOf(next))
	}
	if other := newParams(dir, "https://y/"); len(headersOf(other)) != 0 {
		t.Errorf("another server has the headers %v", headersOf(other))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for _, broken := range []string{``, `{`, `[]`, `null`, `{"q":[{}]}`,
		`{"q":[{"path":["region"],"header":"A\r\nB"}]}`} {
		if err := os.WriteFile(files[0], []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		next := newParams(dir, "https://x/")
		if len(headersOf(next)) != 0 {
			t.Errorf("the file %s gives the headers %v", broken, headersOf(next))
		}
		next.learn([]byte(`{"result":`+toolsWithParams+`}`), false)
	}
	p.learn([]byte(`{"error":{"code":-32603,"message":"not now"}}`), true)
	if len(headersOf(p)) != 4 {
		t.Errorf("after an error the headers are %v", headersOf(p))
	}
	p.learn([]byte(`{"result":{"tools":[]}}`), true)
	if next := newParams(dir, "https://x/"); len(headersOf(next)) != 0 {
		t.Errorf("removed tools still have the headers %v", headersOf(next))
	}
}

// TestParamsAreBounded checks the limits of the bindings kept for a server.
func TestParamsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector, and uses one goroutine only")
	}
	dir := t.TempDir()
	p := newParams(dir, "https://x/")
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, `,"%d%s":{"x-mcp-header":"H%d"}`, i, strings.Repeat("n", 900), i)
	}
	for tool := range 100 {
		p.learn(fmt.Appendf(nil, `{"result":{"tools":[{"name":"t%d","inputSchema":{"properties":{%s}}}]}}`, tool,
			b.String()[1:]), tool == 0)
	}
	held := 0
	for _, bindings := range p.tools {
		held += len(bindings)
	}
	if held > maxParams || held != p.held || held < maxParams/2 {
		t.Errorf("%d bindings, %d counted", held, p.held)
	}
	next := newParams(dir, "https://x/")
	if next.load(); next.held != held {
		t.Errorf("the next start has %d of %d bindings", next.held, held)
	}
	huge := strings.Repeat("n", 2*maxNames)
	p.learn(fmt.Appendf(nil, `{"result":{"tools":[{"name":"t","inputSchema":{"properties":{"%s":{"x-mcp-header":"H"}}}},{"name":"%s","inputSchema":{"properties":{"a":{"x-mcp-header":"H"}}}}]}}`,
		huge, huge), true)
	if len(p.tools) != 0 {
		t.Errorf("%d tools with names that are too long are kept", len(p.tools))
	}
}

func headersOf(p *params) http.Header {
	h := http.Header{}
	e := jsonrpc.Open([]byte(modern(1, "tools/call",
		`"name":"q","arguments":{"region":"a","n":1,"on":true,"deep":{"er":"b"}}`)))
	p.set(h, &e)
	return h
}
