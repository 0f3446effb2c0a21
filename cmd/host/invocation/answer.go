package invocation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/login"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/sdk"
)

// A terminalClient asks the user at the terminal what servers ask during a verb. Questions are
// asked one after the other. Without a terminal it declares no capabilities and reports
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

// errDeclined is the user's no, and errGone the end of the questions.
var (
	errDeclined = errors.New("declined")
	errGone     = errors.New("cancelled")
)

// Answer asks the user a server's question and returns the result or an error object.
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

// A questioner asks the user one question of a server.
type questioner struct {
	server string
	local  bool // the server is on this machine, so its pages may be too
	out    io.Writer
	line   func(ctx context.Context, prompt string) (string, error)
	open   func(ctx context.Context, url, why string) error
}

func (q *questioner) printf(format string, args ...any) { fmt.Fprintf(q.out, format, args...) }

// The maximum length of a server's texts, in characters.
const (
	messageShown = 2000
	labelShown   = 200
)

// serverText returns a server's text, shortened and indented.
func serverText(text string, most int) string {
	text = strings.TrimSpace(terminal.Safe(text))
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + " …"
	}
	return terminal.OneText(text)
}

// Short returns a server's text on one line.
func Short(text string) string {
	return strings.Join(strings.Fields(serverText(text, labelShown)), " ")
}

// agree asks a question of Junctor: yes, no or cancel. unsaid is the answer to an empty line.
func (q *questioner) agree(ctx context.Context, question string, unsaid string) error {
	for {
		text, err := q.line(ctx, question)
		if err != nil {
			return asGone(err)
		}
		switch word := strings.ToLower(strings.TrimSpace(text)); {
		case word == "" && unsaid != "":
			return map[string]error{"y": nil, "n": errDeclined}[unsaid]
		case word == "y" || word == "yes":
			return nil
		case word == "n" || word == "no":
			return errDeclined
		case word == "c" || word == "cancel":
			return errGone
		}
		q.printf("y for yes, n for no, c to cancel\n")
	}
}

// asGone converts the end of the input into errGone.
func asGone(err error) error {
	if errors.Is(err, io.EOF) {
		return errGone
	}
	return err
}

// page asks whether to open a page of a server. It returns an error object for an address
// that must not be opened.
func (q *questioner) page(ctx context.Context, params []byte) (rpcErr []byte, err error) {
	raw, _ := mcp.TextMember(params, "url")
	message, _ := mcp.TextMember(params, "message")
	address, err := login.Address(raw, q.local)
	if err != nil {
		q.printf("server %q wants to open a page with a rejected address: %s\n", q.server, serverText(err.Error(), messageShown))
		why := "the address is rejected"
		if e, ok := errors.AsType[*sdk.Error](err); ok {
			why = e.Message
		}
		return mcp.ErrorObject(mcp.CodeInvalidParams, why, map[string]string{"reason": "address"}), nil
	}
	q.printf("server %q asks to open a page: %s\n\n  %s\n\n", q.server, serverText(message, messageShown), address)
	if err := q.agree(ctx, "Open it? [y/N/c] ", "n"); err != nil {
		return nil, err
	}
	return nil, q.open(ctx, address, "the page of server "+q.server)
}
