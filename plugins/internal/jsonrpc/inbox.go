package jsonrpc

import (
	"context"
	"io"
	"sync"
)

// An Inbox brings together what arrives on several streams. Whoever has
// something waits until it is taken, so that a host that does not read is felt
// by the server.
type Inbox struct {
	items   chan item
	done    chan struct{}
	once    sync.Once
	end     error // valid once done is closed
	related []byte
	before  func()
}

type item struct {
	msg, related []byte
	err          error
}

// NewInbox makes an inbox.
func NewInbox() *Inbox { return &Inbox{items: make(chan item), done: make(chan struct{})} }

// Put hands over a message, which may not be changed afterwards. related is the
// id of the host's request that it belongs to, or nil. It reports whether
// somebody took it.
func (i *Inbox) Put(ctx context.Context, msg, related []byte) bool {
	return i.put(ctx, item{msg: msg, related: related})
}

// Report hands over an error after which things go on.
func (i *Inbox) Report(ctx context.Context, err error) bool { return i.put(ctx, item{err: err}) }

func (i *Inbox) put(ctx context.Context, it item) bool {
	select {
	case i.items <- it:
		return true
	case <-i.done:
	case <-ctx.Done():
	}
	return false
}

// End makes Recv return err; nil is io.EOF. Only the first call counts.
func (i *Inbox) End(err error) {
	i.once.Do(func() {
		i.end = err
		close(i.done)
	})
}

// BeforeWait makes Recv call f before it waits.
func (i *Inbox) BeforeWait(f func()) { i.before = f }

// Recv is the Recv of an sdk.Conn.
func (i *Inbox) Recv() ([]byte, error) {
	select {
	case it := <-i.items:
		return i.take(it)
	default:
	}
	if i.before != nil {
		i.before()
	}
	select {
	case it := <-i.items:
		return i.take(it)
	case <-i.done:
		if i.end == nil {
			return nil, io.EOF
		}
		return nil, i.end
	}
}

func (i *Inbox) take(it item) ([]byte, error) {
	i.related = it.related
	return it.msg, it.err
}

// Related is the Related of an sdk.Conn.
func (i *Inbox) Related() []byte { return i.related }
