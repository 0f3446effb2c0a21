package httpserver

import (
	"io/fs"
	"net"
	"os"
	"sync"
	"time"
)

// A Socket is a bound address. Turns accept its connections, one after another.
type Socket struct {
	deadlineListener
	accepting chan struct{} // holds a token while no turn accepts
}

// A deadlineListener is a *net.TCPListener or a *net.UnixListener.
type deadlineListener interface {
	net.Listener
	SetDeadline(t time.Time) error
}

func newSocket(l deadlineListener) *Socket {
	s := &Socket{deadlineListener: l, accepting: make(chan struct{}, 1)}
	s.accepting <- struct{}{}
	return s
}

// SetMode sets the file mode of a unix socket. It does nothing for another socket.
func (s *Socket) SetMode(mode fs.FileMode) error {
	if s.Addr().Network() != "unix" {
		return nil
	}
	return os.Chmod(s.Addr().String(), mode)
}

// Turn returns a listener for the connections of the socket. Its Close leaves the
// socket open: connections wait for the next turn. Only one turn may be open.
func (s *Socket) Turn() net.Listener { return &turn{Socket: s, closed: make(chan struct{})} }

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
