// Package forward sends lines to other programs and machines: to a syslog receiver, to an
// HTTPS endpoint or to standard error. No caller waits for a receiver. Each target has a
// bounded queue and a goroutine that tries again for a while.
//
// Package audit makes a Forwarder for its copies, through package host, and closes it; package
// config checks targets with Check. Forward may be called concurrently. forward.go has the
// queues, and target.go the kinds of receivers.
package forward

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	queueLines  = 4096 // that wait for one target
	batchLines  = 500
	attempts    = 8 // for one batch; with the waits between them, about two minutes
	attemptTime = 10 * time.Second
	firstWait   = time.Second
	longestWait = 30 * time.Second
	drainTime   = 2 * time.Second // at the end of the process
	calm        = time.Minute     // without a failure, until a target without answers works again
)

// Options configure targets. They do not change after New.
type Options struct {
	Log     hclog.Logger
	Stderr  io.Writer // of the target "stderr"
	Version string    // of Junctor

	Headers map[string]string // of requests to endpoints
	Roots   *x509.CertPool    // of targets over TLS; nil: those of the system

	Counts *Counts // of all targets; nil: nothing is counted

	wait time.Duration // firstWait, except in tests
}

// Counts counts what the targets of one or several forwarders lose.
type Counts struct {
	Dropped atomic.Int64 // lines that were not sent, once for each target
	Failing atomic.Int64 // targets whose last attempt failed
}

// Authorities returns the certificates in a PEM text, or nil if there are none.
func Authorities(pem []byte) *x509.CertPool {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil
	}
	return pool
}

// A sender delivers lines. One goroutine uses it.
type sender interface {
	// send delivers lines and returns how many were delivered.
	send(ctx context.Context, lines [][]byte) (int, error)
	close()
}

// errPermanent marks errors of lines that another attempt cannot deliver.
var errPermanent = errors.New("the receiver does not take it")

// errTooLarge marks the error of the first line that was not delivered: the others may be.
var errTooLarge = errors.New("the row is too large for a datagram")

// A Forwarder sends each line to all of its targets. It is immutable after New, but for its
// targets. Its maker must call Close, once.
type Forwarder struct {
	targets []*target
	stop    context.CancelFunc // ends attempts
	ending  chan struct{}
	done    sync.WaitGroup
}

// New returns a forwarder for targets that [Check] accepts.
func New(targets []string, o Options) *Forwarder {
	if o.wait == 0 {
		o.wait = firstWait
	}
	if o.Counts == nil {
		o.Counts = &Counts{}
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &Forwarder{stop: stop, ending: make(chan struct{})}
	for _, text := range targets {
		to, err := newSender(text, &o)
		if err != nil {
			o.Log.Error("a copy of the audit log is not sent", "target", Name(text), "error", err)
			continue
		}
		t := &target{name: Name(text), to: to, opts: o, silent: strings.HasPrefix(text, "udp:"),
			lines: make(chan []byte, queueLines)}
		f.targets = append(f.targets, t)
		f.done.Go(func() { t.run(ctx, f.ending) })
	}
	return f
}

// Forward puts lines into the queue of each target. It does not wait: without space, lines are
// dropped and counted in the log.
func (f *Forwarder) Forward(lines [][]byte) {
	for _, t := range f.targets {
		for _, line := range lines {
			select {
			case t.lines <- line:
			default:
				t.drop(1, "its queue is full")
			}
		}
	}
}

// Close sends what is left, for at most two seconds.
func (f *Forwarder) Close() {
	close(f.ending)
	timer := time.AfterFunc(drainTime, f.stop)
	f.done.Wait()
	timer.Stop()
	f.stop()
}

// A target is where lines go. The Forwarder makes it with the goroutine of run, which is the
// only one to use to.
type target struct {
	name   string
	to     sender
	opts   Options
	silent bool // an attempt also succeeds without a receiver, and a later one fails for it
	lines  chan []byte

	mu      sync.Mutex
	dropped int // guarded by mu

	// Only run uses these.
	failing bool
	failed  time.Time // of the last failed attempt
}

// run sends lines until ending is closed, on a goroutine of its own.
func (t *target) run(ctx context.Context, ending <-chan struct{}) {
	defer t.to.close()
	defer t.setFailing(false)
	for {
		select {
		case line := <-t.lines:
			t.deliver(ctx, t.batch(line), ending)
		case <-ending:
			for ctx.Err() == nil {
				select {
				case line := <-t.lines:
					t.deliver(ctx, t.batch(line), ending)
				default:
					return
				}
			}
			if n := len(t.lines); n > 0 {
				t.drop(n, "the process ends")
			}
			return
		}
	}
}

// batch returns a line and those that wait behind it.
func (t *target) batch(line []byte) [][]byte {
	all := [][]byte{line}
	for len(all) < batchLines {
		select {
		case next := <-t.lines:
			all = append(all, next)
		default:
			return all
		}
	}
	return all
}

// deliver sends lines. It gives up after some attempts, so that newer lines get through.
func (t *target) deliver(ctx context.Context, lines [][]byte, ending <-chan struct{}) {
	wait := t.opts.wait
	for tries := 1; ; tries++ {
		n, err := t.attempt(ctx, lines)
		if n > 0 {
			lines, tries = lines[n:], 1
		}
		if errors.Is(err, errTooLarge) {
			t.drop(1, err.Error())
			if lines = lines[1:]; len(lines) == 0 {
				return
			}
			continue
		}
		if err != nil {
			t.failed = time.Now()
		}
		switch {
		case err == nil:
			if t.failing && (!t.silent || time.Since(t.failed) > calm) {
				t.setFailing(false)
				t.opts.Log.Info("copies of the audit log are sent again", "target", t.name)
			}
			return
		case !t.failing:
			t.setFailing(true)
			t.opts.Log.Error("copies of the audit log are not sent", "target", t.name, "error", err)
		}
		if tries >= attempts || ctx.Err() != nil || errors.Is(err, errPermanent) {
			t.drop(len(lines), err.Error())
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ending:
			timer.Stop()
			tries = attempts - 1 // one more
		}
		wait = min(2*wait, longestWait)
	}
}

// setFailing sets whether the target fails, and counts it.
func (t *target) setFailing(failing bool) {
	switch {
	case failing && !t.failing:
		t.opts.Counts.Failing.Add(1)
	case !failing && t.failing:
		t.opts.Counts.Failing.Add(-1)
	}
	t.failing = failing
}

func (t *target) attempt(ctx context.Context, lines [][]byte) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	return t.to.send(ctx, lines)
}

// drop counts lines that are not sent. The log has a line when the number passes a power of
// two.
func (t *target) drop(n int, why string) {
	t.opts.Counts.Dropped.Add(int64(n))
	t.mu.Lock()
	before := t.dropped
	t.dropped += n
	after := t.dropped
	t.mu.Unlock()
	if bits.Len(uint(before)) != bits.Len(uint(after)) {
		t.opts.Log.Error("rows are missing in a copy of the audit log", "target", t.name, "dropped", after, "why", why)
	}
}
