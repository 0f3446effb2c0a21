package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// canned is an MCP server for scripts. A file has its answers by method, and for named items
// by method and name, as in "tools/call shot". An array is an error's code, message and
// data; null means that the request is never answered. "instructions" is a text. Other requests get an empty answer.
func canned() {
	text, err := os.ReadFile(os.Args[1])
	var answers map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &answers)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var r struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name, URI string }
		}
		if json.Unmarshal(in.Bytes(), &r) == nil && r.ID != nil {
			name := strings.TrimSpace(r.Method + " " + r.Params.Name + r.Params.URI)
			if string(answers[name]) == "null" {
				continue
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", r.ID, cannedAnswer(name, in.Text(), answers))
		}
	}
}

// cannedAnswer returns the member of the response with the answer. The tool "echo" returns
// its request.
func cannedAnswer(name, request string, answers map[string]json.RawMessage) string {
	answer, ok := answers[name]
	switch {
	case name == "initialize":
		instructions := ""
		if text, ok := answers["instructions"]; ok {
			instructions = `,"instructions":` + string(text)
		}
		return `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{"name":"canned","version":"1"}` +
			instructions + `}`
	case name == "tools/call echo" || name == "prompts/get echo":
		quoted, _ := json.Marshal(request)
		content := fmt.Sprintf(`{"type":"text","text":%s}`, quoted)
		return fmt.Sprintf(`"result":{"content":[%s],"messages":[{"role":"user","content":%s}]}`, content, content)
	case ok && answer[0] == '[':
		var parts []json.RawMessage
		_ = json.Unmarshal(answer, &parts)
		parts = append(parts, json.RawMessage("null"))
		return fmt.Sprintf(`"error":{"code":%s,"message":%s,"data":%s}`, parts[0], parts[1], parts[2])
	case ok:
		return `"result":` + string(slices.DeleteFunc(answer, func(c byte) bool { return c == '\n' }))
	case strings.HasSuffix(name, "/list"):
		list := strings.TrimSuffix(name, "/list")
		if list == "resources/templates" {
			list = "resourceTemplates"
		}
		return fmt.Sprintf(`"result":{%q:[]}`, list)
	}
	return `"error":{"code":-32601,"message":"no such method"}`
}
