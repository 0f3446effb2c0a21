//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// newAskingDir returns a directory for asking.
func newAskingDir(t *testing.T) *reloadDir {
	t.Helper()
	d := newReloadDir(t)
	questions := `[{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}}]`
	if err := os.WriteFile(filepath.Join(d.site.dir, "form.json"), []byte(questions), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// asking returns a configuration with a server that asks the user during calls.
func asking(era, share, version string) string {
	return fmt.Sprintf(`server "asking" {
  share = %q
  transport "stdio" {
    command = ["inquirer", %q, "form.json"]
    env     = { VERSION = %q }
  }
}
`, share, era, version)
}

// TestReloadKeepsServerOfCallThatAsks reloads twice while a call waits for its user: once
// without a change of the server, and once with one. The server stays until the call
// has its result.
func TestReloadKeepsServerOfCallThatAsks(t *testing.T) {
	t.Parallel()
	d := newAskingDir(t)
	rewriteConfig(t, d.path, asking("modern", "global", "1"))
	d.trust()
	s, c := d.serveStdio()
	c.capabilities = map[string]any{"elicitation": map[string]any{}}
	c.initialize(t)
	type outcome struct {
		m   reloadMessage
		err error
	}
	result := make(chan outcome, 1)
	go func() {
		m, err := c.request("tools/call", map[string]any{"name": "asking__ask"})
		result <- outcome{m, err}
	}()
	question := ""
	c.await(t, "the question", func(heard []reloadMessage) bool {
		for _, m := range heard {
			if m.Method == "elicitation/create" {
				question = string(m.ID)
			}
		}
		return question != ""
	})
	rewriteConfig(t, d.path, asking("modern", "global", "1")+publishers("added", "legacy", ""))
	s.waitLog(`added=["added"]`)
	rewriteConfig(t, d.path, asking("modern", "global", "2"))
	s.waitLog(`changed=["asking"]`)
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{}}}`+"\n",
		question); err != nil {
		t.Fatal(err)
	}
	if r := <-result; r.err != nil || r.m.Result == nil {
		t.Errorf("%v, %s", r.err, r.m)
	}
}

// TestReloadKeepsSuspendedCalls suspends calls of modern clients, and reloads without a
// change of their server and with one. The clients answer, and get the results.
func TestReloadKeepsSuspendedCalls(t *testing.T) {
	t.Parallel()
	d := newAskingDir(t)
	rewriteConfig(t, d.path, asking("legacy", "session", "1"))
	s := d.serveHTTP()
	c := &reloadClient{url: s.url}
	params := func() map[string]any {
		return map[string]any{"name": "asking__ask", "arguments": map[string]any{},
			"_meta": map[string]any{"io.modelcontextprotocol/clientCapabilities": map[string]any{
				"elicitation": map[string]any{"form": map[string]any{}},
			}}}
	}
	type suspended struct {
		InputRequests map[string]any
		RequestState  string
	}
	var calls []suspended
	for range 2 {
		m, err := c.request("tools/call", params())
		var call suspended
		if err != nil || json.Unmarshal(m.Result, &call) != nil || len(call.InputRequests) != 1 {
			t.Fatalf("%v: %s%s", err, m.Result, m.Error)
		}
		calls = append(calls, call)
	}
	finish := func(call suspended) {
		t.Helper()
		p, answers := params(), map[string]any{}
		for key := range call.InputRequests {
			answers[key] = map[string]any{"action": "accept", "content": map[string]any{}}
		}
		p["inputResponses"], p["requestState"] = answers, call.RequestState
		m, err := c.request("tools/call", p)
		var result struct{ Content []any }
		if err != nil || json.Unmarshal(m.Result, &result) != nil || len(result.Content) != 1 {
			t.Errorf("%v: %s%s", err, m.Result, m.Error)
		}
	}
	rewriteConfig(t, d.path, asking("legacy", "session", "1")+publishers("added", "legacy", ""))
	s.hangup(`added=["added"]`)
	finish(calls[0])
	rewriteConfig(t, d.path, asking("legacy", "session", "2"))
	s.hangup(`changed=["asking"]`)
	finish(calls[1])
}
