package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
)

const (
	headerMismatch = -32020 // error code for a missing or different header
	maxPages       = 64
)

// mustLearn reports whether a tool call was rejected for missing headers that
// the tool's schema defines.
func (k *call) mustLearn(answer []byte) bool {
	if answer == nil || k.Method != jsonrpc.CallTool || k.Version() == "" || k.learned {
		return false
	}
	var code int
	return json.Unmarshal(jsonrpc.Member(jsonrpc.Member(answer, "error"), "code"), &code) == nil &&
		code == headerMismatch
}

// learn lists the tools, which reveals the required headers, and sends the call
// again.
func (k *call) learn() *failure {
	k.learned = true
	meta := jsonrpc.Member(k.Params, "_meta")
	cursor := []byte(nil)
	for page := range maxPages {
		e := jsonrpc.Open(listRequest(page, meta, cursor))
		res, _, err := k.conn.client.Do(k.ctx, k.conn.httpRequest(&e))
		if err != nil {
			return &failure{err: asError(err)}
		}
		if res.StatusCode != http.StatusOK {
			rejection, _ := httpclient.ErrorResponse(res)
			return &failure{err: rejection, status: res.StatusCode}
		}
		msg, f := k.conn.answerTo(res, func(msg []byte) bool { return isAnswer(msg, e.ID) })
		if f != nil {
			return f
		}
		k.conn.params.learn(msg, page == 0)
		if cursor = jsonrpc.Member(jsonrpc.Member(msg, "result"), "nextCursor"); cursor == nil ||
			string(cursor) == "null" {
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
