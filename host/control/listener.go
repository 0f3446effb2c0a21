package control

import (
	"net"
	"sync"
	"time"
)

const (
	maxRefused  = 4           // connections of peers that are refused
	refusalTime = time.Second // for a refused peer to send its request and read the answer
)

// A peerListener checks the peer of each connection. It has at most cap(slots) open
// connections of peers that may control this process. Of the others it has at most
// cap(refused), each for refusalTime, so that they cannot keep the former out. It
// closes further connections of refused peers at once. Serve owns it. http.Server calls Accept
// on one goroutine, and Close ends it.
type peerListener struct {
	net.Listener
	check   func(net.Conn) error // returns why a peer is refused, or nil
	slots   chan struct{}
	refused chan struct{}
}

// Accept waits for a slot, and then for a connection. It returns a *peerConn.
func (l *peerListener) Accept() (net.Conn, error) {
	l.slots <- struct{}{}
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.slots
			return nil, err
		}
		refusal := l.check(c)
		if refusal == nil {
			return newPeerConn(c, nil, l.slots), nil
		}
		select {
		case l.refused <- struct{}{}:
			<-l.slots
			pc := newPeerConn(c, refusal, l.refused)
			pc.latest = time.Now().Add(refusalTime)
			_ = pc.SetDeadline(pc.latest) // fails if the peer has left
			return pc, nil
		default:
			_ = c.Close()
		}
	}
}

// A peerConn is a connection whose peer was checked. It releases its slot when it is
// closed.
type peerConn struct {
	net.Conn
	refusal error     // why the peer is refused, or nil
	latest  time.Time // no deadline is later; zero: any can be set
	release func()
}

func newPeerConn(c net.Conn, refusal error, slots chan struct{}) *peerConn {
	return &peerConn{Conn: c, refusal: refusal, release: sync.OnceFunc(func() { <-slots })}
}

// Close closes the connection.
func (c *peerConn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}

// SetDeadline sets the deadline, or latest if that is earlier.
func (c *peerConn) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(c.limit(t)) }

// SetReadDeadline is SetDeadline for reads.
func (c *peerConn) SetReadDeadline(t time.Time) error { return c.Conn.SetReadDeadline(c.limit(t)) }

// SetWriteDeadline is SetDeadline for writes.
func (c *peerConn) SetWriteDeadline(t time.Time) error { return c.Conn.SetWriteDeadline(c.limit(t)) }

func (c *peerConn) limit(t time.Time) time.Time {
	if !c.latest.IsZero() && (t.IsZero() || t.After(c.latest)) {
		return c.latest
	}
	return t
}
