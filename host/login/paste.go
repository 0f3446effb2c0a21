package login

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
)

// A pasting is what came of asking for a redirect on the terminal.
type pasting struct {
	query string
	err   error
	ended bool // nothing more can be pasted
}

// pastes reports whether a redirect may be pasted: where the person's browser
// is on another machine, on which the loopback is another one too.
func (t *Terminal) pastes() bool { return t.alone != "" && t.in != nil }

// deserted reports whether nobody can finish a login once the input has ended. On
// a machine that says CI no browser runs that would come back to the listener.
// Anywhere else it may: whoever reads the address over a pipe, from an editor for
// example, can open it on this very machine, or over a port that SSH forwards.
func (t *Terminal) deserted() bool {
	return CI(t.Lookup) && !t.in.terminal
}

func deserted() error {
	return &sdk.Error{
		Code: sdk.Unavailable, Reason: "nobody", Message: "nobody can finish this login: CI is set, so no browser is expected on this machine, and the input has ended",
		Hint: "write the address that the login ends at to standard input, or use credentials that need nobody: a token in auth \"bearer\", or grant = \"client_credentials\"",
	}
}

// paste asks for the redirect until it gets one.
func (t *Terminal) paste(ctx context.Context, c *callback, to chan<- pasting) {
	if !c.asked.Swap(true) {
		t.printf("If the browser says in the end that it cannot connect to 127.0.0.1, paste the address of that page here:\n")
	}
	for {
		line, err := t.in.line(ctx, t.Out, "> ", true)
		switch {
		case ctx.Err() != nil:
			return
		case err == io.EOF:
			to <- pasting{ended: true}
			return
		case err != nil:
			to <- pasting{err: err}
			return
		}
		if query, problem := c.read(line); problem == "" {
			to <- pasting{query: query}
			return
		} else if strings.TrimSpace(line) != "" {
			t.printf("%s\n", problem)
		}
	}
}

// read takes the query out of what was pasted, or says what is wrong with it.
func (c *callback) read(text string) (query, problem string) {
	text = strings.Trim(strings.TrimSpace(text), `<>"'`)
	wanted := fmt.Sprintf("This login ends at an address that begins with %s? and holds a code.", c.URL())
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
		return "", "There is no code in that. " + wanted + ` The part that follows the "?" is enough.`
	case values.Has("code") && !values.Has("state"):
		return "", "There is a code but no state in that: a part of it is missing. " + wanted
	}
	return query, ""
}

// errInterrupted is the person's Ctrl-C.
func errInterrupted() error {
	return &sdk.Error{Code: sdk.Canceled, Reason: "interrupted", Message: "the person ended the login"}
}
