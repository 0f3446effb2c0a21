package notify

import "time"

const (
	repeatAfter = time.Minute // between two notices of the same event about the same server and tenant
	maxOutages  = 4096
)

// outages remembers which failures were told. A server that stays down is told once, and one
// that goes up and down at most once in repeatAfter. The mu of the Notifier guards it.
type outages map[outageKey]*outage

type outageKey struct {
	event          Event
	server, tenant string
}

type outage struct {
	at      time.Time // of the last notice
	ongoing bool      // it has not ended since then
	repeats int       // notices that were not due since then
}

// lasts reports whether an event says that something fails until it recovers.
func (e Event) lasts() bool { return e == Quarantine || e == LoginFailed || e == ServerDown }

func keyOf(n *Notice) outageKey { return outageKey{n.Event, n.Server, n.Tenant} }

// due reports whether a notice is to be sent, and how many were not before it. Send calls due
// and told.
func (o outages) due(n *Notice, now time.Time) (repeats int, due bool) {
	one := o[keyOf(n)]
	if one == nil || !n.Event.lasts() {
		return 0, true
	}
	if one.ongoing || now.Sub(one.at) < repeatAfter {
		one.repeats++
		return 0, false
	}
	return one.repeats, true
}

// told records that a notice is sent.
func (o outages) told(n *Notice, now time.Time) {
	if !n.Event.lasts() {
		return
	}
	for k, one := range o {
		if len(o) < maxOutages {
			break
		}
		if !one.ongoing || len(o) >= 2*maxOutages {
			delete(o, k)
		}
	}
	o[keyOf(n)] = &outage{at: now, ongoing: true}
}

// ended records that a failure is over.
func (o outages) ended(event Event, server, tenant string) {
	if one := o[outageKey{event, server, tenant}]; one != nil {
		one.ongoing = false
	}
}
