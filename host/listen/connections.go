package listen

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// refusedEvery is how often at most the log says that connections were refused.
const refusedEvery = time.Minute

// A crowd is the open connections of each address, which are so many at most: one
// that opens more would take the memory and the descriptors of all.
type crowd struct {
	net.Listener
	most     int
	loopback bool // counts those of this machine
	log      hclog.Logger

	mu      sync.Mutex
	open    map[netip.Prefix]int // guarded by mu
	refused int                  // guarded by mu; since the log said so
	said    time.Time            // guarded by mu
}

// limited lets so many connections of each address in at l.
func (f *Front) limited(l net.Listener) net.Listener {
	if f.o.Connections == 0 {
		return l
	}
	return &crowd{Listener: l, most: f.o.Connections, loopback: f.o.Loopback, log: f.o.Log, open: map[netip.Prefix]int{}}
}

func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from, counted := network(conn.RemoteAddr().String(), c.loopback)
		if !counted {
			return conn, nil
		}
		if c.enter(from) {
			return &member{Conn: conn, leave: sync.OnceFunc(func() { c.leave(from) })}, nil
		}
		_ = conn.Close()
	}
}

// enter counts a connection, unless there are enough of its address.
func (c *crowd) enter(from netip.Prefix) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[from] < c.most {
		c.open[from]++
		return true
	}
	c.refused++
	if now := time.Now(); now.Sub(c.said) >= refusedEvery {
		c.log.Warn("refused connections of an address that has as many as it may have", "from", from.String(), "open", c.most, "refused", c.refused)
		c.refused, c.said = 0, now
	}
	return false
}

func (c *crowd) leave(from netip.Prefix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[from]--; c.open[from] == 0 {
		delete(c.open, from)
	}
}

// A member is one of the connections of an address.
type member struct {
	net.Conn
	leave func()
}

func (m *member) Close() error {
	m.leave()
	return m.Conn.Close()
}
