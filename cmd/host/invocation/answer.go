package invocation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/login"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A terminalClient asks the user at the terminal what servers ask during a verb. Questions are
// asked one after the other. The gateway calls the methods, from a goroutine for each call of a tool,
// so they are safe for concurrent use. Without a terminal it declares no capabilities and reports
// each question that it declines.
type terminalClient struct {
	inv         *Invocation
	interactive bool
	unasked     bool // the verb answers no questions

	turn chan struct{} // holds one token; its holder asks
	gone bool          // the user wants no more questions; guarded by turn

	mu   sync.Mutex
	told map[string]bool // guarded by mu; the questions that were reported as declined
}

var _ gateway.LocalClient = (*terminalClient)(nil)

func newTerminalClient(inv *Invocation, n Needs) *terminalClient {
	a := &terminalClient{inv: inv, unasked: n.Unasked, turn: make(chan struct{}, 1), told: map[string]bool{}}
	a.turn <- struct{}{}
	// Completions need the same capabilities as verbs at a terminal.
	a.interactive = n.completing || !n.Unasked && inv.CanAsk()
	return a
}

// Capabilities returns forms and pages with a terminal, and nothing without.
func (a *terminalClient) Capabilities() []byte {
	if !a.interactive {
		return []byte("{}")
	}
	return []byte(`{"elicitation":{"form":{},"url":{}}}`)
}

// Absent says why the person at the terminal cannot approve a call. A program that Junctor
// started, such as a server, may have a terminal of its own and is no person.
func (a *terminalClient) Absent() string {
	switch {
	case control.StartedByJunctor(os.Getpid()):
		return "junctor started the program that runs this command"
	case a.unasked:
		return "this command asks no questions"
	}
	return a.inv.NoQuestions()
}

// Refused prints that a question of a server was declined, and why, once for each server
// and method.
func (a *terminalClient) Refused(server, method, why string) {
	a.mu.Lock()
	told := a.told[server+" "+method]
	a.told[server+" "+method] = true
	a.mu.Unlock()
	if told {
		return
	}
	if method == mcp.MethodElicit && !a.interactive {
		why = "there is no terminal"
	}
	a.inv.Note(server, fmt.Sprintf("its request %.64q was declined: %.200s", method, why))
}

// Answer asks the user a server's question and returns the result or an error object. It blocks until
// the user has answered, also the questions before, or ctx ends.
func (a *terminalClient) Answer(ctx context.Context, server, method string, params []byte) (result, rpcErr []byte) {
	select {
	case <-a.turn:
		defer func() { a.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the user did not answer", map[string]string{"reason": "timeout"})
	}
	if a.gone {
		return []byte(`{"action":"cancel"}`), nil
	}
	out, release, err := a.inv.Screen.Ask(ctx)
	if err != nil {
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the user did not answer", map[string]string{"reason": "timeout"})
	}
	defer release()
	t, err := a.terminal(server, terminal.SafeWriter(out))
	if err != nil {
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the user cannot be asked", nil)
	}
	mode, _ := mcp.TextMember(params, "mode")
	var content []byte
	if mode == "url" {
		rpcErr, err = t.page(ctx, params)
	} else {
		content, err = t.form(ctx, params)
	}
	switch {
	case rpcErr != nil:
		return nil, rpcErr
	case errors.Is(err, errDeclined):
		return []byte(`{"action":"decline"}`), nil
	case err != nil:
		a.gone = a.gone || ctx.Err() == nil && !errors.Is(err, errGone)
		return []byte(`{"action":"cancel"}`), nil
	case content == nil:
		return []byte(`{"action":"accept"}`), nil
	}
	return mcp.SetMember([]byte(`{"action":"accept"}`), "content", content), nil
}

// terminal returns a questioner for one question of a server.
func (a *terminalClient) terminal(server string, out io.Writer) (*questioner, error) {
	local := false
	for _, s := range a.inv.App.Config().Servers {
		if s.Name == server {
			address := host.Address(s)
			local = address == "" || host.OnLoopback(address)
		}
	}
	p, err := login.New(login.Options{In: a.inv.Stdin, Out: out, Server: server, Loopback: local, Lookup: a.inv.Lookup})
	if err != nil {
		return nil, err
	}
	if a.inv.Keys == nil {
		a.inv.Keys = p
	}
	return &questioner{server: server, out: out, line: a.inv.Keys.Line, open: p.OpenURL, local: local}, nil
}
