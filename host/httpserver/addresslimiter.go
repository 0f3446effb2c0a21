package httpserver

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// A Rate limits the requests per second and in a burst. The zero value is no
// limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// maxAddresses bounds the addresses that are remembered. The least recently
// used one is forgotten first.
const maxAddresses = 50_000

// An addressLimiter limits the rate of the requests of each address. The admission has one. It
// may be used concurrently.
type addressLimiter struct {
	mu   sync.Mutex
	seen *simplelru.LRU[netip.Prefix, *rate.Limiter] // guarded by mu
}

func newAddressLimiter() *addressLimiter {
	seen, err := simplelru.NewLRU[netip.Prefix, *rate.Limiter](maxAddresses, nil)
	if err != nil {
		panic(err) // the size is positive
	}
	return &addressLimiter{seen: seen}
}

// networkBits is the prefix of an IPv6 address that counts as one customer.
const networkBits = 64

// allow counts a request against the limit for its address. If there were too many,
// it returns how long to wait. With loopback it also limits addresses of this machine.
func (a *addressLimiter) allow(remote string, limit Rate, loopback bool) (wait time.Duration, ok bool) {
	if limit.PerSecond == 0 {
		return 0, true
	}
	from, counted := addressKey(remote, loopback)
	if !counted {
		return 0, true
	}
	return a.take(from, limit)
}

// take counts a request of a network.
func (a *addressLimiter) take(from netip.Prefix, limit Rate) (wait time.Duration, ok bool) {
	r := a.limiter(from, limit).Reserve()
	if wait = r.Delay(); wait > 0 {
		r.Cancel()
		return wait, false
	}
	return 0, true
}

// addressKey returns the prefix that counts as one address. counted is false
// for a unix socket, and for addresses of this machine without loopback.
func addressKey(remote string, loopback bool) (of netip.Prefix, counted bool) {
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return of, false
	}
	return clientNetwork(from.Addr().Unmap().WithZone(""), loopback)
}

// clientNetwork is addressKey for an address without a port.
func clientNetwork(addr netip.Addr, loopback bool) (of netip.Prefix, counted bool) {
	if addr.IsLoopback() && !loopback {
		return of, false
	}
	bits := addr.BitLen()
	if addr.Is6() {
		bits = networkBits
	}
	of, _ = addr.Prefix(bits)
	return of, true
}

// limiter returns the limiter of a network, with the limit that is in effect.
func (a *addressLimiter) limiter(network netip.Prefix, limit Rate) *rate.Limiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	l, ok := a.seen.Get(network)
	if !ok {
		l = rate.NewLimiter(rate.Limit(limit.PerSecond), limit.Burst)
		a.seen.Add(network, l)
	}
	if l.Limit() != rate.Limit(limit.PerSecond) || l.Burst() != limit.Burst {
		l.SetLimit(rate.Limit(limit.PerSecond))
		l.SetBurst(limit.Burst)
	}
	return l
}
