package goplugin

import (
	"io"
	"net"
	"net/rpc"
	"sync"

	"github.com/hashicorp/yamux"
)

// A Client is the host's side of a connection to a plugin. Its methods may be called concurrently.
type Client struct {
	// Broker has the further streams of the connection.
	Broker *Broker

	session *yamux.Session
	calls   *rpc.Client
	streams streams
	running sync.WaitGroup
}

// NewClient begins a connection to a plugin over conn. What the plugin prints is written to stdout
// and stderr until the connection ends. NewClient owns conn, also if it fails. The caller closes the
// client.
func NewClient(conn net.Conn, stdout, stderr io.Writer) (*Client, error) {
	session, err := yamux.Client(conn, muxConfig())
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	s, err := openStreams(session.Open)
	if err != nil {
		_ = session.Close()
		return nil, err
	}
	c := &Client{Broker: newBroker(session), session: session, calls: rpc.NewClient(s.calls), streams: s}
	c.running.Go(c.Broker.run)
	c.running.Go(func() { _, _ = io.Copy(stdout, s.stdout) })
	c.running.Go(func() { _, _ = io.Copy(stderr, s.stderr) })
	return c, nil
}

// Dispense returns a client for the calls of an object of the plugin: its methods are called
// "Plugin.METHOD". The caller closes it.
func (c *Client) Dispense(name string) (*rpc.Client, error) {
	var id uint32
	if err := c.calls.Call("Dispenser.Dispense", name, &id); err != nil {
		return nil, err
	}
	stream, err := c.Broker.Dial(id)
	if err != nil {
		return nil, err
	}
	return rpc.NewClient(stream), nil
}

// Ping calls the plugin and waits for its answer.
func (c *Client) Ping() error { return c.calls.Call("Control.Ping", true, new(struct{})) }

// Close asks the plugin to end, and ends the connection. It returns when all goroutines of the
// client have ended; the error is that of the request.
func (c *Client) Close() error {
	err := c.calls.Call("Control.Quit", true, new(struct{}))
	_ = c.calls.Close()
	_ = c.session.Close()
	c.running.Wait()
	return err
}
