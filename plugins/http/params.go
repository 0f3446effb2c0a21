package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/junctor-mcp/junctor/plugins/internal/httpclient"
	"github.com/junctor-mcp/junctor/plugins/internal/jsonrpc"
)

const (
	maxParams = 10_000   // bindings kept for one server
	maxSchema = 1 << 20  // bytes of a schema; larger ones are ignored
	maxNames  = 1 << 10  // bytes of the path to an argument and its header
	maxFile   = 32 << 20 // bytes of the cache file
	maxValue  = 4 << 10  // bytes of a header's value
	maxDepth  = 16       // levels of nested properties
)

// params knows which arguments of a server's tools are repeated in headers. The
// tools' schemas define that with x-mcp-header (revision 2026-07-28, streamable
// HTTP, "Custom Headers from Tool Parameters"). params reads every tools/list
// result and caches the bindings in a file, because a client may call a tool
// without listing first. The goroutines of all calls of a connection use it; the file
// may be written by other connections and processes.
type params struct {
	file string // cache file; empty: no cache

	mu    sync.Mutex
	tools map[string][]binding // guarded by mu; by tool; nil: not loaded
	held  int                  // guarded by mu; number of bindings in tools
}

// A binding maps an argument to the header that repeats it.
type binding struct {
	Path   []string `json:"path"`
	Header string   `json:"header"` // without the prefix Mcp-Param-
}

func newParams(cache, url string) *params {
	p := &params{}
	if cache != "" {
		p.file = filepath.Join(cache,
			fmt.Sprintf("params-%x.json", sha256.Sum256([]byte(url)))[:len("params-")+32]+".json")
	}
	return p
}

// set adds the headers that a tool call needs.
func (p *params) set(h http.Header, e *jsonrpc.Envelope) {
	p.mu.Lock()
	p.load()
	bindings := p.tools[e.Subject()]
	p.mu.Unlock()
	if len(bindings) == 0 {
		return
	}
	args := jsonrpc.Member(e.Params, "arguments")
	for _, b := range bindings {
		value := args
		for _, name := range b.Path {
			value = jsonrpc.Member(value, name)
		}
		if text, ok := paramText(value); ok {
			h.Set("Mcp-Param-"+b.Header, headerValue(text))
		}
	}
}

// paramText returns the text of a value in a header, and false if the value has
// none.
func paramText(value []byte) (string, bool) {
	var v any
	if len(value) == 0 || json.Unmarshal(value, &v) != nil {
		return "", false
	}
	switch v := v.(type) {
	case string:
		return v, len(v) <= maxValue
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= 1<<53-1 {
			return strconv.FormatInt(int64(v), 10), true
		}
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// learn reads a page of a tools/list result. An error response is ignored.
// first is true for the first page.
func (p *params) learn(msg []byte, first bool) {
	if jsonrpc.Member(msg, "result") == nil {
		return
	}
	found := map[string][]binding{}
	if bytes.Contains(msg, []byte("x-mcp-header")) {
		var list struct {
			Result struct {
				Tools []struct {
					Name        string          `json:"name"`
					InputSchema json.RawMessage `json:"inputSchema"`
				} `json:"tools"`
			} `json:"result"`
		}
		if json.Unmarshal(msg, &list) == nil {
			for _, t := range list.Result.Tools {
				if len(t.Name) > maxNames || len(t.InputSchema) > maxSchema {
					continue
				}
				if b := bindingsOf(t.InputSchema, nil); len(b) > 0 {
					found[t.Name] = b
				}
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.load()
	before := len(p.tools)
	if first {
		p.tools, p.held = map[string][]binding{}, 0
	}
	for name, b := range found {
		if p.held -= len(p.tools[name]); p.held+len(b) <= maxParams {
			p.tools[name] = b
			p.held += len(b)
		} else {
			delete(p.tools, name)
		}
	}
	if before > 0 || len(p.tools) > 0 {
		p.save()
	}
}

// bindingsOf collects the bindings of a schema. The specification allows
// x-mcp-header only along properties.
func bindingsOf(schema json.RawMessage, path []string) (all []binding) {
	if len(path) > maxDepth || !bytes.Contains(schema, []byte("x-mcp-header")) {
		return nil
	}
	var s struct {
		Header     any                        `json:"x-mcp-header"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	if name, ok := s.Header.(string); ok && len(path) > 0 && httpclient.IsToken(name) &&
		len(name)+len(strings.Join(path, "")) <= maxNames {
		all = append(all, binding{Path: path, Header: name})
	}
	for name, sub := range s.Properties {
		all = append(all, bindingsOf(sub, append(path[:len(path):len(path)], name))...)
	}
	return all
}

// load reads the cache file, once. The caller holds mu.
func (p *params) load() {
	if p.tools != nil {
		return
	}
	p.tools, p.held = map[string][]binding{}, 0
	if p.file == "" {
		return
	}
	f, err := os.Open(p.file)
	if err != nil {
		return
	}
	defer f.Close()
	kept := map[string][]binding{}
	if b, err := io.ReadAll(io.LimitReader(f, maxFile)); err != nil || json.Unmarshal(b, &kept) != nil || kept == nil {
		return
	}
	held := 0
	for _, bindings := range kept {
		held += len(bindings)
		for i := range bindings {
			if !httpclient.IsToken(bindings[i].Header) {
				return
			}
		}
	}
	if held <= maxParams {
		p.tools, p.held = kept, held
	}
}

// save writes the cache file. Errors are ignored: without the file, the plugin
// lists the tools again. The caller holds mu.
func (p *params) save() {
	if p.file == "" {
		return
	}
	text, err := json.Marshal(p.tools)
	if err != nil || os.MkdirAll(filepath.Dir(p.file), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(p.file), ".new-*")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), p.file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// headerValue encodes a text for a header. Text with characters that headers
// cannot carry becomes base64 between marks. So does text that looks like that
// encoding.
func headerValue(s string) string {
	if plainValue(s) == s && strings.TrimSpace(s) == s &&
		!(strings.HasPrefix(s, "=?base64?") && strings.HasSuffix(s, "?=")) {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// plainValue removes the characters that a header cannot carry.
func plainValue(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return -1
		}
		return r
	}, s)
}

// isTraceparent checks the form of W3C Trace Context §3.2.
func isTraceparent(s string) bool {
	if len(s) != 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || s[:2] == "ff" {
		return false
	}
	for i, c := range s {
		if i != 2 && i != 35 && i != 52 && !strings.ContainsRune("0123456789abcdef", c) {
			return false
		}
	}
	return true
}
