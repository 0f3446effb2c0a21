package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"sync"
	"time"
)

// The tools of the echo server. Their schemas are closed, so that a gateway
// that checks arguments has work to do.
const echoTools = `[{"name":"echo","description":"Answer with the text, or with as many bytes of another.",` +
	`"inputSchema":{"type":"object","properties":{"bytes":{"type":"integer","minimum":0},"text":{"type":"string"}},"additionalProperties":false}},` +
	`{"name":"sleep","description":"Answer after so many milliseconds; others are answered meanwhile.",` +
	`"inputSchema":{"type":"object","properties":{"ms":{"type":"integer","minimum":0}},"required":["ms"],"additionalProperties":false}},` +
	`{"name":"stall","description":"Read nothing and answer nothing for so many milliseconds.",` +
	`"inputSchema":{"type":"object","properties":{"ms":{"type":"integer","minimum":0}},"required":["ms"],"additionalProperties":false}}]`

// toolsEach is the number of tools of a server.
const toolsEach = 3

// A question is a message to the echo server.
type question struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string `json:"name"`
		Arguments struct {
			Bytes int             `json:"bytes"`
			Text  json.RawMessage `json:"text"`
			MS    int             `json:"ms"`
			Rate  int             `json:"rate"`
		} `json:"arguments"`
	} `json:"params"`
}

func (q *question) pause() time.Duration {
	return time.Duration(q.Params.Arguments.MS) * time.Millisecond
}

// answerTo returns the answer. It builds each message anew, as servers do, and
// does not wait.
func answerTo(q *question) []byte {
	var message []byte
	switch q.Method {
	case "initialize":
		return fmt.Appendf(message, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}}`,
			q.ID, legacyVersion)
	case "tools/list":
		return fmt.Appendf(message, `{"jsonrpc":"2.0","id":%s,"result":{"tools":%s}}`, q.ID, echoTools)
	case "tools/call":
		text := []byte(q.Params.Arguments.Text)
		if text == nil {
			text = textOf(q.Params.Arguments.Bytes)
		}
		message = make([]byte, 0, len(q.ID)+len(text)+128)
		message = fmt.Appendf(message, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":`, q.ID)
		return append(append(message, text...), `}]}}`...)
	}
	return fmt.Appendf(message, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, q.ID)
}

// echo runs the echo server on standard streams. It is written by hand, so that
// its own cost is negligible. An argument is its number of tools; with it, the
// server also has the tools of manyTools.
func echo(arguments []string) {
	s := &echoServer{out: bufio.NewWriterSize(os.Stdout, 64<<10)}
	if len(arguments) > 0 {
		n, err := strconv.Atoi(arguments[0])
		if err != nil {
			log.Fatal(err)
		}
		s.many = newManyTools(n)
	}
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var q question
		if json.Unmarshal(line, &q) != nil || q.ID == nil {
			continue
		}
		s.answer(&q, in.Buffered() == 0)
	}
}

// An echoServer writes answers to a stream.
type echoServer struct {
	many *manyTools // nil: the usual tools

	mu  sync.Mutex
	out *bufio.Writer // guarded by mu
}

// answer answers a message. last reports whether no other message waits.
func (s *echoServer) answer(q *question, last bool) {
	switch q.Params.Name {
	case "sleep":
		time.AfterFunc(q.pause(), func() { s.write(answerTo(q), true) })
		return
	case "stall":
		time.Sleep(q.pause())
	}
	if s.many != nil && s.many.answer(s, q) {
		return
	}
	s.write(answerTo(q), last)
}

func (s *echoServer) write(message []byte, flush bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(message)
	_ = s.out.WriteByte('\n')
	if flush {
		_ = s.out.Flush()
	}
}

// mute runs a server that reads and never answers.
func mute([]string) { _, _ = io.Copy(io.Discard, os.Stdin) }

var texts sync.Map // texts by size

// textOf returns a JSON string for n bytes of text with words, quotes and line
// ends, which JSON escapes.
func textOf(n int) []byte {
	if known, ok := texts.Load(n); ok {
		return known.([]byte)
	}
	line := []byte("Lines of \"ordinary\" text, as tools return them, 0123456789.\n")
	quoted, err := json.Marshal(string(bytes.Repeat(line, n/len(line)+1)[:n]))
	if err != nil {
		panic(err) // text can always be rendered
	}
	texts.Store(n, quoted)
	return quoted
}
