package httpserver

import (
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// A Rate is how many requests a second there may be, and how many at once. The
// zero value is no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// maxAddresses bounds the addresses that are remembered. The one that was heard
// of least recently is forgotten first.
const maxAddresses = 10_000

// addresses counts the requests of each address.
type addresses struct {
	rate     Rate
	loopback bool // counts those of this machine

	mu   sync.Mutex
	seen *simplelru.LRU[netip.Prefix, *rate.Limiter] // guarded by mu
}

func newAddresses(o Options) *addresses {
	seen, err := simplelru.NewLRU[netip.Prefix, *rate.Limiter](maxAddresses, nil)
	if err != nil {
		panic(err) // the size is positive
	}
	return &addresses{rate: o.PerAddress, loopback: o.Loopback, seen: seen}
}

// networkBits is how much of an address of IP version 6 belongs to one
// customer.
const networkBits = 64

// take counts a request. When there were too many, it says how long to wait.
func (a *addresses) take(remote string) (wait time.Duration, ok bool) {
	if a.rate.PerSecond == 0 {
		return 0, true
	}
	from, counted := network(remote, a.loopback)
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

// network is what counts as one address. What is not counted is no address, like
// a unix socket, or one of this machine.
func network(remote string, loopback bool) (of netip.Prefix, counted bool) {
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

func (a *addresses) limiter(network netip.Prefix) *rate.Limiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	l, ok := a.seen.Get(network)
	if !ok {
		l = rate.NewLimiter(rate.Limit(a.rate.PerSecond), a.rate.Burst)
		a.seen.Add(network, l)
	}
	return l
}
