package notify

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-hclog"
)

const (
	maxQueued = 1000
	maxAge    = 10 * time.Minute // of a notice that is sent again
	maxPause  = time.Minute      // between two attempts
	endTime   = 1500 * time.Millisecond
)

// A Notifier sends notices, one after the other. Its methods may be called concurrently, and
// on nil, which sends nothing. The goroutine begins with the first webhook, and Close ends it.
type Notifier struct {
	log   hclog.Logger
	host  string
	queue chan *Notice
	end   chan struct{} // closed by Close
	work  sync.WaitGroup
	first time.Duration     // pause after the first attempt
	using http.RoundTripper // of tests; nil: the network

	mu       sync.Mutex
	receiver *receiver // guarded by mu; nil: there is no webhook
	started  bool      // guarded by mu; the goroutine runs
	closed   bool      // guarded by mu
	reported outages   // guarded by mu
	status   Status    // guarded by mu
	unsaid   int       // guarded by mu; lost notices that no notice has told yet
}

// Status counts notices since the process started.
type Status struct {
	Queued int
	Sent   int
	Lost   int    // the queue was full, or all attempts failed
	Error  string // of the last attempt; empty: it succeeded
}

// New returns a notifier without a webhook.
func New(log hclog.Logger) *Notifier {
	host, _ := os.Hostname() // empty if it is not known
	return &Notifier{log: log, host: host, queue: make(chan *Notice, maxQueued), end: make(chan struct{}),
		reported: outages{}, first: time.Second}
}

// Set changes the webhook; nil: there is none any more. Notices that wait are sent to the new
// one. key is equal for equal settings, with which nothing changes.
func (n *Notifier) Set(s *Settings, key string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.receiver
	if n.closed || s == nil && before == nil || s != nil && before != nil && before.key == key {
		return
	}
	n.receiver = nil
	if s != nil {
		n.receiver = newReceiver(*s, key)
		if n.using != nil {
			n.receiver.client.Transport = n.using
		}
		if !n.started {
			n.started = true
			n.work.Go(n.run)
		}
	}
	if before != nil {
		before.close()
	}
}

// Send queues a notice. It does not wait: without a webhook for the event, and if the queue is
// full, the notice is dropped.
func (n *Notifier) Send(one Notice) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.receiver == nil || !slices.Contains(n.receiver.settings.Events, one.Event) {
		return
	}
	now := time.Now()
	repeats, due := n.reported.due(&one, now)
	if !due {
		return
	}
	one.Version, one.ID, one.Time, one.Host, one.PID, one.Repeats = 1, rand.Text(), now.UTC(), n.host,
		os.Getpid(), repeats
	one.bound()
	select {
	case n.queue <- &one:
		n.reported.told(&one, now)
		n.status.Queued++
	default:
		n.lostLocked(1)
		if lost := n.status.Lost; lost&(lost-1) == 0 { // the first, and each doubling
			n.log.Warn("notices are lost: the queue of the notify block is full", "queued", maxQueued, "lost", lost)
		}
	}
}

// Recovered says that an event has ended: its next occurrence is reported again. tenant is as
// in the notice.
func (n *Notifier) Recovered(event Event, server, tenant string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reported.ended(event, server, tenant)
}

// Status returns the counters, and false without a webhook.
func (n *Notifier) Status() (s Status, ok bool) {
	if n == nil {
		return Status{}, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.status, n.receiver != nil
}

// Close sends what waits for at most 1.5 s, and ends the goroutine.
func (n *Notifier) Close() {
	if n == nil {
		return
	}
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return
	}
	n.closed = true
	r := n.receiver
	n.mu.Unlock()
	close(n.end)
	if r == nil {
		n.work.Wait()
		return
	}
	cut := time.AfterFunc(endTime, r.end)
	n.work.Wait()
	cut.Stop()
	r.close()
}

// run sends what is queued, until Close. It runs on a goroutine of its own, with drain, deliver
// and attempts.
func (n *Notifier) run() {
	for {
		select {
		case <-n.end: // before the queue, of which drain takes care
			n.drain()
			return
		default:
		}
		select {
		case one := <-n.queue:
			n.deliver(one)
		case <-n.end:
		}
	}
}

// drain sends what is still queued when the process ends.
func (n *Notifier) drain() {
	left := 0
	for {
		select {
		case one := <-n.queue:
			if r := n.current(); r != nil && r.ctx.Err() == nil {
				n.deliver(one)
				continue
			}
			left++
			n.lost(1)
		default:
			if left > 0 {
				n.log.Warn("notices were not sent before the process ended", "lost", left)
			}
			return
		}
	}
}

func (n *Notifier) current() *receiver {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.receiver
}

// deliver sends one notice. When the webhook changes, it goes to the new one.
func (n *Notifier) deliver(one *Notice) {
	for {
		r := n.current()
		if r == nil {
			n.ended(one, errNoWebhook)
			return
		}
		err := n.attempts(r, one)
		if err != nil && r.ctx.Err() != nil && n.current() != r {
			continue
		}
		n.ended(one, err)
		return
	}
}

var errNoWebhook = errors.New("the configuration has no notify block any more")

// attempts sends a notice until it arrives, is refused or is too old.
func (n *Notifier) attempts(r *receiver, one *Notice) error {
	one.Lost = n.unsaidNow()
	body, err := json.Marshal(one)
	if err != nil {
		return err // impossible: texts and numbers
	}
	tries := uint(0)
	left := maxAge - time.Since(one.Time)
	if left <= 0 {
		tries = 1 // it waited for the ones before
		left = attemptTime
	}
	_, err = backoff.Retry(r.ctx, func() (struct{}, error) {
		err := r.send(r.ctx, one.ID, body)
		n.tried(err)
		return struct{}{}, err
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{InitialInterval: n.first, MaxInterval: maxPause, Multiplier: 2,
		RandomizationFactor: 0.2}),
		backoff.WithMaxElapsedTime(left), backoff.WithMaxTries(tries))
	return err
}

// tried records the result of an attempt.
func (n *Notifier) tried(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.status.Error = ""
	if err != nil {
		n.status.Error = err.Error()
	}
}

// ended records what became of a notice.
func (n *Notifier) ended(one *Notice, err error) {
	n.mu.Lock()
	n.status.Queued--
	if err == nil {
		n.status.Sent++
		n.unsaid -= one.Lost
	} else {
		n.status.Lost++
		n.unsaid++
		if n.status.Error == "" {
			n.status.Error = err.Error()
		}
	}
	n.mu.Unlock()
	if err != nil {
		n.log.Warn("a notice was not delivered",
			"id", one.ID, "event", one.Event, "server", one.Server, "error", fmt.Sprint(err))
		return
	}
	n.log.Debug("sent a notice", "id", one.ID, "event", one.Event, "server", one.Server)
}

// lost counts notices that were queued and are not sent.
func (n *Notifier) lost(count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.status.Queued -= count
	n.lostLocked(count)
}

func (n *Notifier) lostLocked(count int) {
	n.status.Lost += count
	n.unsaid += count
}

func (n *Notifier) unsaidNow() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.unsaid
}
