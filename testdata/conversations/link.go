package conversation

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// A Link is an open connection to a server. The host has one end, the test the
// other. It works inside a synctest bubble.
type Link struct {
	// Sent holds the messages of the host that were not read yet, in order.
	Sent chan string

	toHost  chan event
	buffer  []string      // written and not flushed; used by the goroutine that writes
	related []byte        // used by the goroutine that reads
	closed  chan struct{} // closed by Close
	once    sync.Once

	mu    sync.Mutex
	muted chan struct{} // guarded by mu; if not nil, writes block until it is closed
	jam   error         // guarded by mu; error of writes
	grace time.Duration // guarded by mu; argument of Close
}

type event struct {
	msg, related []byte
	err          error
}

// NewLink returns an open link.
func NewLink() *Link {
	return &Link{Sent: make(chan string, 1<<16), toHost: make(chan event, 1<<10), closed: make(chan struct{})}
}

// Say sends any text to the host as a message.
func (l *Link) Say(msg string) { l.emit(event{msg: []byte(msg)}) }

// End ends the link from the server's side. A nil error means io.EOF.
func (l *Link) End(err error) {
	if err == nil {
		err = io.EOF
	}
	l.emit(event{err: err})
}

// Drop reports to the host that a message was dropped.
func (l *Link) Drop(reason, prefix string) { l.emit(event{err: &Dropped{reason, []byte(prefix)}}) }

// Fail reports to the host that a request gets no response.
func (l *Link) Fail(f *Failed) { l.emit(event{err: f}) }

// SayAbout sends a message that is related to a request.
func (l *Link) SayAbout(id, message string) {
	l.emit(event{msg: []byte(message), related: []byte(id)})
}

// Related returns the id that the last message returned by Read is related to.
func (l *Link) Related() []byte { return l.related }

func (l *Link) emit(e event) {
	select {
	case l.toHost <- e:
	case <-l.closed:
	}
}

// Dropped is the error of Read for a message that was dropped.
type Dropped struct {
	Reason string
	Prefix []byte
}

func (d *Dropped) Error() string                               { return d.Reason }
func (d *Dropped) Cut() (prefix, suffix []byte, reason string) { return d.Prefix, nil, d.Reason }

// Failed is the error of Read for a request that gets no response.
type Failed struct {
	ID              string
	Err             error
	Delivered, Ends bool
}

func (f *Failed) Error() string { return f.Err.Error() }

// Unanswered returns the fields, for the host.
func (f *Failed) Unanswered() (id []byte, delivered, ends bool, err error) {
	return []byte(f.ID), f.Delivered, f.Ends, f.Err
}

// Mute makes the server stop or resume reading.
func (l *Link) Mute(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case on && l.muted == nil:
		l.muted = make(chan struct{})
	case !on && l.muted != nil:
		close(l.muted)
		l.muted = nil
	}
}

// Jam makes writes fail with err, like a write deadline. The server can still
// send messages.
func (l *Link) Jam(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jam = err
}

// Closed returns a channel that is closed when the host closes the link.
func (l *Link) Closed() <-chan struct{} { return l.closed }

// Grace returns the grace period that the host passed to Close.
func (l *Link) Grace() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grace
}

// Read returns the next message for the host, or an error.
func (l *Link) Read() ([]byte, error) {
	select {
	case e := <-l.toHost:
		l.related = e.related
		return e.msg, e.err
	case <-l.closed:
		return nil, io.EOF
	}
}

// ErrWrite is the error of writes when the link is closed meanwhile.
var ErrWrite = errors.New("the link is closed")

// Write buffers a message of the host.
func (l *Link) Write(parts ...[]byte) error {
	l.mu.Lock()
	muted, jam := l.muted, l.jam
	l.mu.Unlock()
	if jam != nil {
		return jam
	}
	if muted != nil {
		select {
		case <-muted:
		case <-l.closed:
			return ErrWrite
		}
	}
	msg := string(bytes.Join(parts, nil))
	if strings.ContainsAny(msg, "\r\n") {
		return errors.New("message contains a line break")
	}
	l.buffer = append(l.buffer, msg)
	return nil
}

// Flush sends the buffered messages.
func (l *Link) Flush() error {
	for _, msg := range l.buffer {
		select {
		case l.Sent <- msg:
		case <-l.closed:
			return ErrWrite
		}
	}
	l.buffer = l.buffer[:0]
	return nil
}

// Close closes the link from the host's side.
func (l *Link) Close(grace time.Duration) {
	l.once.Do(func() {
		l.mu.Lock()
		l.grace = grace
		l.mu.Unlock()
		close(l.closed)
	})
}
