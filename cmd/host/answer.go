package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/login"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/sdk"
)

// An answerer is the person at the terminal, for what servers ask in the course
// of a verb. Questions are asked one after the other. Without a terminal it
// offers nothing and reports each question that it declines.
type answerer struct {
	e           *env
	interactive bool

	turn chan struct{}   // holds one token: who has it asks
	gone bool            // the person wants no more questions; belongs to who has the turn
	keys *login.Terminal // what is typed, which may be early for the next question; belongs to who has the turn

	mu   sync.Mutex
	told map[string]bool // guarded by mu; what was said of questions that were not asked
}

var _ gateway.LocalClient = (*answerer)(nil)

func newAnswerer(e *env) *answerer {
	a := &answerer{e: e, turn: make(chan struct{}, 1), told: map[string]bool{}}
	a.turn <- struct{}{}
	// Completions see what the verbs at a terminal were given.
	a.interactive = e.completing || e.canAsk()
	return a
}

// Capabilities returns forms and pages at a terminal, and nothing elsewhere.
func (a *answerer) Capabilities() []byte {
	if !a.interactive {
		return []byte("{}")
	}
	return []byte(`{"elicitation":{"form":{},"url":{}}}`)
}

// Refused prints that a question of a server was declined, and why, once for each
// server and method.
func (a *answerer) Refused(server, method, why string) {
	a.mu.Lock()
	told := a.told[server+" "+method]
	a.told[server+" "+method] = true
	a.mu.Unlock()
	if told {
		return
	}
	if method == mcp.MethodElicit && !a.interactive {
		why = "there is no terminal to ask on"
	}
	a.e.note(server, fmt.Sprintf("it asked for an answer to %.64q, which was declined: %.200s", method, why))
}

// errDeclined is a person's no, and errGone the end of their patience.
var (
	errDeclined = errors.New("declined")
	errGone     = errors.New("cancelled")
)

// Answer asks the person what a server wants to know.
func (a *answerer) Answer(ctx context.Context, server, method string, params []byte) (result, rpcErr []byte) {
	select {
	case <-a.turn:
		defer func() { a.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the user did not answer", map[string]string{"reason": "timeout"})
	}
	if a.gone {
		return []byte(`{"action":"cancel"}`), nil
	}
	release, err := a.e.screen.take(ctx, a.e.stderr)
	if err != nil {
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the user did not answer", map[string]string{"reason": "timeout"})
	}
	defer release()
	t, err := a.terminal(server)
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

// terminal is the person's, for one question of a server.
func (a *answerer) terminal(server string) (*questioner, error) {
	local := false
	for _, s := range a.e.app.Config.Servers {
		if s.Name == server {
			address := host.Address(s)
			local = address == "" || host.OnLoopback(address)
		}
	}
	out := safeWriter{a.e.stderr}
	p, err := login.New(login.Options{In: a.e.stdin, Out: out, Server: server, Loopback: local, Lookup: a.e.lookup})
	if err != nil {
		return nil, err
	}
	if a.keys == nil {
		a.keys = p
	}
	return &questioner{server: server, out: out, line: a.keys.Line, open: p.OpenURL, local: local}, nil
}

// A questioner puts one question of a server to a person.
type questioner struct {
	server string
	local  bool // its pages may be on this machine
	out    io.Writer
	line   func(ctx context.Context, prompt string) (string, error)
	open   func(ctx context.Context, url, why string) error
}

func (q *questioner) printf(format string, args ...any) { fmt.Fprintf(q.out, format, args...) }

// The most that is shown of a server's words.
const (
	messageShown = 2000
	labelShown   = 200
)

// words is a server's text, cut, and further in than any line of ours.
func words(text string, most int) string {
	text = strings.TrimSpace(safe(text))
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + " …"
	}
	return oneText(text)
}

// short is a server's text on one line.
func short(text string) string { return strings.Join(strings.Fields(words(text, labelShown)), " ") }

// agree asks a question of ours that is answered with yes, no or cancel.
func (q *questioner) agree(ctx context.Context, question string, unsaid string) error {
	for {
		text, err := q.line(ctx, question)
		if err != nil {
			return gone(err)
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

// gone is the end of a question by Ctrl-C, by the end of the input, or in time.
func gone(err error) error {
	if errors.Is(err, io.EOF) {
		return errGone
	}
	return err
}

// page asks whether to open a page of a server. The error of the protocol is
// that of an address which no browser is sent to.
func (q *questioner) page(ctx context.Context, params []byte) (rpcErr []byte, err error) {
	raw, _ := mcp.TextMember(params, "url")
	message, _ := mcp.TextMember(params, "message")
	address, err := login.Address(raw, q.local)
	if err != nil {
		q.printf("server %q wants a page to be opened that is refused: %s\n", q.server, words(err.Error(), messageShown))
		why := "the address is refused"
		if e, ok := errors.AsType[*sdk.Error](err); ok {
			why = e.Message
		}
		return mcp.ErrorObject(mcp.CodeInvalidParams, why, map[string]string{"reason": "address"}), nil
	}
	q.printf("server %q asks to open a page: %s\n\n  %s\n\n", q.server, words(message, messageShown), address)
	if err := q.agree(ctx, "Open it? [y/N/c] ", "n"); err != nil {
		return nil, err
	}
	return nil, q.open(ctx, address, "the page of server "+q.server)
}
