package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
)

// inquirer is an MCP server for scripts. Its first argument is the era. Its tool "ask" asks
// the user the questions in the file of its second argument, each
// {"method":…,"params":…}, and returns the answers.
func inquirer() {
	text, err := os.ReadFile(os.Args[2])
	var questions []json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &questions)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := &inquiry{modern: os.Args[1] == "modern", questions: questions, in: bufio.NewScanner(os.Stdin)}
	for s.in.Scan() {
		s.serve(s.in.Bytes())
	}
}

type inquiry struct {
	modern    bool
	questions []json.RawMessage
	in        *bufio.Scanner
}

type inquirerMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Params struct {
		Responses map[string]json.RawMessage `json:"inputResponses"`
		State     string                     `json:"requestState"`
	} `json:"params"`
}

func (s *inquiry) serve(line []byte) {
	var m inquirerMessage
	if json.Unmarshal(line, &m) != nil || m.ID == nil {
		return
	}
	result := ""
	switch {
	case m.Method == "initialize" && !s.modern:
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"inquirer","version":"1"}}`
	case m.Method == "server/discover" && s.modern:
		result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
	case m.Method == "tools/list":
		result = `{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}`
	case m.Method == "tools/call" && s.modern && m.Params.State == "":
		result = s.inputRequired()
	case m.Method == "tools/call":
		result = s.answers(m.Params.Responses)
	default:
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", m.ID)
		return
	}
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
}

// inputRequired returns a result that asks all questions at once.
func (s *inquiry) inputRequired() string {
	asked := map[string]json.RawMessage{}
	for i, q := range s.questions {
		asked[fmt.Sprintf("q%d", i)] = q
	}
	b, _ := json.Marshal(map[string]any{"resultType": "input_required", "inputRequests": asked, "requestState": "s"})
	return string(b)
}

// answers returns the result of the call: the answers in the order of the questions.
func (s *inquiry) answers(given map[string]json.RawMessage) string {
	var heard []any
	for _, key := range slices.Sorted(maps.Keys(given)) {
		heard = append(heard, given[key])
	}
	if !s.modern {
		heard = s.ask()
	}
	text, _ := json.Marshal(heard)
	b, _ := json.Marshal(map[string]any{"resultType": "complete",
		"content": []any{map[string]string{"type": "text", "text": string(text)}}})
	return string(b)
}

// ask asks one question after the other, like servers of the legacy era.
func (s *inquiry) ask() (heard []any) {
	for i, q := range s.questions {
		var parts struct{ Method, Params json.RawMessage }
		_ = json.Unmarshal(q, &parts)
		if parts.Params == nil {
			parts.Params = json.RawMessage("{}")
		}
		request, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": fmt.Sprintf("ask%d", i),
			"method": parts.Method, "params": parts.Params})
		fmt.Printf("%s\n", request)
		for s.in.Scan() {
			var m inquirerMessage
			if json.Unmarshal(s.in.Bytes(), &m) != nil || string(m.ID) != fmt.Sprintf(`"ask%d"`, i) {
				continue
			}
			if m.Error != nil {
				heard = append(heard, m.Error)
			} else {
				heard = append(heard, m.Result)
			}
			break
		}
	}
	return heard
}
