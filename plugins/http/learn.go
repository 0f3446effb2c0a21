package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
	"github.com/junctor-mcp/junctor/plugins/internal/sse"
)

const (
	headerMismatch = -32020 // the error code of a header that is missing or differs
	pagesMost      = 64
)

// mustLearn reports whether a call was refused, before it began, for headers
// that only the list of tools tells of.
func (k *call) mustLearn(answer []byte) bool {
	if answer == nil || k.Method != jsonrpc.CallTool || k.Version() == "" || k.learned {
		return false
	}
	var code int
	return json.Unmarshal(jsonrpc.Member(jsonrpc.Member(answer, "error"), "code"), &code) == nil && code == headerMismatch
}

// learn lists the tools and sends the call again.
func (k *call) learn() *failure {
	k.learned = true
	meta := jsonrpc.Member(k.Params, "_meta")
	cursor := []byte(nil)
	for page := range pagesMost {
		e := jsonrpc.Open(listRequest(page, meta, cursor))
		res, _, err := k.conn.client.Do(k.ctx, httpclient.Request{Method: "POST", Header: k.conn.header(&e), Body: e.Raw})
		if err != nil {
			return &failure{err: asError(err)}
		}
		if res.StatusCode != http.StatusOK {
			refusal, _ := httpclient.Refusal(res)
			return &failure{err: refusal, status: res.StatusCode}
		}
		msg, f := k.conn.answerTo(res, e.ID)
		if f != nil {
			return f
		}
		k.conn.params.learn(msg, page == 0)
		if cursor = jsonrpc.Member(jsonrpc.Member(msg, "result"), "nextCursor"); cursor == nil || string(cursor) == "null" {
			break
		}
	}
	return k.post()
}

func listRequest(page int, meta, cursor []byte) []byte {
	params := map[string]json.RawMessage{"_meta": meta}
	if cursor != nil {
		params["cursor"] = cursor
	}
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": fmt.Sprintf("junctor-http-%d", page), "method": jsonrpc.ListTools, "params": params,
	})
	if err != nil {
		panic(err) // the parts are valid JSON
	}
	return text
}

// answerTo reads the answer to a request of the plugin's own.
func (c *conn) answerTo(res *http.Response, id []byte) ([]byte, *failure) {
	defer res.Body.Close()
	if httpclient.ContentType(res.Header) != "text/event-stream" {
		return c.body(res)
	}
	for r := sse.NewReader(res.Body, c.limit); ; {
		ev, err := r.Next()
		if err != nil {
			return nil, ended(err)
		}
		if kind, _ := jsonrpc.Glance(ev.Data); kind == jsonrpc.Response && jsonrpc.Answers(ev.Data, id) {
			return ev.Data, nil
		}
	}
}
