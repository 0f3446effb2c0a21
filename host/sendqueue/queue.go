// Package sendqueue queues the messages to one peer. One goroutine writes them.
//
// It keeps senders from waiting for each other's writes, writes what has
// gathered meanwhile at once, and is bounded: by the room it has, which a
// sender waits for, and for messages that may be lost, which are dropped and
// counted.
package sendqueue

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/junctor-mcp/junctor/host/limit"
)

// A Sink is where messages go. Only the outbox writes to it.
type Sink interface {
	// Write may hold the message, which comes in parts, back until Flush.
	Write(parts ...[]byte) error
	Flush() error
}

// ErrClosed is returned when nothing can be sent any more.
var ErrClosed = errors.New("the connection is closed")

// A Message is what is sent: its parts one after the other. What is relayed is
// often large and never copied for the sake of the few bytes around it.
type Message struct {
	Head, Body, Tail []byte
	// Passing says that the message is worth nothing later, as progress is: who
	// keeps messages for a peer that comes back need not keep it.
	Passing bool
	// Sent, when not nil, becomes true before any of the message is written:
	// while it is false the peer has not seen the message.
	Sent *atomic.Bool
	// Withdrawn, when not nil and true by the time the message's turn comes,
	// means that it is no longer wanted. Who sets it and then finds Sent false
	// knows that the peer will never see the message.
	Withdrawn *atomic.Bool
	// Hold, when not nil, is the memory that the message takes. The outbox
	// releases it when the message was written or dropped. Messages without one
	// are counted while they wait.
	Hold *limit.Hold
}

// Text is a message in one piece.
func Text(b []byte) Message { return Message{Head: b} }

func (m *Message) size() int { return len(m.Head) + len(m.Body) + len(m.Tail) }

// counted is what an outbox counts for the message.
func (m *Message) counted() int {
	if m.Hold != nil {
		return 0
	}
	return m.size()
}

// An Queue is a queue of messages. Its methods may be called concurrently.
type Queue struct {
	sink   Sink
	bytes  int // the room there is
	memory *limit.Memory

	mu      sync.Mutex
	queue   []Message     // guarded by mu
	held    int           // guarded by mu; bytes in queue
	work    chan struct{} // holds a token when there may be something to do
	room    chan struct{} // guarded by mu; closed and replaced when room is made
	closed  bool          // guarded by mu
	err     error         // guarded by mu; of the sink
	dropped atomic.Uint64
	done    chan struct{}
}

// New makes an outbox with room for a number of bytes, which it counts in memory
// as they are taken, and starts its goroutine. The goroutine ends with Close or
// the first error of the sink.
func New(sink Sink, bytes int, memory *limit.Memory) *Queue {
	o := &Queue{
		sink: sink, bytes: bytes, memory: memory,
		work: make(chan struct{}, 1), room: make(chan struct{}), done: make(chan struct{}),
	}
	go o.run()
	return o
}

// Send queues a message, waiting for room as long as ctx allows. A message
// larger than the whole room is taken when the queue is empty.
func (o *Queue) Send(ctx context.Context, m Message) error {
	for {
		o.mu.Lock()
		if o.closed {
			o.mu.Unlock()
			return ErrClosed
		}
		if o.held == 0 || o.held+m.size() <= o.bytes {
			o.add(m)
			o.mu.Unlock()
			return nil
		}
		room := o.room
		o.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TrySend queues a message that may be lost: when half the room is taken already,
// or all of the memory, it is dropped and counted.
func (o *Queue) TrySend(m Message) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.held > 0 && o.held+m.size() > o.bytes/2 || o.memory.Full() {
		o.dropped.Add(1)
		return false
	}
	o.add(m)
	return true
}

// Room waits until there is room, as long as ctx allows.
func (o *Queue) Room(ctx context.Context) error {
	for {
		o.mu.Lock()
		free, closed, room := o.held <= o.bytes, o.closed, o.room
		o.mu.Unlock()
		switch {
		case closed:
			return ErrClosed
		case free:
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Push queues a message whatever the room. It is for what is bounded by other
// means, such as one answer for each request in flight.
func (o *Queue) Push(m Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return ErrClosed
	}
	o.add(m)
	return nil
}

// add queues a message. The caller holds mu.
func (o *Queue) add(m Message) {
	o.queue = append(o.queue, m)
	o.held += m.size()
	o.memory.Count(m.counted())
	select {
	case o.work <- struct{}{}:
	default:
	}
}

// Dropped counts the messages that were dropped.
func (o *Queue) Dropped() uint64 { return o.dropped.Load() }

// Close sends what is queued and returns when that is done or has failed.
// Nothing can be sent afterwards.
func (o *Queue) Close() error {
	o.mu.Lock()
	if !o.closed {
		o.closed = true
		close(o.room)
		close(o.work)
	}
	o.mu.Unlock()
	<-o.done
	return o.Err()
}

// Done is closed when nothing is written any more.
func (o *Queue) Done() <-chan struct{} { return o.done }

// Err is the error of the sink that ended the outbox, if one did.
func (o *Queue) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *Queue) run() {
	defer close(o.done)
	var batch []Message
	for range o.work {
		for {
			o.mu.Lock()
			batch, o.queue = o.queue, batch[:0]
			if o.held > 0 && !o.closed {
				close(o.room)
				o.room = make(chan struct{})
			}
			o.held = 0
			o.mu.Unlock()
			if len(batch) == 0 {
				break
			}
			err := o.write(batch)
			o.release(batch)
			if err != nil {
				o.fail(err)
				return
			}
		}
	}
}

func (o *Queue) write(batch []Message) error {
	for _, m := range batch {
		if m.Sent != nil {
			m.Sent.Store(true) // first: see Withdrawn
		}
		if m.Withdrawn != nil && m.Withdrawn.Load() {
			continue
		}
		if err := o.sink.Write(m.Head, m.Body, m.Tail); err != nil {
			return err
		}
	}
	return o.sink.Flush()
}

// release gives the memory of messages back and forgets them.
func (o *Queue) release(messages []Message) {
	for i := range messages {
		o.memory.Count(-messages[i].counted())
		messages[i].Hold.Release()
	}
	clear(messages)
}

// Purge drops the withdrawn messages that wait in the queue, for their memory.
// Senders that wait for room go on waiting: the peer does not read.
func (o *Queue) Purge() {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.queue[:0]
	for _, m := range o.queue {
		if m.Withdrawn == nil || !m.Withdrawn.Load() {
			kept = append(kept, m)
			continue
		}
		o.held -= m.size()
		o.release([]Message{m})
	}
	clear(o.queue[len(kept):])
	o.queue = kept
}

func (o *Queue) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.release(o.queue)
	o.err, o.queue, o.held = err, nil, 0
	if !o.closed {
		o.closed = true
		close(o.room)
		close(o.work)
	}
}
