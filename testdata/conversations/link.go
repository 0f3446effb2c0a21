package conversation

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// A Link is an open channel to a server; the host has one end, the test the
// other. It works inside a synctest bubble.
type Link struct {
	// Sent holds what the host sent and nobody has looked at, in order.
	Sent chan string

	toHost  chan event
	buffer  []string      // written, not flushed; of the goroutine that writes
	related []byte        // of the goroutine that reads
	closed  chan struct{} // by the host
	once    sync.Once

	mu    sync.Mutex
	muted chan struct{} // guarded by mu; while not nil the server does not read
	jam   error         // guarded by mu; what writing fails with
	grace time.Duration // guarded by mu; that Close was called with
}

type event struct {
	msg, related []byte
	err          error
}

// NewLink makes a link.
func NewLink() *Link {
	return &Link{Sent: make(chan string, 1<<16), toHost: make(chan event, 1<<10), closed: make(chan struct{})}
}

// Say sends the host a message, whatever stands in it.
func (l *Link) Say(msg string) { l.emit(event{msg: []byte(msg)}) }

// End ends the link from the server's side; nil is the end of its output.
func (l *Link) End(err error) {
	if err == nil {
		err = io.EOF
	}
	l.emit(event{err: err})
}

// Drop tells the host of a message that was not delivered.
func (l *Link) Drop(reason, prefix string) { l.emit(event{err: &Dropped{reason, []byte(prefix)}}) }

// Fail tells the host of a request that will not be answered.
func (l *Link) Fail(f *Failed) { l.emit(event{err: f}) }

// SayAbout makes the server say something that belongs to a request.
func (l *Link) SayAbout(id, message string) {
	l.emit(event{msg: []byte(message), related: []byte(id)})
}

// Related is what the message that Read returned last belongs to.
func (l *Link) Related() []byte { return l.related }

func (l *Link) emit(e event) {
	select {
	case l.toHost <- e:
	case <-l.closed:
	}
}

// Dropped is an error of Read for one message.
type Dropped struct {
	Reason string
	Prefix []byte
}

func (d *Dropped) Error() string                               { return d.Reason }
func (d *Dropped) Cut() (prefix, suffix []byte, reason string) { return d.Prefix, nil, d.Reason }

// Failed is an error of Read for one request.
type Failed struct {
	ID              string
	Err             error
	Delivered, Ends bool
}

func (f *Failed) Error() string { return f.Err.Error() }

// Unanswered is what the host asks it.
func (f *Failed) Unanswered() (id []byte, err error, delivered, ends bool) {
	return []byte(f.ID), f.Err, f.Delivered, f.Ends
}

// Mute makes the server stop reading what the host writes, or begin again.
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

// Jam makes writing fail, as after a deadline, while the server goes on saying
// things.
func (l *Link) Jam(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.jam = err
}

// Closed is closed when the host has closed the link.
func (l *Link) Closed() <-chan struct{} { return l.closed }

// Grace is how long the host gave the server to end.
func (l *Link) Grace() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grace
}

// Read returns the next message for the host.
func (l *Link) Read() ([]byte, error) {
	select {
	case e := <-l.toHost:
		l.related = e.related
		return e.msg, e.err
	case <-l.closed:
		return nil, io.EOF
	}
}

// ErrWrite is what writing fails with when the link is closed meanwhile.
var ErrWrite = errors.New("nobody reads")

// Write takes a message of the host.
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
		return errors.New("a message with a line break in it")
	}
	l.buffer = append(l.buffer, msg)
	return nil
}

// Flush delivers what was written.
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

// Close ends the link from the host's side.
func (l *Link) Close(grace time.Duration) {
	l.once.Do(func() {
		l.mu.Lock()
		l.grace = grace
		l.mu.Unlock()
		close(l.closed)
	})
}
