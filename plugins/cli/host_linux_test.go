package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// A host is the client of a server within the test.
type host struct {
	t    *testing.T
	conn sdk.Conn
	got  chan message
	next int
	dir  string // the working directory of the program
}

type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// openHost opens a server with the settings.
func openHost(t *testing.T, settings string) *host {
	t.Helper()
	dir := t.TempDir()
	conn, err := plugin().Transports["cli"].Open(t.Context(),
		&sdk.Server{Dir: dir, MaxMessage: 16 << 20, Cache: t.TempDir()}, []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	h := connect(t, conn)
	h.dir = dir
	return h
}

// connect returns a host for an open connection.
func connect(t *testing.T, conn sdk.Conn) *host {
	t.Helper()
	h := &host{t: t, conn: conn, got: make(chan message, 100)}
	go func() {
		defer close(h.got)
		for {
			msg, err := conn.Recv()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				return
			}
			var m message
			if err := json.Unmarshal(msg, &m); err != nil || strings.ContainsAny(string(msg), "\r\n") {
				t.Errorf("%s: %v", msg, err)
			}
			h.got <- m
		}
	}()
	t.Cleanup(h.close)
	return h
}

func (h *host) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := h.conn.Close(ctx); err != nil {
		h.t.Error(err)
	}
}

func (h *host) send(msg string) {
	h.t.Helper()
	if err := h.conn.Send([]byte(msg)); err != nil {
		h.t.Fatal(err)
	}
}

// request sends a request and returns its ID.
func (h *host) request(method, params string) string {
	h.t.Helper()
	h.next++
	h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, h.next, method, params))
	return fmt.Sprint(h.next)
}

func (h *host) receive() message {
	h.t.Helper()
	select {
	case m := <-h.got:
		return m
	case <-time.After(30 * time.Second):
		h.t.Fatal("no message for 30 s")
		panic("unreachable")
	}
}

func (h *host) ask(method, params string) message {
	h.t.Helper()
	id := h.request(method, params)
	m := h.receive()
	if string(m.ID) != id {
		h.t.Fatalf("the response to %s is %+v", method, m)
	}
	return m
}

// A callResult is the result of tools/call.
type callResult struct {
	Type    string `json:"resultType"`
	Content []struct{ Type, Text string }
	Result  struct {
		ExitCode  int `json:"exit_code"`
		Stdout    string
		Stderr    string
		Truncated bool
	} `json:"structuredContent"`
	IsError bool
}

func (h *host) call(name, arguments string) callResult {
	h.t.Helper()
	return readCallResult(h.t, h.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments)))
}

func readCallResult(t *testing.T, m message) callResult {
	t.Helper()
	var c callResult
	if m.Error != nil || json.Unmarshal(m.Result, &c) != nil || len(c.Content) == 0 {
		t.Fatalf("%+v", m)
	}
	return c
}

const shSettings = `{"command":["/bin/sh","-c"],"paths":"any","env":{"PROMISE":"kept"},%s"tool":[
	{"name":"run","description":"Runs it.","argv":["{script}"],"argument":[{"name":"script"}],"stdin":true},
	{"name":"list","description":"Lists.","argv":["echo list"],"access":"read"}]}`

func shServer(t *testing.T, more string) *host {
	t.Helper()
	return openHost(t, fmt.Sprintf(shSettings, more))
}
