package httpserver

import (
	"net"
	"sync"
	"time"
)

// A turn accepts the connections of a socket until Close. Socket.Turn makes it for a Listener,
// whose http.Server accepts and closes. Accept and Close may be called concurrently.
type turn struct {
	*Socket
	once   sync.Once
	closed chan struct{}
}

// Accept returns the next connection. The error is net.ErrClosed after Close.
func (t *turn) Accept() (net.Conn, error) {
	<-t.accepting
	defer func() { t.accepting <- struct{}{} }()
	if isClosed(t.closed) {
		return nil, net.ErrClosed
	}
	conn, err := t.deadlineListener.Accept()
	if err != nil && isClosed(t.closed) {
		return nil, net.ErrClosed
	}
	return conn, err
}

// Close ends the turn. An Accept in progress returns before Close does.
func (t *turn) Close() error {
	t.once.Do(func() {
		close(t.closed)
		_ = t.SetDeadline(time.Now()) // interrupts Accept
		<-t.accepting
		_ = t.SetDeadline(time.Time{})
		t.accepting <- struct{}{}
	})
	return nil
}
