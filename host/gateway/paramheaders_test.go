package gateway

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// TestHeaders: what a header says of an argument has to be what the argument is;
// else the server is not called.
func TestHeaders(t *testing.T) {
	const tool = `{"name":"t","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"Count"}}},"flag":{"type":["boolean","null"],"x-mcp-header":"flag"}}}}`
	for name, c := range map[string]struct {
		args   string
		header string
		wrong  string
	}{
		"none": {args: `{}`},
		"all": {args: `{"region":"eu","deep":{"n":42},"flag":true}`,
			header: "Mcp-Param-Region: eu\nMcp-Param-Count: 42\nMcp-Param-Flag: true"},
		"as numbers":        {args: `{"deep":{"n":42}}`, header: "Mcp-Param-Count: 42.0"},
		"encoded":           {args: `{"region":"Grüße "}`, header: "Mcp-Param-Region: =?base64?R3LDvMOfZSA=?="},
		"encoded in vain":   {args: `{"region":"eu"}`, header: "Mcp-Param-Region: =?base64?ZXU=?="},
		"null":              {args: `{"flag":null}`},
		"foreign":           {args: `{}`, header: "Mcp-Param-Other: x"},
		"without its value": {args: `{}`, header: "Mcp-Param-Region: eu", wrong: "is not there"},
		"null with it":      {args: `{"flag":null}`, header: "Mcp-Param-Flag: null", wrong: "is not there"},
		"left out":          {args: `{"region":"eu"}`, wrong: "is missing"},
		"deep left out":     {args: `{"deep":{"n":1}}`, wrong: "is missing"},
		"another": {args: `{"region":"eu"}`, header: "Mcp-Param-Region: us",
			wrong: "differs from the argument"},
		"another case": {args: `{"region":"eu"}`, header: "Mcp-Param-Region: EU", wrong: "differs from the argument"},
		"another number": {args: `{"deep":{"n":42}}`, header: "Mcp-Param-Count: 42.5",
			wrong: "differs from the argument"},
		"a huge exponent": {args: `{"deep":{"n":42}}`, header: "Mcp-Param-Count: 1e999999999",
			wrong: "differs from the argument"},
		"a text as number": {args: `{"region":"42"}`, header: "Mcp-Param-Region: 42.0",
			wrong: "differs from the argument"},
		"twice": {args: `{"region":"eu"}`, header: "Mcp-Param-Region: eu\nMcp-Param-Region: eu", wrong: "twice"},
		"not base64": {args: `{"region":"eu"}`, header: "Mcp-Param-Region: =?base64?ZX!?=",
			wrong: "not validly encoded"},
		"not ASCII": {args: `{"region":"ü"}`, header: "Mcp-Param-Region: ü", wrong: "not validly encoded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := simple("a")
				f.Set(mcp.MethodListTools, tool)
				d := newFixture(f)
				defer d.end()
				d.warm(t)
				header := map[string][]string{}
				for line := range strings.SplitSeq(c.header, "\n") {
					if name, value, ok := strings.Cut(line, ": "); ok {
						header[name] = append(header[name], value)
					}
				}
				m, err := mcp.Parse([]byte(expand(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__t","arguments":%s,"_meta":{$M}}}`,
					c.args))))
				if err != nil {
					t.Fatal(err)
				}
				who := authn.Local()
				got := d.Answer(t.Context(), m, Exchange{Header: header, Principal: &who})
				text := string(got.Message.Head) // a server that was called does not answer here
				if c.wrong == "" && got.Code == mcp.CodeHeaderMismatch || c.wrong != "" &&
					(got.Code != mcp.CodeHeaderMismatch || !got.Refused || !strings.Contains(text, c.wrong)) {
					t.Errorf("code %d: %s", got.Code, text)
				}
				if called := len(f.got) > 0; called != (c.wrong == "") {
					t.Errorf("the server was called: %v", called)
				}
			})
		})
	}
}
