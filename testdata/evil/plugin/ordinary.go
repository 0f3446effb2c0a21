package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// settings select the mistake of one server of a normal plugin.
type settings struct {
	Do  string `hcl:"do" doc:"What to do." default:""`
	Arg string `hcl:"arg" doc:"More about it." default:""`
}

func (s *settings) Validate() error {
	switch s.Do {
	case "invalid":
		return sdk.AttrErrorf("do", "is not allowed")
	case "exitearly":
		fmt.Fprintln(standardError, "exiting in Validate")
		os.Exit(8)
	case "hangvalidate":
		select {}
	}
	return nil
}

// opening holds the mistakes in Open.
var opening = map[string]func(ctx context.Context, server *sdk.Server, s *settings) error{
	"hang": func(context.Context, *sdk.Server, *settings) error { select {} },
	"fail": func(context.Context, *sdk.Server, *settings) error { return sdk.Errorf(sdk.Unavailable, "nobody home") },
	"panic": func(_ context.Context, _ *sdk.Server, s *settings) error {
		panic(strings.TrimSpace("the author's mistake " + s.Arg))
	},
	"exit": func(context.Context, *sdk.Server, *settings) error {
		fmt.Fprintln(os.Stderr, "the last words")
		os.Exit(7)
		return nil
	},
	"dial": func(context.Context, *sdk.Server, *settings) error {
		return errors.New("dial tcp 192.0.2.1:80: refused")
	},
	"family": func(_ context.Context, _ *sdk.Server, s *settings) error { family(s.Arg); return nil },
	"stdin": func(context.Context, *sdk.Server, *settings) error {
		_, err := io.ReadAll(os.Stdin) // the SDK has set it to nil
		fmt.Fprintln(standardError, "read standard input:", err)
		return nil
	},
	"print": func(_ context.Context, _ *sdk.Server, s *settings) error {
		fmt.Println("stray", s.Arg)
		fmt.Fprintln(os.Stderr, `{"@level":"warn","@message":"stray too","@module":"audit","n":1}`)
		return nil
	},
	"printflood": func(context.Context, *sdk.Server, *settings) error {
		go func() {
			for {
				fmt.Println("stray")
			}
		}()
		return nil
	},
	// Prints to the original standard error.
	"stderr": func(_ context.Context, _ *sdk.Server, s *settings) error {
		_, err := io.WriteString(standardError, s.Arg+"\n")
		return err
	},
	"flood": func(_ context.Context, _ *sdk.Server, s *settings) error {
		size := 1 << 20
		_, _ = fmt.Sscan(s.Arg, &size)
		block := []byte(strings.Repeat("what a day; ", 5) + "\n")
		block = bytes.Repeat(block, 64<<10/len(block))
		for ; size > 0; size -= len(block) {
			_, _ = standardError.Write(block)
		}
		_, _ = io.WriteString(standardError, "that was the flood\n")
		return nil
	},
	"crash": func(_ context.Context, _ *sdk.Server, s *settings) error {
		d, err := time.ParseDuration(s.Arg)
		if err != nil {
			return err
		}
		go func() {
			time.Sleep(d)
			panic("the sky is falling")
		}()
		return nil
	},
	// The end of the plugin's threads must not end its children.
	"threads": func(context.Context, *sdk.Server, *settings) error {
		for range 20 {
			go runtime.LockOSThread() // the thread ends with a locked goroutine
		}
		return nil
	},
}

func open(ctx context.Context, server *sdk.Server, s *settings) (sdk.Conn, error) {
	if f := opening[s.Do]; f != nil {
		if err := f(ctx, server, s); err != nil {
			return nil, err
		}
	}
	c := &echo{do: s.Do, messages: make(chan []byte, 64), done: make(chan struct{})}
	switch s.Do {
	case "environ":
		text, err := json.Marshal(map[string]any{"environ": os.Environ(), "server": server.Env, "cwd": cwd()})
		if err != nil {
			return nil, err
		}
		c.messages <- text
	case "secret": // reads a secret from the host
		value, found, err := server.Host.Secrets.Secret(ctx, s.Arg)
		c.messages <- fmt.Appendf(nil, `{"found":%t,"value":%q,"error":%q}`, found, value, fmt.Sprint(err))
	}
	return c, nil
}

func cwd() string {
	dir, err := os.Getwd()
	if err != nil {
		return err.Error()
	}
	return dir
}

// An echo is a server that sends every message back.
type echo struct {
	do       string
	messages chan []byte
	done     chan struct{}
	once     sync.Once
}

func (e *echo) Recv() ([]byte, error) {
	if e.do == "dropped" { // on every call
		return nil, &sdk.Dropped{Reason: "message_too_large", Size: 1 << 40, Limit: 1 << 20,
			Prefix: []byte(`{"jsonrpc":"2.0","id":1`)}
	}
	select {
	case m := <-e.messages:
		return m, nil
	case <-e.done:
	}
	if e.do == "stay" {
		select {}
	}
	if e.do == "ended" {
		return nil, &sdk.Error{Code: sdk.Unavailable, Reason: "exited", Message: "the server exited with status 9",
			Output: []string{"bye"}}
	}
	return nil, io.EOF
}

func (e *echo) Send(m []byte) error {
	if e.do == "panicsend" {
		panic("the author's mistake in Send")
	}
	if failsToSend[e.do] != "" && bytes.Contains(m, []byte(failsToSend[e.do])) {
		return errors.New("dial tcp 192.0.2.1:80: connection refused")
	}
	if mcpModes[e.do] != "" {
		if m = mcpAnswer(e.do, m); m == nil {
			return nil
		}
	}
	switch string(m) {
	case `{"do":"end"}`:
		_ = e.Close(context.Background())
		return nil
	case `{"do":"hang"}`:
		select {}
	}
	select {
	case e.messages <- bytes.Clone(m):
	case <-e.done:
	}
	return nil
}

func (e *echo) Close(context.Context) error {
	e.once.Do(func() { close(e.done) })
	if e.do == "stay" || e.do == "mcpstay" {
		select {}
	}
	return nil
}

// failsToSend holds the settings that make Send fail, and what such a message contains.
var failsToSend = map[string]string{
	"failsend":    `"jsonrpc"`,
	"mcpfailcall": `"method":"tools/call"`,
	"mcpfailnote": `"method":"notifications/initialized"`,
}

// mcpModes holds the settings that make the transport an MCP server, and its
// responses to tools/call.
var mcpModes = map[string]string{
	"mcpstay":     `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"yes"}]}}`, // Close hangs
	"mcpyes":      `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"yes"}]}}`,
	"mcpfailcall": `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"yes"}]}}`,
	"mcpfailnote": `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"yes"}]}}`,
	"mcpjunk":     "not JSON",
	"mcpstray":    `{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}`,
}

// mcpAnswer returns the response to a request, or nil.
func mcpAnswer(mode string, request []byte) []byte {
	var r struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(request, &r) != nil || r.ID == nil {
		return nil
	}
	switch r.Method {
	case "initialize":
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"evil","version":"1"}}}`,
			r.ID)
	case "tools/list":
		return fmt.Appendf(nil,
			`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}`, r.ID)
	case "tools/call":
		if mode == "mcpstay" || mode == "mcpyes" {
			return fmt.Appendf(nil, mcpModes[mode], r.ID)
		}
		return []byte(mcpModes[mode])
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, r.ID)
}
