package httpserver

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
)

// refusedEvery is how often at most the log says that connections were refused.
const refusedEvery = time.Minute

// A connLimiter limits the open connections, in total and of each address. The total
// leaves descriptors for servers, plugins and files.
type connLimiter struct {
	net.Listener
	most     int // of one address; 0: no limit
	total    int // of all; 0: no limit
	polite   bool
	loopback bool // counts the addresses of this machine
	spare    func() bool
	log      hclog.Logger
	left     chan struct{} // holds a token when a connection was closed

	mu      sync.Mutex
	all     int                  // guarded by mu; open connections
	open    map[netip.Prefix]int // guarded by mu; of each address
	refused [3]refusals          // guarded by mu; by reason
}

// Reasons for which connections are refused.
const (
	addressFull = iota
	allFull
	noDescriptors
)

// refusals count what was refused for one reason since the log said so.
type refusals struct {
	count int
	said  time.Time
}

// limited limits the connections of l. spare closes a connection that nobody uses,
// and reports whether there was one. Where clients speak HTTP without TLS, polite,
// those that are refused for want of descriptors are told.
func (f *Server) limited(l net.Listener, polite bool, spare func() bool) net.Listener {
	return &connLimiter{
		Listener: l, most: f.o.Connections, total: connectionsWithin(descriptors()), polite: polite, loopback: f.o.Loopback,
		spare: spare, log: f.o.Log, left: make(chan struct{}, 1), open: map[netip.Prefix]int{},
	}
}

const (
	leastReserve = 32   // descriptors that are not for clients
	mostReserve  = 4096 // of a quarter

	// spareTime is how long an accepted connection waits for the end of an idle one
	// that makes room for it.
	spareTime = 100 * time.Millisecond
)

// connectionsWithin returns how many of the process's descriptors are for clients:
// three quarters, but at least 32 and at most 4096 are for everything else. It is
// 0 when the number of descriptors is not known.
func connectionsWithin(descriptors int) int {
	reserve := min(max(descriptors/4, leastReserve), mostReserve)
	return max(descriptors-reserve, descriptors/2)
}

func (c *connLimiter) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			c.failed(err)
			return nil, err
		}
		from, counted := network(conn.RemoteAddr().String(), c.loopback)
		counted = counted && c.most > 0
		full := c.isFull() && !c.makeRoom()
		if !full && c.enter(from, counted) {
			return &quotaMember{Conn: conn, leave: sync.OnceFunc(func() { c.leave(from, counted) })}, nil
		}
		if full && c.polite {
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // it fits the empty socket
			_, _ = io.WriteString(conn, noConnection)
		}
		_ = conn.Close()
	}
}

// noConnection answers a client for whom there is no descriptor.
var noConnection = func() string {
	text := string(errCrowdedOut.body(false))
	return "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: " +
		strconv.Itoa(len(text)) + "\r\n\r\n" + text
}()

// failed notes that the system has no descriptor for a connection. net/http tries
// again a little later.
func (c *connLimiter) failed(err error) {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refuse(noDescriptors, "the system has no file descriptor for another connection", "error", err, "open", c.all)
	}
}

// enter counts a connection, unless there are enough.
func (c *connLimiter) enter(from netip.Prefix, counted bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if counted && c.open[from] >= c.most {
		c.refuse(addressFull, "refused connections of an address that has as many as it may have", "from", from.String(), "open", c.most)
		return false
	}
	c.all++
	if counted {
		c.open[from]++
	}
	return true
}

func (c *connLimiter) isFull() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total > 0 && c.all >= c.total
}

// makeRoom ends a connection that nobody uses, and reports whether there is room
// now. Where there is none, it notes that a connection is refused.
func (c *connLimiter) makeRoom() bool {
	if c.spare() {
		wait := time.NewTimer(spareTime)
		defer wait.Stop()
		for c.isFull() {
			select {
			case <-c.left:
				continue
			case <-wait.C:
			}
			break
		}
		if !c.isFull() {
			return true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse(allFull, "refused connections: the others take the file descriptors that are for clients", "open", c.all, "limit", c.total)
	return false
}

// refuse counts what is refused and says so now and then. The caller holds mu.
func (c *connLimiter) refuse(reason int, message string, pairs ...any) {
	r := &c.refused[reason]
	r.count++
	if now := time.Now(); now.Sub(r.said) >= refusedEvery {
		c.log.Warn(message, append(pairs, "refused", r.count)...)
		r.count, r.said = 0, now
	}
}

func (c *connLimiter) leave(from netip.Prefix, counted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	select {
	case c.left <- struct{}{}:
	default:
	}
	if !counted {
		return
	}
	if c.open[from]--; c.open[from] == 0 {
		delete(c.open, from)
	}
}

// A quotaMember is one of the connections of a crowd.
type quotaMember struct {
	net.Conn
	leave func()
	wrote atomic.Bool // since the connection was looked at; see runUnread
}

func (m *quotaMember) Write(p []byte) (int, error) {
	m.wrote.Store(true)
	return m.Conn.Write(p)
}

func (m *quotaMember) Close() error {
	err := m.Conn.Close()
	m.leave()
	return err
}
