package httpconn

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
)

// reportInterval is the shortest interval between two log messages about refused
// connections, for each reason.
const reportInterval = time.Minute

// A limiter is a listener that limits the open connections, in total and per
// address. The total leaves file descriptors for servers, plugins and files. A Listener has
// one. One goroutine accepts; connections are released from any.
type limiter struct {
	net.Listener
	conns       *connSet // have the limit per address; idle ones are closed to make space
	total       int      // 0: no limit
	addressKey  func(remote string) (key netip.Prefix, counted bool)
	unavailable []byte // response above the total limit; nil: none
	log         hclog.Logger
	closed      chan struct{} // holds a token after a connection was closed

	mu      sync.Mutex
	open    int                  // guarded by mu
	openOf  map[netip.Prefix]int // guarded by mu; open connections by address
	refused [3]refusals          // guarded by mu; by reason
}

// Reasons for refusing a connection.
const (
	addressLimit = iota
	totalLimit
	noDescriptors
)

// refusals counts the connections that were refused for one reason since the last
// log message about it.
type refusals struct {
	count    int
	reported time.Time
}

func newLimiter(
	l net.Listener, conns *connSet, addressKey func(remote string) (key netip.Prefix, counted bool), log hclog.Logger,
) *limiter {
	return &limiter{
		Listener: l, conns: conns, total: connectionsWithin(descriptors()), addressKey: addressKey, log: log,
		closed: make(chan struct{}, 1), openOf: map[netip.Prefix]int{},
	}
}

// unavailableResponse returns a response with status 503 and a JSON body.
func unavailableResponse(body []byte) []byte {
	return fmt.Appendf(nil,
		"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"+
			"Retry-After: 1\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

const (
	// minReserve and maxReserve bound the number of descriptors that are not for
	// clients.
	minReserve = 32
	maxReserve = 4096

	// closeWait is how long an accepted connection waits until an idle one has been
	// closed.
	closeWait = 100 * time.Millisecond
)

// connectionsWithin returns how many of the process's descriptors are for clients.
// A quarter is reserved, at least minReserve and at most maxReserve, but never more
// than half. It returns 0 if the number of descriptors is not known.
func connectionsWithin(descriptors int) int {
	reserve := min(max(descriptors/4, minReserve), maxReserve)
	return max(descriptors-reserve, descriptors/2)
}

func (l *limiter) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			l.reportAcceptError(err)
			return nil, err
		}
		key, counted := l.addressKey(conn.RemoteAddr().String())
		full := l.isFull() && !l.makeSpace()
		if !full && l.acquire(key, counted) {
			return &countedConn{Conn: conn, release: sync.OnceFunc(func() { l.release(key, counted) })}, nil
		}
		if full && l.unavailable != nil {
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // the empty send buffer takes it at once
			_, _ = conn.Write(l.unavailable)
		}
		_ = conn.Close()
	}
}

// reportAcceptError logs that the system has no descriptor for a connection.
// net/http retries Accept a little later.
func (l *limiter) reportAcceptError(err error) {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refuse(noDescriptors, "the system has no file descriptor for another connection",
			"error", err, "open", l.open)
	}
}

// acquire counts a connection and reports whether its address is within its
// limit.
func (l *limiter) acquire(key netip.Prefix, counted bool) bool {
	most := l.conns.limits.Load().PerAddress
	l.mu.Lock()
	defer l.mu.Unlock()
	if counted && most > 0 && l.openOf[key] >= most {
		l.refuse(addressLimit, "refused connections: an address has reached its connection limit",
			"from", key.String(), "open", most)
		return false
	}
	l.open++
	if counted {
		l.openOf[key]++
	}
	return true
}

func (l *limiter) isFull() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total > 0 && l.open >= l.total
}

// makeSpace closes an idle connection and reports whether another connection fits
// then. If not, it counts the refused connection.
func (l *limiter) makeSpace() bool {
	if l.conns.closeIdle() {
		wait := time.NewTimer(closeWait)
		defer wait.Stop()
		for l.isFull() {
			select {
			case <-l.closed:
				continue
			case <-wait.C:
			}
			break
		}
		if !l.isFull() {
			return true
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse(totalLimit, "refused connections: all file descriptors for clients are in use",
		"open", l.open, "limit", l.total)
	return false
}

// refuse counts a refused connection, and logs the count once per reportInterval.
// The caller holds mu.
func (l *limiter) refuse(reason int, message string, pairs ...any) {
	r := &l.refused[reason]
	r.count++
	if now := time.Now(); now.Sub(r.reported) >= reportInterval {
		l.log.Warn(message, append(pairs, "refused", r.count)...)
		r.count, r.reported = 0, now
	}
}

func (l *limiter) release(key netip.Prefix, counted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	select {
	case l.closed <- struct{}{}:
	default:
	}
	if !counted {
		return
	}
	if l.openOf[key]--; l.openOf[key] == 0 {
		delete(l.openOf, key)
	}
}
