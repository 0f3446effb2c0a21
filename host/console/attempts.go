package console

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	attemptsWindow = time.Minute
	maxAttempts    = 20   // failed ones of a network in a window
	maxNetworks    = 1024 // that are remembered
)

// attempts counts failed sign-ins by the network of the client. Its methods may be called
// concurrently. The Server has one.
type attempts struct {
	mu  sync.Mutex
	all map[netip.Prefix]*failures // guarded by mu
}

// failures are the failed sign-ins of a network since a time.
type failures struct {
	since time.Time
	count int
}

// networkOf returns the network of a client: its address, or /64 for IPv6.
func networkOf(remote string) netip.Prefix {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	addr = addr.Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	p, _ := addr.Prefix(bits) // the bits fit
	return p
}

// allow reports whether a client may try to sign in. Programs of this machine share an
// address, so one of them could keep the others out: they are not limited.
func (a *attempts) allow(remote string) bool {
	if networkOf(remote).Addr().IsLoopback() {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.all[networkOf(remote)]
	return f == nil || f.count < maxAttempts || time.Since(f.since) >= attemptsWindow
}

// fail counts a failed sign-in. It forgets the networks whose window is over if there are
// too many, and then counts no further network.
func (a *attempts) fail(remote string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, now := networkOf(remote), time.Now()
	f := a.all[at]
	if f == nil {
		if len(a.all) >= maxNetworks {
			for network, f := range a.all {
				if now.Sub(f.since) >= attemptsWindow {
					delete(a.all, network)
				}
			}
		}
		if len(a.all) >= maxNetworks {
			return
		}
		if a.all == nil {
			a.all = map[netip.Prefix]*failures{}
		}
		f = &failures{since: now}
		a.all[at] = f
	}
	if now.Sub(f.since) >= attemptsWindow {
		f.since, f.count = now, 0
	}
	f.count++
}
