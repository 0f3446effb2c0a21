package audit

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"time"
)

// A sink is where rows are written. Only the goroutine of the writer calls its methods. A file
// and a lines are sinks.
type sink interface {
	// append writes rows, all or none, and returns the chain with them.
	append(entries []entry, hide func(string) string) (chain, error)
	// grown is called after rows were written. It keeps the sink within its size.
	grown(s *Settings) error
	// checkpoint makes a copy of the sink complete.
	checkpoint() error
	// prune removes rows that are too old or too many.
	prune(s *Settings, now time.Time) error
	// head returns the chain.
	head() (chain, error)
	close() error
}

// openSink opens what the settings name.
func openSink(s *Settings) (sink, error) {
	if s.To != nil {
		return &lines{to: s.To}, nil
	}
	return openFile(s.File, s.Full, s.MaxSize)
}

// forwardTo sets the forwarder of a sink.
func forwardTo(to sink, f Forwarder) {
	switch to := to.(type) {
	case *file:
		to.copies.forward = f
	case *lines:
		to.copies.forward = f
	}
}

// A writer writes the events of a log in one goroutine. Log.open makes it, and Log.stopWriter
// ends it, once. The fields below done belong to its goroutine, run.
type writer struct {
	log     *Log
	sink    sink
	stop    chan struct{}
	done    chan struct{}
	last    chain
	key     ed25519.PrivateKey // of the settings; nil: none
	forward Forwarder          // nil: rows are not forwarded
	logged  chain              // the head in the last log line
	said    time.Time          // of that line
	bound   time.Time          // of the last warning that the sink is too large
}

const (
	pruneEvery      = 10 * time.Minute // between removals of old rows
	checkpointEvery = 10 * time.Second
)

func startWriter(l *Log, to sink) *writer {
	w := &writer{log: l, sink: to, stop: make(chan struct{}), done: make(chan struct{})}
	if s := l.settings.Load(); s != nil {
		w.key = s.SignKey
		if l.opts.Forward != nil && len(s.Forward.Targets) > 0 {
			w.forward = l.opts.Forward(s.Forward)
			forwardTo(to, w.forward)
		}
	}
	go w.run()
	return w
}

// end writes what is left and returns when the goroutine has ended. It blocks for at most
// drainTime and a transaction.
func (w *writer) end() {
	close(w.stop)
	<-w.done
}

// run writes until end is called, on a goroutine of its own. All methods below run there.
func (w *writer) run() {
	defer close(w.done)
	defer func() {
		_ = w.sink.close()
		if w.forward != nil {
			w.forward.Close()
		}
	}()
	if c, err := w.sink.head(); err == nil {
		w.last = c
		w.logHead(time.Now())
	}
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	checkpoint := time.NewTicker(checkpointEvery)
	defer checkpoint.Stop()
	w.prune()
	for {
		select {
		case <-w.log.wake:
			w.gather()
			w.write(time.Time{})
		case <-tick.C:
			w.write(time.Time{}) // what refused clients did not get rows for
			w.prune()
			w.logHeadLater()
		case <-checkpoint.C:
			_ = w.sink.checkpoint() // the next one is soon, and a write reports errors
		case <-w.stop:
			w.write(time.Now().Add(drainTime))
			w.logHead(time.Now())
			return
		}
	}
}

// gather waits until there is a batch, unless requests wait for their rows.
func (w *writer) gather() {
	if s := w.log.settings.Load(); s == nil || s.Full || w.log.waiting() >= batchRows {
		return
	}
	timer := time.NewTimer(batchTime)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return
		case <-w.stop:
			return
		case <-w.log.wake:
			if w.log.waiting() >= batchRows {
				return
			}
		}
	}
}

// write writes everything in the buffer. It retries until deadline, which is zero while
// the log is open; end then interrupts it.
func (w *writer) write(deadline time.Time) {
	for {
		batch := w.log.take(nil, !deadline.IsZero())
		if len(batch) == 0 {
			w.log.committed()
			return
		}
		for !w.commit(batch) {
			if deadline.IsZero() && w.stopping() {
				deadline = time.Now().Add(drainTime)
			}
			if !deadline.IsZero() && time.Now().After(deadline) {
				w.log.opts.Log.Error(
					"events are missing in the audit log, because it could not be written before the end",
					"dropped", len(batch)+w.log.waiting(),
				)
				w.log.committed()
				return
			}
			w.pause(deadline)
		}
		w.log.committed()
	}
}

func (w *writer) stopping() bool {
	select {
	case <-w.stop:
		return true
	default:
		return false
	}
}

// pause waits before the next attempt.
func (w *writer) pause(deadline time.Time) {
	timer := time.NewTimer(retryTime)
	defer timer.Stop()
	if !deadline.IsZero() {
		timer.Reset(retryTime / 10)
		<-timer.C
		return
	}
	select {
	case <-timer.C:
	case <-w.stop:
	}
}

// commit writes one batch. Requests that wait for its rows wait no longer in either case.
func (w *writer) commit(batch []entry) bool {
	if f, ok := w.sink.(*file); ok && f.replaced() {
		w.log.opts.Log.Error("the file of the audit log was removed or replaced; it begins again",
			"file", f.path, "lost", headText(w.last))
		w.reopen()
	}
	c, err := w.sink.append(batch, w.log.opts.Hide)
	if err != nil && busy(err) && !w.stopping() { // other processes write much
		c, err = w.sink.append(batch, w.log.opts.Hide)
	}
	if err != nil {
		if w.log.failing.CompareAndSwap(false, true) {
			w.log.opts.Log.Error("the audit log is not written; the last events wait in memory", "error", err)
		}
		w.reopen()
	}
	for i := range batch {
		if batch[i].done != nil {
			close(batch[i].done)
			batch[i].done = nil
		}
	}
	if err != nil {
		return false
	}
	if w.log.failing.CompareAndSwap(true, false) {
		w.log.opts.Log.Info("the audit log is written again", "last", c.last)
	}
	w.last = c
	w.grown()
	w.logHeadLater()
	return true
}

// grown keeps the sink within its size. A sink that cannot is reported at times.
func (w *writer) grown() {
	s := w.log.settings.Load()
	if s == nil {
		return
	}
	if err := w.sink.grown(s); err != nil && !busy(err) && time.Since(w.bound) > pruneEvery {
		w.bound = time.Now()
		w.log.opts.Log.Warn("rows of the audit log were not moved to an archive", "error", err)
	}
}

// reopen opens the file again if it was removed or replaced, and after an error that a
// new connection may not have.
func (w *writer) reopen() {
	s := w.log.settings.Load()
	if s == nil {
		return
	}
	if f, ok := w.sink.(*file); ok && f.path == s.File {
		if fresh, err := openFile(s.File, s.Full, s.MaxSize); err == nil {
			_ = f.close()
			forwardTo(fresh, w.forward)
			w.sink = fresh
		}
	}
}

// logHeadLater logs the head if the last log line with one is headEvery ago.
func (w *writer) logHeadLater() {
	if s := w.log.settings.Load(); s != nil { // else the log ends, and the last key counts
		w.key = s.SignKey
	}
	if now := time.Now(); now.Sub(w.said) >= headEvery && w.last != w.logged {
		w.logHead(now)
	}
}

// logHead logs the last row and its hash, with a signature if the settings have a key. The
// line shows later that rows before it were removed, or that the whole chain was made again.
func (w *writer) logHead(now time.Time) {
	w.said, w.logged = now, w.last
	if w.last.last == 0 {
		return
	}
	head := headText(w.last)
	f, isFile := w.sink.(*file)
	if w.key == nil || !isFile {
		w.log.opts.Log.Info("the audit log has a new head", "head", head)
		return
	}
	signed, err := keepHead(w.key, f.path, head, now)
	if err != nil {
		w.log.opts.Log.Error("a signed head of the audit log was not kept", "error", err)
	}
	w.log.opts.Log.Info("the audit log has a new head", "head", head, "signed", signed)
}

// headText returns SEQUENCE:HASH, the form that junctor audit verify --head takes.
func headText(c chain) string { return fmt.Sprintf("%d:%s", c.last, hex.EncodeToString(c.head[:])) }

func (w *writer) prune() {
	s := w.log.settings.Load()
	if s == nil {
		return
	}
	if err := w.sink.prune(s, time.Now()); err != nil && !busy(err) {
		w.log.opts.Log.Warn("old rows of the audit log were not removed", "error", err)
	}
}
