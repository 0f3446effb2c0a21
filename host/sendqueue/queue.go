// Package sendqueue queues the messages to one peer. One goroutine writes them, but for
// small messages that can be written at once.
//
// Senders do not wait for each other's writes, and messages that gather during
// a write are written together. A queue is bounded in bytes and messages. [Queue.Send] waits
// for space. [Queue.TrySend] drops messages that may be lost, and counts them.
//
// Packages upstream, httpserver and stdioserver make queues and close them; the gateway only
// sends. All methods of a Queue may be called concurrently. Send, WaitForSpace and Close may
// wait; TrySend, Offer and Push do not, but for a direct write.
package sendqueue

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/limit"
)

// A Sink writes messages to the peer. The queue calls one method at a time. Write is called by
// the goroutine of the queue, or by a sender in its place.
type Sink interface {
	// Write writes one message, which comes in parts. It may buffer the message
	// until Flush.
	Write(parts ...[]byte) error
	Flush() error
}

// A DirectSink is a Sink that can write without waiting. The sender of a message writes
// it itself then: that saves the change to the goroutine of the queue and back.
type DirectSink interface {
	Sink
	// WriteNow writes a message and flushes it if that needs no wait. It reports false
	// if nothing was written.
	WriteNow(parts ...[]byte) bool
}

// directMost is the size in bytes of the largest message that its sender writes itself.
const directMost = 4 << 10

// maxQueued bounds the messages that wait, because small ones take more memory than their bytes.
const maxQueued = 16 << 10

// ErrClosed means that nothing can be sent any more: the queue was closed or
// the sink failed.
var ErrClosed = errors.New("the connection is closed")

// A Message consists of three parts that are written one after the other.
// Relayed messages are often large, and the parts avoid a copy for a few bytes
// around them. The queue owns it once it has taken it; the caller must not change the bytes any
// more.
type Message struct {
	Head, Body, Tail []byte
	// Transient means that the message is worthless later, such as a progress
	// notification. An event log need not keep it for a peer that reconnects.
	Transient bool
	// Sent, when not nil, becomes true before any part of the message is
	// written. While it is false the peer has not seen the message.
	Sent *atomic.Bool
	// Withdrawn, when not nil and true when the message's turn comes, makes the
	// queue skip the message. A caller that sets it and then finds Sent false
	// knows that the peer will never see the message.
	Withdrawn *atomic.Bool
	// Hold, when not nil, is the memory that the message takes. The queue
	// releases it when the message was written or dropped. The queue counts
	// messages without a Hold while they wait.
	Hold *limit.Hold
}

// Text returns a message in one piece.
func Text(b []byte) Message { return Message{Head: b} }

func (m *Message) size() int { return len(m.Head) + len(m.Body) + len(m.Tail) }

// counted returns the bytes that the queue itself counts for the message: 0 if
// the message has a Hold.
func (m *Message) counted() int {
	if m.Hold != nil {
		return 0
	}
	return m.size()
}

// A Queue holds messages until its goroutine has written them. Its methods may
// be called concurrently. Its maker must call Close.
type Queue struct {
	sink   Sink
	direct DirectSink // the sink; nil if it cannot write directly
	bytes  int        // capacity
	memory *limit.Memory

	mu         sync.Mutex
	queue      []Message     // guarded by mu
	held       int           // guarded by mu; bytes in queue
	writing    bool          // guarded by mu; a goroutine uses the sink
	unused     sync.Cond     // on mu; signalled when a sender has used the sink
	work       chan struct{} // holds a token if the goroutine may have work
	spaceFreed chan struct{} // guarded by mu; closed and replaced when queued messages are taken
	closed     bool          // guarded by mu
	err        error         // guarded by mu; error of the sink
	dropped    atomic.Uint64
	done       chan struct{}
}

// New returns a queue with a capacity in bytes and starts its goroutine. Queued
// bytes are counted in memory. The goroutine ends with Close or the first error
// of the sink.
func New(sink Sink, bytes int, memory *limit.Memory) *Queue {
	q := &Queue{
		sink: sink, bytes: bytes, memory: memory,
		work: make(chan struct{}, 1), spaceFreed: make(chan struct{}), done: make(chan struct{}),
	}
	q.direct, _ = sink.(DirectSink)
	q.unused.L = &q.mu
	go q.run()
	return q
}

// Send queues a message and waits for space until ctx ends. A message larger
// than the capacity is accepted when the queue is empty. The error is ErrClosed
// or that of ctx.
func (q *Queue) Send(ctx context.Context, m Message) error {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			return ErrClosed
		}
		if q.fits(&m) {
			added := q.add(m)
			q.mu.Unlock()
			return closedUnless(added)
		}
		spaceFreed := q.spaceFreed
		q.mu.Unlock()
		select {
		case <-spaceFreed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Offer queues a message if there is space. It reports false if there is none or the
// queue is closed.
func (q *Queue) Offer(m Message) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.closed && q.fits(&m) && q.add(m)
}

func closedUnless(added bool) error {
	if added {
		return nil
	}
	return ErrClosed
}

// fits reports whether there is space for a message. The caller holds mu.
func (q *Queue) fits(m *Message) bool {
	return q.held == 0 || q.held+m.size() <= q.bytes && len(q.queue) < maxQueued
}

// TrySend queues a message that may be lost, and reports whether it did. It
// drops and counts the message if the queue is half full or the memory is full.
func (q *Queue) TrySend(m Message) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.held > 0 && (q.held+m.size() > q.bytes/2 || len(q.queue) >= maxQueued/2) || q.memory.Full() {
		q.dropped.Add(1)
		return false
	}
	return q.add(m)
}

// WaitForSpace waits until the queue is within its capacity, or until ctx ends.
// The error is ErrClosed or that of ctx.
func (q *Queue) WaitForSpace(ctx context.Context) error {
	for {
		q.mu.Lock()
		free, closed, spaceFreed := q.held <= q.bytes, q.closed, q.spaceFreed
		q.mu.Unlock()
		switch {
		case closed:
			return ErrClosed
		case free:
			return nil
		}
		select {
		case <-spaceFreed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Push queues a message even above the capacity. It is for messages that are
// bounded by other means, such as one answer for each request in flight. The
// error is ErrClosed.
func (q *Queue) Push(m Message) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	return closedUnless(q.add(m))
}

// add writes a message at once or queues it. The caller holds mu, which add releases
// while it writes. It reports false, and drops the message, if the queue was closed then.
func (q *Queue) add(m Message) bool {
	if q.direct != nil && !q.writing && len(q.queue) == 0 && m.size() <= directMost {
		if q.writeNow(&m) {
			return true
		}
		if q.closed { // the goroutine may have ended
			m.Hold.Release()
			return false
		}
	}
	q.queue = append(q.queue, m)
	q.held += m.size()
	q.memory.Count(m.counted())
	select {
	case q.work <- struct{}{}:
	default:
	}
	return true
}

// Dropped returns the number of messages that TrySend dropped.
func (q *Queue) Dropped() uint64 { return q.dropped.Load() }

// Close writes the queued messages and returns when that is done or has failed.
// Nothing can be sent afterwards. The error is that of the sink.
func (q *Queue) Close() error {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.spaceFreed)
		close(q.work)
	}
	q.mu.Unlock()
	<-q.done
	return q.Err()
}

// Done returns a channel that is closed when the goroutine has ended.
func (q *Queue) Done() <-chan struct{} { return q.done }

// Err returns the error of the sink that ended the queue, or nil.
func (q *Queue) Err() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

// writeNow writes a message and reports whether it did. The caller holds mu and the
// queue is empty. Messages that others queue meanwhile stay behind it.
func (q *Queue) writeNow(m *Message) bool {
	q.writing = true
	q.mu.Unlock()
	written := !m.begin() || q.direct.WriteNow(m.Head, m.Body, m.Tail)
	if written {
		m.Hold.Release()
	} else if m.Sent != nil {
		m.Sent.Store(false)
	}
	q.mu.Lock()
	q.writing = false
	q.unused.Signal()
	return written
}

// run writes queued messages until Close or an error of the sink, on a goroutine of its own.
func (q *Queue) run() {
	defer close(q.done)
	var batch []Message
	for range q.work {
		for {
			q.mu.Lock()
			for q.writing { // by a sender, which does not wait
				q.unused.Wait()
			}
			batch, q.queue = q.queue, batch[:0]
			if q.held > 0 && !q.closed {
				close(q.spaceFreed)
				q.spaceFreed = make(chan struct{})
			}
			q.held = 0
			q.writing = len(batch) > 0
			q.mu.Unlock()
			if len(batch) == 0 {
				break
			}
			err := q.write(batch)
			q.release(batch)
			if err != nil {
				q.fail(err)
				return
			}
			q.mu.Lock()
			q.writing = false
			q.mu.Unlock()
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.writing {
		q.unused.Wait()
	}
}

// begin marks a message as sent. It reports false if the message was withdrawn.
func (m *Message) begin() bool {
	if m.Sent != nil {
		m.Sent.Store(true) // before the check of Withdrawn
	}
	return m.Withdrawn == nil || !m.Withdrawn.Load()
}

func (q *Queue) write(batch []Message) error {
	for _, m := range batch {
		if !m.begin() {
			continue
		}
		if err := q.sink.Write(m.Head, m.Body, m.Tail); err != nil {
			return err
		}
	}
	return q.sink.Flush()
}

// release returns the memory of messages and clears them.
func (q *Queue) release(messages []Message) {
	for i := range messages {
		q.memory.Count(-messages[i].counted())
		messages[i].Hold.Release()
	}
	clear(messages)
}

// Purge drops withdrawn messages that are queued, to free their memory. Senders
// that wait for space keep waiting, because the peer does not read.
func (q *Queue) Purge() {
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := q.queue[:0]
	for _, m := range q.queue {
		if m.Withdrawn == nil || !m.Withdrawn.Load() {
			kept = append(kept, m)
			continue
		}
		q.held -= m.size()
		q.release([]Message{m})
	}
	clear(q.queue[len(kept):])
	q.queue = kept
}

// fail closes the queue after an error of the sink and drops all messages.
func (q *Queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.release(q.queue)
	q.err, q.queue, q.held = err, nil, 0
	if !q.closed {
		q.closed = true
		close(q.spaceFreed)
		close(q.work)
	}
}
