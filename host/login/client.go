package login

import (
	"context"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/sdk"
)

// A Client is the person behind a client of the gateway, who is shown one page
// by that client and comes back from it to a listener on this machine. No
// question can be asked.
//
// Only a login that ends at the listener is shown: whoever else is sent to the
// page, by whomever, comes back to a machine of their own. A login with a code
// that is entered elsewhere has no such end.
type Client struct {
	term    *Terminal
	show    func(address string)
	returns atomic.Bool // there is a listener
}

var _ sdk.Person = (*Client)(nil)

// NewClient makes a Client of Options, of which what is about a terminal does
// not count. show is handed the address, which was checked, and does not wait.
func NewClient(o Options, show func(address string)) (*Client, error) {
	o.In, o.Out, o.NoBrowser = nil, nil, true
	t, err := New(o)
	if err != nil {
		return nil, err
	}
	return &Client{term: t, show: show}, nil
}

// OpenURL has the client show the page.
func (c *Client) OpenURL(ctx context.Context, url, _ string) error {
	address, err := Address(url, c.term.Loopback)
	if err != nil {
		return err
	}
	if !c.returns.Load() {
		return &sdk.Error{Code: sdk.Unimplemented, Reason: "no_terminal", Message: "the login does not end on this machine, so it needs a terminal to begin on"}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.show(address)
	return nil
}

// Prompt has nobody to ask.
func (c *Client) Prompt(ctx context.Context, p sdk.Prompt) (map[string]string, error) {
	return c.term.Prompt(ctx, p)
}

// Callback listens on the loopback, from now on.
func (c *Client) Callback(ctx context.Context, path string) (sdk.Callback, error) {
	cb, err := c.term.Callback(ctx, path)
	if err == nil {
		c.returns.Store(true)
	}
	return cb, err
}
