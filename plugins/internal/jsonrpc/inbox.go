package jsonrpc

import (
	"context"
	"io"
	"runtime"
	"sync"
)

// An Inbox merges the messages of several streams into one Recv. Put blocks
// until Recv takes the message, so that a host that does not read slows down
// the server. One goroutine, that of the host, calls Recv and Related; any goroutine
// may call Put and its like, and End. A connection embeds the Inbox and ends it.
type Inbox struct {
	items   chan item
	done    chan struct{}
	once    sync.Once
	end     error // valid after done is closed
	related []byte
	release func() // of the message that Recv returned last; may be nil
	before  func()
}

type item struct {
	msg, related []byte
	release      func()
	err          error
}

// NewInbox returns an empty inbox.
func NewInbox() *Inbox { return &Inbox{items: make(chan item), done: make(chan struct{})} }

// Put passes a message to Recv. The message must not be changed afterwards.
// related is the id of the host's request that it belongs to, or nil. Put
// returns false if the inbox ended or ctx is done first.
func (i *Inbox) Put(ctx context.Context, msg, related []byte) bool {
	return i.put(ctx, item{msg: msg, related: related})
}

// PutLent is like Put, for a message in a buffer that is used again: the Recv after
// the one that returns the message calls release. release may be nil. It is not called
// if PutLent returns false.
func (i *Inbox) PutLent(ctx context.Context, msg []byte, release func()) bool {
	return i.put(ctx, item{msg: msg, release: release})
}

// Report passes an error to Recv that does not end the connection.
func (i *Inbox) Report(ctx context.Context, err error) bool { return i.put(ctx, item{err: err}) }

func (i *Inbox) put(ctx context.Context, it item) bool {
	if ctx.Err() == nil {
		select {
		case i.items <- it: // Recv is waiting
			return true
		default:
		}
	}
	select {
	case i.items <- it:
		return true
	case <-i.done:
	case <-ctx.Done():
	}
	return false
}

// End makes Recv return err; nil means io.EOF. Later calls have no effect.
func (i *Inbox) End(err error) {
	i.once.Do(func() {
		i.end = err
		close(i.done)
	})
}

// BeforeWait makes Recv call f before it blocks.
func (i *Inbox) BeforeWait(f func()) { i.before = f }

// Recv implements sdk.Conn.
func (i *Inbox) Recv() ([]byte, error) {
	if i.release != nil {
		i.release()
		i.release = nil
	}
	for yielded := false; ; yielded = true {
		select {
		case it := <-i.items:
			return i.take(it)
		default:
		}
		if yielded {
			break
		}
		runtime.Gosched() // messages that are almost ready are sent in the same batch
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
	i.related, i.release = it.related, it.release
	return it.msg, it.err
}

// Related implements sdk.Relater.
func (i *Inbox) Related() []byte { return i.related }
