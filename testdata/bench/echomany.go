package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// manyTools are an echo server's tools whose number is given. Besides the usual
// ones there are ask, which asks the user, and change, which changes the list.
type manyTools struct {
	mu      sync.Mutex // guards the fields below
	list    []byte     // JSON array
	changes int
	asked   map[string]*question // calls that wait for the client's answer, by its id
}

// manyLeast is the least number of tools.
const manyLeast = toolsEach + 2

func newManyTools(n int) *manyTools {
	var list bytes.Buffer
	list.WriteString(echoTools[:len(echoTools)-1])
	list.WriteString(`,{"name":"ask","description":"Ask the user for a word.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}}` +
		`,{"name":"change","description":"Change the list so many times a second, for so many milliseconds. Changed 0 times.",` +
		`"inputSchema":{"type":"object","properties":{"rate":{"type":"integer"},"ms":{"type":"integer"}},"additionalProperties":false}}`)
	for i := range n - manyLeast {
		fmt.Fprintf(&list,
			`,{"name":"tool_%d","description":"Tool number %d of many, with an ordinary description and schema.",`+
				`"inputSchema":{"type":"object","properties":{"text":{"type":"string","description":"The text."},"limit":{"type":"integer"}},"required":["text"]}}`,
			i, i)
	}
	list.WriteString("]")
	return &manyTools{list: list.Bytes(), asked: map[string]*question{}}
}

// answer answers what the usual echo server does not. It reports whether it did.
func (m *manyTools) answer(s *echoServer, q *question) bool {
	if q.Method == "initialize" {
		s.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"echo","version":"1"}}}`,
			q.ID, legacyVersion), true)
		return true
	}
	if q.Method == "tools/list" {
		m.mu.Lock()
		list := m.list
		m.mu.Unlock()
		s.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`, q.ID, list), true)
		return true
	}
	if q.Method == "" { // the client's answer
		m.mu.Lock()
		asked := m.asked[string(q.ID)]
		delete(m.asked, string(q.ID))
		m.mu.Unlock()
		if asked != nil {
			s.write(answerTo(asked), true)
		}
		return true
	}
	switch q.Params.Name {
	case "ask":
		m.ask(s, q)
		return true
	case "change":
		go m.change(s, q)
		return true
	}
	return false
}

func (m *manyTools) ask(s *echoServer, q *question) {
	id := fmt.Sprintf(`"ask-%s"`, bytes.Trim(q.ID, `"`))
	m.mu.Lock()
	m.asked[id] = q
	m.mu.Unlock()
	s.write(fmt.Appendf(
		nil, `{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"message":"Which word?",`+
			`"requestedSchema":{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}}}`, id,
	), true)
}

// change changes the description of a tool at a rate, then answers.
func (m *manyTools) change(s *echoServer, q *question) {
	end := time.Now().Add(q.pause())
	if rate := q.Params.Arguments.Rate; rate > 0 {
		every := time.NewTicker(time.Second / time.Duration(rate))
		defer every.Stop()
		for now := range every.C {
			if now.After(end) {
				break
			}
			m.changeOnce()
			s.write([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`), true)
		}
	}
	time.Sleep(time.Until(end))
	m.mu.Lock()
	text, err := json.Marshal(strconv.Itoa(m.changes))
	m.mu.Unlock()
	if err == nil {
		q.Params.Arguments.Text = text
		s.write(answerTo(q), true)
	}
}

func (m *manyTools) changeOnce() {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := fmt.Appendf(nil, "Changed %d times.", m.changes)
	m.changes++
	m.list = bytes.Replace(m.list, before, fmt.Appendf(nil, "Changed %d times.", m.changes), 1)
}
