package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync/atomic"
)

// An endpoint is an MCP server over HTTP. A legacy endpoint has a session, a
// modern one has its metadata in each request.
type endpoint struct {
	address string
	token   string // empty: none
	modern  bool
	session string       // session id of the server; empty: none
	ids     atomic.Int64 // last request id
}

const (
	legacyVersion = "2025-11-25"
	modernVersion = "2026-07-28"
	clientInfo    = `{"name":"bench","version":"1"}`
	modernMeta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modernVersion +
		`","io.modelcontextprotocol/clientInfo":` + clientInfo +
		`,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
)

// A request is rendered once and sent many times with different ids.
type request struct {
	head []byte // of HTTP, before the length of the body
	rest []byte // of the body, after the id
	want []byte // text of the result as JSON; nil: any
}

// request renders a request. params are the members of an object without
// braces. name is the value of the Mcp-Name header of a modern client.
func (e *endpoint) request(method, name, params string) *request {
	head := fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n",
		e.address)
	if e.token != "" {
		head = fmt.Appendf(head, "Authorization: Bearer %s\r\n", e.token)
	}
	switch {
	case e.modern:
		head = fmt.Appendf(head, "Mcp-Protocol-Version: %s\r\nMcp-Method: %s\r\n", modernVersion, method)
		if name != "" {
			head = fmt.Appendf(head, "Mcp-Name: %s\r\n", name)
		}
		if params != "" {
			params += ","
		}
		params += modernMeta
	case method != "initialize":
		head = fmt.Appendf(head, "Mcp-Protocol-Version: %s\r\n", legacyVersion)
		if e.session != "" {
			head = fmt.Appendf(head, "Mcp-Session-Id: %s\r\n", e.session)
		}
	}
	return &request{head: head, rest: fmt.Appendf(nil, `,"method":%q,"params":{%s}}`, method, params)}
}

func (e *endpoint) call(tool, arguments string) *request {
	return e.request("tools/call", tool, fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments))
}

// echo requests size bytes. A short text is sent, of a long one only the size,
// because large results are the subject.
func (e *endpoint) echo(tool string, size int) *request {
	text := textOf(size)
	arguments := fmt.Sprintf(`{"bytes":%d}`, size)
	if size < 1<<10 {
		arguments = fmt.Sprintf(`{"text":%s}`, text)
	}
	r := e.call(tool, arguments)
	r.want = text
	return r
}

// stateless returns a modern endpoint at the same address.
func (e *endpoint) stateless() *endpoint {
	return &endpoint{address: e.address, token: e.token, modern: true}
}

// another returns an endpoint at the same address, without a session.
func (e *endpoint) another() *endpoint { return &endpoint{address: e.address, token: e.token} }

// open initializes a session, if the endpoint is legacy.
func (e *endpoint) open() error {
	if e.modern {
		return nil
	}
	l, err := e.lane()
	if err != nil {
		return err
	}
	defer l.close()
	return e.openOn(l)
}

// openOn is open on a lane, which may be that of another endpoint at the same
// address.
func (e *endpoint) openOn(l *lane) error {
	e.session = ""
	hello := e.request("initialize", "",
		fmt.Sprintf(`"protocolVersion":%q,"capabilities":{},"clientInfo":%s`, legacyVersion, clientInfo))
	if _, err := l.do(hello); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	e.session = l.session
	ready := e.request("notifications/initialized", "", "")
	return l.notify(ready.head, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
}

// list returns the names of all tools, from as many pages as there are.
func (e *endpoint) list() (names []string, err error) {
	l, err := e.lane()
	if err != nil {
		return nil, err
	}
	defer l.close()
	for params := ""; ; {
		if _, err := l.do(e.request("tools/list", "", params)); err != nil {
			return nil, fmt.Errorf("tools/list: %w", err)
		}
		var m struct {
			Result struct {
				Tools []struct {
					Name string `json:"name"`
				} `json:"tools"`
				Next string `json:"nextCursor"`
			} `json:"result"`
		}
		if err := json.Unmarshal(l.answer, &m); err != nil {
			return nil, err
		}
		for _, t := range m.Result.Tools {
			names = append(names, t.Name)
		}
		if m.Result.Next == "" {
			return names, nil
		}
		params = fmt.Sprintf(`"cursor":%q`, m.Result.Next)
	}
}

// once makes one call on a new connection.
func (e *endpoint) once(r *request) error {
	l, err := e.lane()
	if err != nil {
		return err
	}
	defer l.close()
	_, err = l.do(r)
	return err
}

// check returns an error for a wrong answer.
func (r *request) check(answer []byte, id int64) error {
	first, last := answer[:min(len(answer), 200)], answer[max(0, len(answer)-200):]
	switch {
	case !answers(answer, id):
		return fmt.Errorf("not the answer to %d: %.200q", id, answer)
	case bytes.Contains(first, []byte(`"error":`)), bytes.Contains(first, []byte(`"isError":true`)),
		bytes.Contains(last, []byte(`"isError":true`)):
		return fmt.Errorf("an error: %.300q", answer)
	case r.want == nil:
		return nil
	}
	_, text, found := bytes.Cut(answer, []byte(`"text":`))
	if !found || !bytes.HasPrefix(text, r.want) {
		return fmt.Errorf("not the requested text: %.200q", answer)
	}
	return nil
}

// answers reports whether a message is the answer to a request. Its id is near
// the beginning or the end, depending on the server.
func answers(message []byte, id int64) bool {
	member := fmt.Appendf(nil, `"id":%d`, id)
	for _, part := range [][]byte{message[:min(len(message), 64)], message[max(0, len(message)-64):]} {
		if _, rest, found := bytes.Cut(part, member); found && len(rest) > 0 && (rest[0] == ',' || rest[0] == '}') {
			return true
		}
	}
	return false
}
