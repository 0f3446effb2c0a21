package login

import (
	"context"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/sdk"
)

// A Client reaches the user through an MCP client of the gateway. The MCP client shows
// one page, which redirects to a listener on this machine. A Client cannot ask
// questions.
//
// It shows a page only if the login ends at the listener. Anybody else who opens the
// page is redirected to their own machine, so their login is not taken for the user's.
// A login with a code that is entered elsewhere has no such protection.
type Client struct {
	term    *Terminal
	show    func(address string)
	returns atomic.Bool // Callback was called
}

var _ sdk.Person = (*Client)(nil)

// NewClient returns a Client. It ignores the options for a terminal. show receives the
// checked address and must not block.
func NewClient(o Options, show func(address string)) (*Client, error) {
	o.In, o.Out, o.NoBrowser = nil, nil, true
	t, err := New(o)
	if err != nil {
		return nil, err
	}
	return &Client{term: t, show: show}, nil
}

// OpenURL passes the page to the MCP client.
func (c *Client) OpenURL(ctx context.Context, url, _ string) error {
	address, err := Address(url, c.term.Loopback)
	if err != nil {
		return err
	}
	if !c.returns.Load() {
		return &sdk.Error{Code: sdk.Unimplemented, Reason: "no_terminal",
			Message: "this login does not return to this machine, so it needs a terminal"}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.show(address)
	return nil
}

// Prompt fails, because there is no terminal.
func (c *Client) Prompt(ctx context.Context, p sdk.Prompt) (map[string]string, error) {
	return c.term.Prompt(ctx, p)
}

// Callback starts to listen on the loopback interface.
func (c *Client) Callback(ctx context.Context, path string) (sdk.Callback, error) {
	cb, err := c.term.Callback(ctx, path)
	if err == nil {
		c.returns.Store(true)
	}
	return cb, err
}
