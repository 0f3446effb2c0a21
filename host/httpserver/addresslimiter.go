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
const maxAddresses = 10_000

// An addressLimiter limits the rate of the requests of each address.
type addressLimiter struct {
	rate     Rate
	loopback bool // also limits addresses of this machine

	mu   sync.Mutex
	seen *simplelru.LRU[netip.Prefix, *rate.Limiter] // guarded by mu
}

func newAddressLimiter(o Options) *addressLimiter {
	seen, err := simplelru.NewLRU[netip.Prefix, *rate.Limiter](maxAddresses, nil)
	if err != nil {
		panic(err) // the size is positive
	}
	return &addressLimiter{rate: o.PerAddress, loopback: o.Loopback, seen: seen}
}

// networkBits is the prefix of an IPv6 address that counts as one customer.
const networkBits = 64

// allow counts a request. If there were too many, it returns how long to wait.
func (a *addressLimiter) allow(remote string) (wait time.Duration, ok bool) {
	if a.rate.PerSecond == 0 {
		return 0, true
	}
	from, counted := addressKey(remote, a.loopback)
	if !counted {
		return 0, true
	}
	r := a.limiter(from).Reserve()
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
	addr := from.Addr().Unmap().WithZone("")
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

func (a *addressLimiter) limiter(network netip.Prefix) *rate.Limiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	l, ok := a.seen.Get(network)
	if !ok {
		l = rate.NewLimiter(rate.Limit(a.rate.PerSecond), a.rate.Burst)
		a.seen.Add(network, l)
	}
	return l
}
