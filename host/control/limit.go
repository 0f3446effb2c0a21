package control

import (
	"net"
	"sync"
)

// A limitedListener accepts as many connections at one time as there are places. The
// listener of netutil does the same, but hides the connection that tells the peer.
type limitedListener struct {
	net.Listener
	places chan struct{}
}

// Accept waits for a connection, and for a place for it.
func (l *limitedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.places <- struct{}{}
	return &limitedConn{Conn: c, leave: sync.OnceFunc(func() { <-l.places })}, nil
}

// A limitedConn leaves its place when it is closed.
type limitedConn struct {
	net.Conn
	leave func()
}

// Close closes the connection.
func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}
