package login

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
)

// A pasteResult is the result of asking for a redirect at the terminal.
type pasteResult struct {
	query string
	err   error
	ended bool // the input has ended
}

// pastes reports whether a redirect may be pasted. It may if no browser is opened here:
// the user's browser is then on another machine, with another loopback interface.
func (t *Terminal) pastes() bool { return t.headless != "" && t.in != nil }

// unattended reports whether the login cannot be completed once the input has ended.
// With CI set no browser on this machine will return to the listener. Otherwise one
// may: a user can open the address from the output of an editor, or over a port that
// SSH forwards.
func (t *Terminal) unattended() bool {
	return CI(t.Lookup) && !t.in.terminal
}

func unattended() error {
	return &sdk.Error{
		Code: sdk.Unavailable, Reason: "nobody", Message: "this login cannot be completed: CI is set, so no browser is expected on this machine, and the input has ended",
		Hint: "write the address that the login ends at to standard input, or use credentials that need no login: a token in auth \"bearer\", or grant = \"client_credentials\"",
	}
}

// paste asks for the redirect until the user enters one.
func (t *Terminal) paste(ctx context.Context, c *callback, to chan<- pasteResult) {
	if !c.hinted.Swap(true) {
		t.printf("If the browser finally reports that it cannot connect to 127.0.0.1, paste the address of that page here:\n")
	}
	for {
		line, err := t.in.readLine(ctx, t.Out, "> ", true)
		switch {
		case ctx.Err() != nil:
			return
		case err == io.EOF:
			to <- pasteResult{ended: true}
			return
		case err != nil:
			to <- pasteResult{err: err}
			return
		}
		if query, problem := c.read(line); problem == "" {
			to <- pasteResult{query: query}
			return
		} else if strings.TrimSpace(line) != "" {
			t.printf("%s\n", problem)
		}
	}
}

// read extracts the query from pasted text, or says what is wrong with the text.
func (c *callback) read(text string) (query, problem string) {
	text = strings.Trim(strings.TrimSpace(text), `<>"'`)
	wanted := fmt.Sprintf("This login ends at an address that begins with %s? and contains a code.", c.URL())
	query = strings.TrimPrefix(text, "?")
	if strings.Contains(text, "://") || strings.HasPrefix(text, c.hosts[0]) || strings.HasPrefix(text, c.hosts[1]) {
		if !strings.Contains(text, "://") {
			text = "http://" + text
		}
		u, err := url.Parse(text)
		switch {
		case err != nil:
			return "", "That is not an address. " + wanted
		case u.Scheme != "http" || !c.named(u.Host) || u.Path != c.path:
			return "", "That is the address of another page. " + wanted
		}
		query = u.RawQuery
	}
	values, err := url.ParseQuery(query)
	switch {
	case err != nil || !values.Has("code") && !values.Has("error"):
		return "", "That has no code. " + wanted + ` The part that follows the "?" is enough.`
	case values.Has("code") && !values.Has("state"):
		return "", "That has a code but no state: a part of it is missing. " + wanted
	}
	return query, ""
}

// errInterrupted is the error after Ctrl-C.
func errInterrupted() error {
	return &sdk.Error{Code: sdk.Canceled, Reason: "interrupted", Message: "the login was interrupted"}
}
