package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// echo is the server at the end: hand-written, so that what it costs is next to
// nothing. Its one tool answers with as many bytes as asked for.
func echo() {
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	var mu sync.Mutex
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	texts := map[int][]byte{}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments struct {
					Bytes int `json:"bytes"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &r) != nil || r.ID == nil {
			continue
		}
		mu.Lock()
		switch r.Method {
		case "initialize":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}}`+"\n", r.ID)
		case "tools/list":
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","description":"Answer with text.","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}}]}}`+"\n", r.ID)
		case "tools/call":
			n := r.Params.Arguments.Bytes
			if texts[n] == nil {
				texts[n] = textOf(n)
			}
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":`, r.ID)
			_, _ = out.Write(texts[n])
			_, _ = out.WriteString("}\n")
		default:
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", r.ID)
		}
		if in.Buffered() == 0 {
			_ = out.Flush()
		}
		mu.Unlock()
	}
}

// textOf is a result with n bytes of text that looks like text: words, quotes
// and line ends, which JSON escapes.
func textOf(n int) []byte {
	line := []byte("Lines of \"ordinary\" text, as tools return them, 0123456789.\n")
	quoted, err := json.Marshal(string(bytes.Repeat(line, n/len(line)+1)[:n]))
	if err != nil {
		panic(err) // text can always be rendered
	}
	return fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, quoted)
}
