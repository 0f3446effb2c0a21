package plugin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/wire"
)

// A Request asks for a connection to one server.
type Request struct {
	Spec      Spec
	Component string // which of the plugin's transports
	Server    string // the label of the server block
	Settings  []byte
	Dir       string
	Env       []string // NAME=value, what the settings asked for by name
	// MaxMessage bounds messages in either direction, in bytes.
	MaxMessage int
	Grant      sdk.Host // what the plugin may ask for on behalf of this server
}

// A Connection is one open channel to an upstream, through a plugin. One
// goroutine reads, one writes; Close and Status may be called at any time.
type Connection struct {
	sup        *Supervisor
	proc       *proc
	link       *link
	stream     *wire.Stream
	instance   string
	capability string
	closing    sync.Once
	released   sync.Once
}

// writeTime is how long a message may wait for a server that does not read. A
// connection whose write timed out holds half a message and is of no use.
const writeTime = 60 * time.Second

var instances atomic.Uint64

// Open opens a connection, starting the plugin when need be.
func (s *Supervisor) Open(ctx context.Context, r Request) (*Connection, error) {
	p, err := s.process(r.Spec)
	if err != nil {
		return nil, err
	}
	l, err := p.get(ctx)
	if err != nil {
		return nil, err
	}
	c := &Connection{
		sup: s, proc: p, link: l, instance: fmt.Sprintf("%s#%d", r.Server, instances.Add(1)), capability: rand.Text(),
	}
	s.grant(c.capability, r.Grant)
	c.stream, err = l.wire.Open(ctx, wire.OpenArgs{
		Component: r.Component, Server: r.Server, Instance: c.instance, Settings: r.Settings, Dir: r.Dir, Env: r.Env,
		MaxMessage: r.MaxMessage, Capability: c.capability,
	})
	if err != nil {
		c.release()
		return nil, c.failed(err)
	}
	return c, nil
}

func (s *Supervisor) grant(capability string, h sdk.Host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants[capability] = h
}

func (s *Supervisor) revoke(capability string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.grants, capability)
}

// Read returns the next message. An error is the end, and says how it came,
// except for a [*Dropped].
func (c *Connection) Read() ([]byte, error) {
	for {
		msg, ev, err := c.stream.Read()
		switch {
		case err != nil:
			return nil, c.ended(err)
		case ev == nil:
			return msg, nil
		case ev.Name == "dropped":
			return nil, &Dropped{Reason: ev.Reason, Size: ev.Size, Limit: ev.Limit, Prefix: ev.Prefix}
		case ev.Name == "closed":
			if ev.Status == nil {
				return nil, io.EOF
			}
			return nil, asFault(ev.Status.Err())
		}
	}
}

// Dropped reports a message from the server that was not delivered. The
// connection goes on.
type Dropped struct {
	Reason      string
	Size, Limit int64
	Prefix      []byte // how the message began
}

func (d *Dropped) Error() string {
	if d.Limit > 0 {
		return fmt.Sprintf("it has %d bytes, %d are allowed", d.Size, d.Limit)
	}
	return d.Reason
}

// Cut returns how the message began and why it is missing.
func (d *Dropped) Cut() (prefix []byte, why string) { return d.Prefix, d.Reason }

// ended explains why a stream ended without a word from the plugin.
func (c *Connection) ended(err error) error {
	t := time.NewTimer(afterDeath)
	defer t.Stop()
	select {
	case <-c.link.exited():
		return c.link.gone()
	case <-t.C:
	}
	if errors.Is(err, wire.ErrProtocol) {
		return fault.Because(fault.PluginBroken, err, "reading from the plugin")
	}
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return fault.Because(fault.PluginExited, err, "reading from the plugin")
}

// Write adds a message, in parts, to what Flush sends. It holds no CR or LF.
func (c *Connection) Write(parts ...[]byte) error {
	_ = c.stream.SetWriteDeadline(time.Now().Add(writeTime))
	return c.stream.WriteMessage(parts...)
}

// Flush sends what was written.
func (c *Connection) Flush() error { return c.stream.Flush() }

// Close ends the connection: what was written is delivered, then the server
// ends politely within grace, then by force. It returns when nothing is left
// of it, or soon after grace when the plugin does not answer.
func (c *Connection) Close(grace time.Duration) {
	c.closing.Do(func() {
		defer c.release()
		_ = c.stream.Close() // the plugin reads the end after the last message
		ctx, cancel := context.WithTimeout(context.Background(), grace+exitTime)
		defer cancel()
		if err := c.link.wire.Close(ctx, c.instance, grace); err != nil && !exited(c.link) {
			c.link.log.Warn("the plugin did not close a connection", "instance", c.instance, "error", err)
		}
	})
}

func (c *Connection) release() {
	c.released.Do(func() {
		c.sup.revoke(c.capability)
		c.proc.put()
	})
}

// Status asks the plugin how the connection is.
func (c *Connection) Status(ctx context.Context) (sdk.ConnStatus, error) {
	st, err := c.link.wire.Status(ctx, c.instance)
	return st, c.failed(err)
}

// failed turns an error of a call to the plugin into a fault.
func (c *Connection) failed(err error) error {
	if err == nil {
		return nil
	}
	if exited(c.link) {
		return c.link.gone()
	}
	return asFault(err)
}

// asFault gives the errors of plugins their codes.
func asFault(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*sdk.Error](err)
	if !ok {
		return err
	}
	f := &fault.Error{Code: fault.UpstreamUnavailable, Message: e.Message, Hint: e.Hint, Output: e.Output, Path: e.Path, Err: err}
	switch {
	case e.Code == sdk.Invalid:
		f.Code, f.Message = fault.UpstreamSettings, err.Error()
	case e.Code == sdk.AuthRequired || e.Code == sdk.NeedsLogin:
		f.Code = fault.UpstreamAuth
	case e.Code == sdk.Panicked || e.Code == sdk.Internal:
		f.Code = fault.PluginBroken
	case e.Code == sdk.Deadline:
		f.Code = fault.UpstreamStartTimeout
	case e.Reason == "plugin_gone":
		f.Code = fault.PluginExited
	case e.Reason == "command_not_found" || e.Reason == "command_not_executable":
		f.Code = fault.UpstreamCommandNotFound
	case e.Reason == "not_started":
		f.Code = fault.UpstreamNotStarted
	case e.Reason == "exited" || e.Reason == "closed_output":
		f.Code = fault.UpstreamExited
	}
	return f
}
