package gateway

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// TestModernMembers: a modern client never sees what a legacy server writes in the place
// of members that only modern servers have, however they are spelled.
func TestModernMembers(t *testing.T) {
	for _, c := range []struct{ method, result, want string }{
		{mcp.MethodCallTool, `{}`, `{"resultType":"complete"}`},
		{mcp.MethodCallTool, `{ }`, `{"resultType":"complete" }`},
		{mcp.MethodCallTool, `{"content":[]}`, `{"resultType":"complete","content":[]}`},
		{mcp.MethodCallTool, `{"text":"resultType"}`, `{"resultType":"complete","text":"resultType"}`},
		{mcp.MethodCallTool, `{"text":"\u0041"}`, `{"resultType":"complete","text":"\u0041"}`},
		{mcp.MethodCallTool, `{"a":{"resultType":"x"}}`, `{"resultType":"complete","a":{"resultType":"x"}}`},
		{mcp.MethodCallTool, `{"a":1,"resultType":"input_required"}`, `{"a":1,"resultType":"complete"}`},
		{mcp.MethodCallTool, `{"result\u0054ype":"input_required","a":1}`, `{"result\u0054ype":"complete","a":1}`},
		{mcp.MethodCallTool, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"resultType":"x"}`,
			`{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"resultType":"complete"}`},
		{mcp.MethodReadResource, `{"contents":[]}`,
			`{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]}`},
		{mcp.MethodReadResource, `{"cacheScope":"public"}`,
			`{"resultType":"complete","ttlMs":0,"cacheScope":"private"}`},
	} {
		answer, err := mcp.Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":` + c.result + `}`))
		if err != nil {
			t.Fatal(err)
		}
		leading, value := era.ToModern(c.method, answer.Result, answer.Names)
		m := resultAnswer(mcp.ID("1"), leading, value).Message
		if got := string(m.Head) + string(m.Body) + string(m.Tail); got != `{"jsonrpc":"2.0","id":1,"result":`+
			c.want+`}` {
			t.Errorf("%s: %s\nwant %s", c.result, got, c.want)
		}
	}
}
