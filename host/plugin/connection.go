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
	Tenant    string // on whose behalf, where servers are shared by tenant
	Settings  []byte
	Dir       string
	Env       []string // NAME=value, what the settings asked for by name
	// MaxMessage bounds messages in either direction, in bytes.
	MaxMessage int
	Cache      string // where the plugin may keep what can be found out again
	// Grant is what the plugin may ask for on behalf of this server.
	Grant sdk.Host
	// Place returns where in the configuration a setting is, by its path in an
	// error; nil: it is not known.
	Place func(path string) string
}

// A Connection is one open channel to an upstream, through a plugin. One
// goroutine reads, one writes; Close and Status may be called at any time.
type Connection struct {
	proc       *proc
	link       *link
	user       *user
	stream     *wire.Stream
	instance   string
	capability string
	place      func(path string) string // see Request
	closing    sync.Once
	closed     atomic.Bool // by the host
	released   sync.Once

	reading sync.Mutex // held by whoever reads from stream
	over    bool       // guarded by reading; nothing more is read
	related []byte     // of Read's goroutine; the request that the last message belongs to
}

// writeTime is how long a message may wait for a server that does not read. A
// connection whose write timed out holds half a message and is of no use.
const writeTime = 60 * time.Second

var instances atomic.Uint64

// Open opens a connection, starting the plugin when need be.
func (s *Supervisor) Open(ctx context.Context, r Request) (*Connection, error) {
	u := &user{server: r.Server}
	p, l, err := s.acquire(ctx, r.Spec, u)
	if err != nil {
		return nil, err
	}
	c := &Connection{
		proc: p, link: l, user: u, instance: fmt.Sprintf("%s#%d", r.Server, instances.Add(1)), capability: rand.Text(),
		place: r.Place,
	}
	l.grant(c.capability, r.Grant)
	c.stream, err = l.wire.Open(ctx, wire.OpenArgs{
		Component: r.Component, Server: r.Server, Tenant: r.Tenant, Instance: c.instance, Settings: r.Settings, Dir: r.Dir, Env: r.Env,
		MaxMessage: r.MaxMessage, Capability: c.capability, Cache: r.Cache,
	})
	if err != nil {
		c.release()
		if late, ok := errors.AsType[*wire.LateError](err); ok && l.usable() {
			p.work.Go(func() { p.awaitLate(l, late, r.Server) })
			if errors.Is(err, context.DeadlineExceeded) {
				err = fault.Because(fault.UpstreamStartTimeout, err, "plugin %q did not open the connection", r.Spec.Name)
			}
		}
		return nil, l.explain(err)
	}
	c.Watch(func() int { return 0 })
	return c, nil
}

// Watch sets how the connection learns how many requests wait for an answer.
// When the plugin's process ends, that decides which servers are suspected.
func (c *Connection) Watch(inFlight func() int) { c.user.waits.Store(&inFlight) }

// awaitLate waits until a plugin returns from opening a connection that was
// given up. One that does not is ended, unless other servers need it.
func (p *proc) awaitLate(l *link, late *wire.LateError, server string) {
	ctx, cancel := context.WithTimeout(context.Background(), l.limits.hangUp)
	defer cancel()
	defer context.AfterFunc(p.sup.ctx, cancel)()
	if late.Answered(ctx) || !l.usable() || p.sup.ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	others := p.open
	p.mu.Unlock()
	if others > 0 {
		l.log.Warn("the plugin does not return from opening a connection that was given up", "server", server)
		return
	}
	l.blame(server)
	l.condemn(fault.New(fault.PluginUnresponsive, "the plugin did not return from opening a connection to server %q that was given up", server))
}

// Read returns the next message. An error is the end, and says how it came,
// except for a [*Dropped] and a [*Failed].
func (c *Connection) Read() ([]byte, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.related = nil
	for {
		if c.over {
			return nil, io.EOF
		}
		msg, ev, err := c.stream.Read()
		refused, isRefused := errors.AsType[*wire.NotAdmitted](err)
		switch {
		case isRefused:
			return nil, &Dropped{Reason: "overloaded", Size: refused.Size, Prefix: refused.Prefix, Suffix: refused.Suffix}
		case err != nil:
			c.over = true
			return nil, c.ended(err)
		case ev == nil:
			return msg, nil
		case ev.Name == "dropped":
			return nil, &Dropped{Reason: ev.Reason, Size: ev.Size, Limit: ev.Limit, Prefix: ev.Prefix}
		case ev.Name == "related":
			c.related = ev.ID
		case ev.Name == "failed" && ev.Status != nil:
			return nil, &Failed{ID: ev.ID, Err: placed(c.link.asFault(ev.Status.Err()), c.place), Delivered: ev.Delivered, Ends: ev.Ends}
		case ev.Name == "closed":
			c.over = true
			if ev.Status != nil && ev.Status.Code != "" {
				return nil, placed(c.link.asFault(ev.Status.Err()), c.place)
			}
			return nil, io.EOF
		}
	}
}

// Related returns the id of the request that the message which Read returned
// last belongs to, nil where that is not known. The goroutine of Read calls it.
func (c *Connection) Related() []byte { return c.related }

// Failed reports a request that will not be answered. The connection goes on,
// unless it Ends.
type Failed struct {
	ID              []byte
	Err             error
	Delivered, Ends bool
}

func (f *Failed) Error() string { return f.Err.Error() }

// Unanswered returns which request it was and why it failed. It was not
// delivered when the server certainly did not see it; the connection is over
// when it ends.
func (f *Failed) Unanswered() (id []byte, err error, delivered, ends bool) {
	return f.ID, f.Err, f.Delivered, f.Ends
}

// Dropped reports a message from the server that was not delivered. The
// connection goes on.
type Dropped struct {
	Reason      string
	Size, Limit int64
	Prefix      []byte // how the message began
	Suffix      []byte // how it ended, if that is known
}

func (d *Dropped) Error() string {
	if d.Limit > 0 {
		return fmt.Sprintf("it has %d bytes, %d are allowed", d.Size, d.Limit)
	}
	return d.Reason
}

// Cut returns how the message began and ended, as far as that is known, and why
// it is missing.
func (d *Dropped) Cut() (prefix, suffix []byte, why string) { return d.Prefix, d.Suffix, d.Reason }

// Admit sets a function that Read calls with the size of each message before the
// message takes memory. A message that is not admitted becomes a [*Dropped].
func (c *Connection) Admit(admit func(size int) bool) { c.stream.Admit(admit) }

// ended explains why a stream ended without a word from the plugin.
func (c *Connection) ended(err error) error {
	switch {
	case c.closed.Load():
		return io.EOF
	case errors.Is(err, wire.ErrProtocol):
		return fault.Because(fault.PluginBroken, err, "reading from the plugin")
	}
	c.user.remember() // the caller fails its requests next
	if c.link.dies() {
		return c.link.gone()
	}
	return fault.New(fault.PluginBroken, "the plugin ended the connection without saying why")
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
// of it and Read has returned, or soon after grace when the plugin does not
// answer.
func (c *Connection) Close(grace time.Duration) {
	c.closing.Do(func() {
		defer c.release()
		c.closed.Store(true)
		_ = c.stream.Close() // the plugin reads the end after the last message
		ctx, cancel := context.WithTimeout(context.Background(), grace+c.link.limits.exit)
		defer cancel()
		if err := c.link.wire.Close(ctx, c.instance, grace); err != nil && c.link.usable() {
			c.link.log.Warn("the plugin did not close a connection", "instance", c.instance, "error", err)
			c.link.stuck.Store(true)
		}
		c.drain()
		c.stream.Leave()
	})
}

// drain returns when the plugin has ended its side of the stream too. One that
// does not is stuck and is ended itself: whoever reads would wait for ever, or
// for five minutes where yamux is between.
func (c *Connection) drain() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.reading.Lock()
		defer c.reading.Unlock()
		for !c.over {
			_, _, err := c.stream.Read()
			_, goesOn := errors.AsType[*wire.NotAdmitted](err)
			c.over = err != nil && !goesOn
		}
	}()
	t := time.NewTimer(c.link.limits.hangUp)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		c.link.blame(c.user.server)
		c.link.condemn(fault.New(fault.PluginUnresponsive, "the plugin did not end a connection that was closed"))
		<-done
	}
}

func (c *Connection) release() {
	c.released.Do(func() {
		c.link.revoke(c.capability)
		release(c.proc, c.link, c.user)
	})
}

// Said asks the plugin what the server has printed besides messages.
func (c *Connection) Said(ctx context.Context) (stderr []string, junk uint64) {
	st, err := c.Status(ctx)
	if err != nil {
		return nil, 0
	}
	return st.Stderr, st.Dropped
}

// Status asks the plugin how the connection is.
func (c *Connection) Status(ctx context.Context) (sdk.ConnStatus, error) {
	st, err := c.link.wire.Status(ctx, c.instance)
	for i, line := range st.Stderr {
		st.Stderr[i] = c.link.conceal.hide(line)
	}
	return st, c.link.explain(err)
}
