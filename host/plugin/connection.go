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

// A Request describes the connection to one server. It does not change once it was passed.
// Place may be called concurrently.
type Request struct {
	Spec      Spec
	Component string // the transport of the plugin
	Server    string // label of the server block
	Tenant    string // the tenant, if servers are shared by tenant
	Settings  []byte
	Dir       string
	Env       []string // NAME=value, for the variables that the settings name
	// MaxMessage is the maximum size of a message in both directions, in bytes.
	MaxMessage int
	Cache      string   // directory for data that the plugin can regenerate
	Private    []string // files that programs which clients control must neither read nor change
	Protected  []string // files that they must not change
	Changeable []string // directories that programs which clients control may change
	// Grant lists the services that the plugin may use for this server.
	Grant sdk.Host
	// Place returns the position of a setting in the configuration, given its path
	// in an error. It may be nil.
	Place func(path string) string
}

// A Connection is a connection to an upstream through a plugin. One goroutine reads
// and one writes. Close and Status may be called concurrently. It is the upstream.Link of a
// server; the upstream that opened it must call Close, which may be called more than once.
type Connection struct {
	proc       *proc
	link       *link
	user       *processUser
	stream     *wire.Stream
	instance   string
	capability string
	place      func(path string) string // see Request
	closing    sync.Once
	closed     atomic.Bool // closed by the host
	released   sync.Once

	reading  sync.Mutex // held while reading from stream
	readDone bool       // guarded by reading; the stream has ended
	related  []byte     // used by Read's goroutine; see Related
}

// writeTime is the timeout of a write. A connection whose write timed out has sent a
// partial message and is unusable.
const writeTime = 60 * time.Second

var instances atomic.Uint64

// Open opens a connection and starts the plugin if necessary. It blocks until the plugin has
// opened the server or ctx ends.
func (s *Supervisor) Open(ctx context.Context, r Request) (*Connection, error) {
	u := &processUser{server: r.Server}
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
		Component: r.Component, Server: r.Server, Tenant: r.Tenant, Instance: c.instance, Settings: r.Settings,
		Dir: r.Dir, Env: r.Env,
		MaxMessage: r.MaxMessage, Capability: c.capability, Cache: r.Cache, Private: r.Private, Protected: r.Protected,
		Changeable: r.Changeable,
	})
	if err != nil {
		c.release()
		if late, ok := errors.AsType[*wire.LateError](err); ok && l.usable() {
			p.work.Go(func() { p.awaitLate(l, late, r.Server) })
			if errors.Is(err, context.DeadlineExceeded) {
				err = fault.Because(fault.UpstreamStartTimeout, err,
					"plugin %q did not open the connection", r.Spec.Name)
			}
		}
		return nil, l.explain(err)
	}
	c.Watch(func() int { return 0 })
	through := "the plugin"
	if c.stream.Piped() {
		through = "the server's own streams"
	}
	l.log.Debug("opened a connection", "server", r.Server, "messages_through", through)
	return c, nil
}

// Watch sets the function that returns the number of unanswered requests. If the
// process ends, servers with unanswered requests are suspected first.
func (c *Connection) Watch(inFlight func() int) { c.user.unanswered.Store(&inFlight) }

// awaitLate waits for a plugin to return from an abandoned Open. If it does not, the
// process is ended, unless other servers use it. It runs on a goroutine of its own.
func (p *proc) awaitLate(l *link, late *wire.LateError, server string) {
	ctx, cancel := context.WithTimeout(context.Background(), l.limits.closeStream)
	defer cancel()
	defer context.AfterFunc(p.sup.ctx, cancel)()
	if late.Answered(ctx) || !l.usable() || p.sup.ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	others := p.open
	p.mu.Unlock()
	if others > 0 {
		l.log.Warn("the plugin did not return from an abandoned open", "server", server)
		return
	}
	l.blame(server)
	l.killWith(fault.New(fault.PluginUnresponsive,
		"the plugin did not return from an abandoned open for server %q", server))
}

// Read returns the next message. Any error ends the connection, except for a
// [*Dropped] and a [*Failed].
func (c *Connection) Read() ([]byte, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.related = nil
	for {
		if c.readDone {
			return nil, io.EOF
		}
		msg, ev, err := c.stream.Read()
		refused, isRefused := errors.AsType[*wire.NotAdmitted](err)
		switch {
		case isRefused:
			return nil,
				&Dropped{Reason: "overloaded", Size: refused.Size, Prefix: refused.Prefix, Suffix: refused.Suffix}
		case err != nil:
			c.readDone = true
			return nil, c.endError(err)
		case ev == nil:
			return msg, nil
		case ev.Name == "dropped":
			return nil, &Dropped{Reason: ev.Reason, Size: ev.Size, Limit: ev.Limit,
				Prefix: []byte(c.link.conceal.hide(string(ev.Prefix)))}
		case ev.Name == "related":
			c.related = ev.ID
		case ev.Name == "failed" && ev.Status != nil:
			return nil, &Failed{ID: ev.ID, Err: placed(c.link.asFault(ev.Status.Err()), c.place),
				Delivered: ev.Delivered, Ends: ev.Ends}
		case ev.Name == "closed":
			c.readDone = true
			if ev.Status != nil && ev.Status.Code != "" {
				return nil, placed(c.withJunk(c.link.asFault(ev.Status.Err())), c.place)
			}
			return nil, io.EOF
		}
	}
}

// withJunk adds the server's lines that were not messages to the error of its exit.
func (c *Connection) withJunk(err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	junk := c.stream.Junk()
	if !ok || junk.Count == 0 || f.Code != fault.UpstreamExited {
		return err
	}
	copied := *f
	copied.Output = append(c.shown(junk), f.Output...)
	if copied.Hint == "" {
		copied.Hint = "it wrote lines to standard output that are not messages; a server must log to standard error"
	}
	return &copied
}

// shown returns the kept lines of junk without secrets.
func (c *Connection) shown(junk wire.Junk) (lines []string) {
	for _, line := range junk.Lines {
		lines = append(lines, "(stdout) "+c.link.conceal.hide(line))
	}
	return lines
}

// Related returns the id of the request that the last message of Read belongs to, or
// nil if unknown. Only the goroutine of Read may call it.
func (c *Connection) Related() []byte { return c.related }

// Failed reports a request that gets no response. The connection stays open unless
// Ends is set.
type Failed struct {
	ID              []byte
	Err             error
	Delivered, Ends bool
}

func (f *Failed) Error() string { return f.Err.Error() }

// Unanswered returns the request's id and error. delivered is false if the server
// cannot have received the request. ends is true if the connection ends.
func (f *Failed) Unanswered() (id []byte, delivered, ends bool, err error) {
	return f.ID, f.Delivered, f.Ends, f.Err
}

// Dropped reports a message from the server that was not delivered. The connection
// stays open.
type Dropped struct {
	Reason      string
	Size, Limit int64
	Prefix      []byte // beginning of the message, without secrets
	Suffix      []byte // end of the message, if known
}

func (d *Dropped) Error() string {
	if d.Limit > 0 {
		return fmt.Sprintf("it is longer than %d bytes", d.Limit)
	}
	return d.Reason
}

// Cut returns the beginning and the end of the message, as far as known, and the
// reason why it was dropped.
func (d *Dropped) Cut() (prefix, suffix []byte, why string) { return d.Prefix, d.Suffix, d.Reason }

// Admit sets a function that Read calls with the size of each message before it
// takes memory. A rejected message becomes a [*Dropped]. It must be called before Read.
func (c *Connection) Admit(admit func(size int) bool) { c.stream.Admit(admit) }

// endError returns the error for a stream that ended without a "closed" event.
func (c *Connection) endError(err error) error {
	switch {
	case c.closed.Load():
		return io.EOF
	case errors.Is(err, wire.ErrProtocol):
		return fault.Because(fault.PluginBroken, err, "reading from the plugin")
	}
	c.user.remember() // before the caller fails its requests
	if c.link.ending() {
		return c.link.exitError()
	}
	return fault.New(fault.PluginBroken, "the plugin ended the connection without a reason")
}

// Write appends a message, given in parts, to the buffer. The message must not
// contain CR or LF.
func (c *Connection) Write(parts ...[]byte) error {
	_ = c.stream.SetWriteDeadline(time.Now().Add(writeTime))
	return c.stream.WriteMessage(parts...)
}

// WriteNow sends a message if that needs no wait. It reports false if nothing was
// written, as for connections that have no streams of the server's own.
func (c *Connection) WriteNow(parts ...[]byte) bool { return c.stream.WriteNow(parts...) }

// Flush sends the buffered messages.
func (c *Connection) Flush() error { return c.stream.Flush() }

// Close delivers the buffered messages and closes the connection. The server may exit
// within grace and is killed afterwards. Close returns when the connection is gone and
// Read has returned, or shortly after grace if the plugin does not respond.
func (c *Connection) Close(grace time.Duration) {
	c.closing.Do(func() {
		defer c.release()
		c.closed.Store(true)
		_ = c.stream.Close() // the plugin reads EOF after the last message
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

// drain waits until the plugin has closed its side of the stream. If it does not, drain
// ends the process, because a reader would block (up to five minutes with yamux).
func (c *Connection) drain() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.reading.Lock()
		defer c.reading.Unlock()
		for !c.readDone {
			_, _, err := c.stream.Read()
			_, goesOn := errors.AsType[*wire.NotAdmitted](err)
			c.readDone = err != nil && !goesOn
		}
	}()
	t := time.NewTimer(c.link.limits.closeStream)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		c.link.blame(c.user.server)
		c.link.killWith(fault.New(fault.PluginUnresponsive, "the plugin did not close its side of a connection"))
		<-done
	}
}

func (c *Connection) release() {
	c.released.Do(func() {
		c.link.revoke(c.capability)
		release(c.proc, c.link, c.user)
	})
}

// Output returns the server's last lines on standard error, and the number of its lines
// on standard output that were not messages.
func (c *Connection) Output(ctx context.Context) (stderr []string, junk uint64) {
	st, err := c.Status(ctx)
	if err != nil {
		return nil, 0
	}
	return st.Stderr, st.Dropped
}

// LastStray returns when the server last sent a line that was not a message. It is zero if
// there is none, and if the plugin reads the lines.
func (c *Connection) LastStray() time.Time { return c.stream.Junk().Last }

// Status asks the plugin for the status of the connection.
func (c *Connection) Status(ctx context.Context) (sdk.ConnStatus, error) {
	st, err := c.link.wire.Status(ctx, c.instance)
	for i, line := range st.Stderr {
		st.Stderr[i] = c.link.conceal.hide(line)
	}
	junk := c.stream.Junk()
	st.Stderr = append(c.shown(junk), st.Stderr...)
	st.Dropped += junk.Count
	return st, c.link.explain(err)
}
