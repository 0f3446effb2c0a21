// Package mcpconn adapts transports of the MCP Go SDK to Junctor, for authors
// who have such a transport.
//
// It is a separate module, so that plugins do not depend on the MCP SDK.
// Messages are decoded and encoded again: params and results keep their bytes,
// the rest of the message does not.
package mcpconn

import (
	"context"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/junctor-mcp/junctor/sdk"
)

// Open connects t and returns the connection. It fails with code Unavailable if
// t does not connect.
func Open(ctx context.Context, t mcp.Transport) (sdk.Conn, error) {
	inner, err := t.Connect(ctx)
	if err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "%v", err)
	}
	return From(inner), nil
}

// From adapts a connection of the MCP SDK.
func From(inner mcp.Connection) sdk.Conn {
	ctx, cancel := context.WithCancel(context.Background())
	return &conn{inner: inner, ctx: ctx, cancel: cancel}
}

type conn struct {
	inner  mcp.Connection
	ctx    context.Context // done after Close
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

// Send sends one message. It fails if msg is not a JSON-RPC message, or with the error
// of the inner connection.
func (c *conn) Send(msg []byte) error {
	m, err := jsonrpc.DecodeMessage(msg)
	if err != nil {
		return sdk.Errorf(sdk.Internal, "%v", err)
	}
	if err := c.inner.Write(c.ctx, m); err != nil {
		return &sdk.Error{Code: sdk.Unavailable, Message: err.Error(), Err: err}
	}
	return nil
}

// Close ends the connection. A connection of the MCP SDK has no forced close.
// When ctx is done, Close cancels reads and writes and waits for the inner
// Close.
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
