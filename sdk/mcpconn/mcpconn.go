// Package mcpconn makes a Junctor connection of any transport of the MCP Go
// SDK, for authors who have one.
//
// It is a module of its own, so that the SDK of plugins does not depend on the
// MCP SDK. What goes through it is decoded and encoded again: params and results
// keep their bytes, the envelope does not.
package mcpconn

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/junctor-mcp/junctor/sdk"
)

// Open connects t and returns the connection.
func Open(ctx context.Context, t mcp.Transport) (sdk.Conn, error) {
	inner, err := t.Connect(ctx)
	if err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "%v", err)
	}
	return From(inner), nil
}

// From makes a Junctor connection of one of the MCP SDK.
func From(inner mcp.Connection) sdk.Conn {
	ctx, cancel := context.WithCancel(context.Background())
	return &conn{inner: inner, ctx: ctx, cancel: cancel}
}

type conn struct {
	inner  mcp.Connection
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	once   sync.Once
	err    error
}

// Recv returns the next message.
func (c *conn) Recv() ([]byte, error) {
	m, err := c.inner.Read(c.ctx)
	if err != nil {
		if c.ctx.Err() != nil {
			return nil, io.EOF
		}
		return nil, err
	}
	return jsonrpc.EncodeMessage(m)
}

// Send delivers one message.
func (c *conn) Send(msg []byte) error {
	m, err := jsonrpc.DecodeMessage(msg)
	if err != nil {
		return err
	}
	return c.inner.Write(c.ctx, m)
}

// Close ends the connection. The MCP SDK's connections know no grace: ctx only
// bounds the wait.
func (c *conn) Close(ctx context.Context) error {
	c.once.Do(func() {
		done := make(chan error, 1)
		go func() { done <- c.inner.Close() }()
		select {
		case c.err = <-done:
			c.cancel()
		case <-ctx.Done():
			c.cancel()
			c.err = <-done
		}
	})
	return c.err
}
