package audit

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
)

const (
	bufferSize = 4096 // events that wait to be written
	batchRows  = 50
	batchTime  = 50 * time.Millisecond
	maxBatch   = 500 // rows of one transaction when the writer is behind
	retryTime  = time.Second
	// commitTime is how long a request waits for its row. It is longer than two attempts to
	// write with busyTime each, so a request is answered without a row only if the file fails
	// or the disk does not respond.
	commitTime = 10 * time.Second
	drainTime  = 5 * time.Second
)

// Settings are those of the audit block. They are immutable.
type Settings struct {
	File   string    // absolute path of the SQLite file
	To     io.Writer // takes rows as JSON lines instead of File; nil: File
	Full   bool      // a request is answered after its row is committed
	Refuse bool      // refuse requests that cannot be recorded
	// Retention is how long rows are kept, and MaxSize how large the file may be, in bytes.
	// 0: no limit.
	Retention time.Duration
	MaxSize   int64
	Arguments bool // store arguments, and not only their digests
	Results   bool // store results
	// Redacted reports whether arguments and results of an item are never stored; nil: none.
	Redacted func(server, item string) bool
	SignKey  ed25519.PrivateKey // signs heads of File; nil: they are not signed
	Forward  Copies             // of each row; see Options.Forward
	// PluginDirs are the directories that may not contain the file.
	PluginDirs []string
}

// Options configure a [Log].
type Options struct {
	Log hclog.Logger
	// Hide masks secrets in a text, and Mask in a JSON value, which it copies and compacts.
	// If one is nil, nothing is masked.
	Hide func(string) string
	Mask func([]byte) []byte
	// Warn reports that the file cannot be opened. If it is nil, that is logged.
	Warn func(message, hint string)

	// Forward returns a forwarder of copies. If it is nil, nothing is forwarded.
	Forward func(to Copies) Forwarder

	open func(*Settings) (sink, error) // openSink, except in tests
}

// A Log is the [Recorder] that writes rows. Without settings it records nothing.
//
// Events wait in a buffer of 4096. When it is full, an event is dropped, and a row says
// later how many. With Settings.Refuse, Begin refuses requests instead, and those in
// flight still get a place.
//
// Without Settings.Full, a request waits for its row only if one batch of 500 rows waits
// already. A killed process therefore loses at most one batch, as long as the file can be
// written. Set, Open and Close exclude each other with opening, which is held while a file is
// opened; mu is never held across I/O.
type Log struct {
	opts     Options
	settings atomic.Pointer[Settings] // nil: nothing is recorded
	failing  atomic.Bool              // the last attempt to write failed
	wake     chan struct{}            // holds a token if there may be events
	backlog  atomic.Int64             // events that are not committed

	complained atomic.Bool // that the file cannot be opened

	opening sync.Mutex
	opened  atomic.Bool
	writer  *writer // guarded by opening; nil: not opened yet

	mu      sync.Mutex
	buffer  []entry // guarded by mu
	writing int     // guarded by mu; events that the writer has taken and not committed
	refused refused // guarded by mu
	lost    int     // guarded by mu; events dropped since the last row of kind Loss
	dropped int     // guarded by mu; events dropped in total
}

// New returns a Log without settings.
func New(o Options) *Log {
	if o.open == nil {
		o.open = openSink
	}
	return &Log{opts: o, wake: make(chan struct{}, 1), refused: newRefused()}
}

// Set sets the settings; nil ends the recording. A log that is open continues in the file
// of the settings. If that cannot be opened, nothing changes. Otherwise the file is opened
// by Open or by the first event.
func (l *Log) Set(s *Settings) error {
	l.opening.Lock()
	defer l.opening.Unlock()
	if s == nil {
		l.settings.Store(nil)
		l.stopWriter()
		return nil
	}
	if err := l.check(s); err != nil {
		return err
	}
	before := l.settings.Load()
	if l.writer == nil || before != nil && before.File == s.File && before.To == s.To && before.Full == s.Full &&
		before.MaxSize == s.MaxSize && before.Forward.equal(s.Forward) {
		l.settings.Store(s)
		return nil
	}
	return l.open(s)
}

func (l *Log) check(s *Settings) error {
	if s.To != nil {
		return nil
	}
	return CheckPath(s.File, s.PluginDirs)
}

// Open opens the file, if there are settings and it is not open.
func (l *Log) Open() error {
	l.opening.Lock()
	defer l.opening.Unlock()
	s := l.settings.Load()
	if s == nil || l.writer != nil {
		return nil
	}
	return l.open(s)
}

// open replaces the writer. The caller holds opening.
func (l *Log) open(s *Settings) error {
	to, err := l.opts.open(s)
	if err != nil {
		if _, ok := errors.AsType[*fault.Error](err); ok {
			return err
		}
		return fault.Because(fault.AuditFile, err, "the audit log cannot be opened").
			WithHint("see that the file can be written, or set file in the audit block to another path")
	}
	l.stopWriter()
	l.settings.Store(s)
	l.failing.Store(false)
	l.writer = startWriter(l, to)
	l.opened.Store(true)
	l.signal()
	return nil
}

// stopWriter ends the writer, which writes what is left. The caller holds opening.
func (l *Log) stopWriter() {
	if l.writer != nil {
		l.opened.Store(false)
		l.writer.end()
		l.writer = nil
	}
}

// Close writes what is left, for at most five seconds, and ends the recording. It opens the
// file if there are notes and no request has opened it. It is called at the end of the process.
func (l *Log) Close() {
	if !l.opened.Load() && l.backlog.Load() > 0 {
		if err := l.Open(); err != nil {
			l.complain(err)
		}
	}
	_ = l.Set(nil)
}

// Begin implements [Recorder].
func (l *Log) Begin() (recording bool, err error) {
	s := l.settings.Load()
	if s == nil {
		return false, nil
	}
	if !l.opened.Load() {
		if err := l.Open(); err != nil {
			l.complain(err)
			if s.Refuse {
				return false, unavailable()
			}
			return false, nil
		}
	}
	if l.refuses(s) {
		return true, unavailable()
	}
	return true, nil
}

// refuses reports whether requests are refused because they cannot be recorded.
func (l *Log) refuses(s *Settings) bool {
	return s.Refuse && (l.failing.Load() || l.backlog.Load() >= bufferSize)
}

// complain reports once that the file cannot be opened.
func (l *Log) complain(err error) {
	switch {
	case l.complained.Swap(true):
	case l.opts.Warn != nil:
		l.opts.Warn("nothing is recorded: "+err.Error(), fault.As(err).Hint)
	default:
		l.opts.Log.Error("the audit log is not written", "error", err)
	}
}

// unavailable returns the error of a request that cannot be recorded.
func unavailable() error {
	return fault.New(fault.AuditUnavailable, "the request was not sent, because the audit log cannot be written").
		WithHint("try again in a few seconds")
}

// End implements [Recorder]. It may wait for the disk, for at most commitTime. Its caller must
// hold no lock.
func (l *Log) End(e *Event) {
	s := l.settings.Load()
	if s == nil {
		return
	}
	kept := *e
	kept.Arguments, kept.Result = l.payload(s, s.Arguments, e, e.Arguments), l.payload(s, s.Results, e, e.Result)
	unwritten := maxBatch // of which a killed process may lose the rows
	if s.Full {
		unwritten = 0
	}
	if done := l.add(kept, s.Refuse && e.Outcome != Unrecorded, unwritten); done != nil {
		timeout := time.NewTimer(commitTime)
		defer timeout.Stop()
		select {
		case <-done:
		case <-timeout.C:
		}
	}
}

// payload returns what is stored of the arguments or the result of an event.
func (l *Log) payload(s *Settings, stored bool, e *Event, value []byte) []byte {
	switch {
	case !stored || value == nil || s.Redacted != nil && s.Redacted(e.Server, e.Item):
		return nil
	case l.opts.Mask == nil:
		return bytes.Clone(value)
	}
	return l.opts.Mask(value)
}

// Note implements [Recorder]. It does not open the file, because its callers may hold locks.
// Notes take at most half of the buffer, so that clients
// without credentials cannot fill it.
func (l *Log) Note(e *Event) {
	s := l.settings.Load()
	if s == nil {
		return
	}
	kept := *e
	if kept.Time.IsZero() {
		kept.Time = time.Now()
	}
	kept.Arguments, kept.Result = nil, nil
	if kept.Kind == AuthFailure && !l.listed() {
		return
	}
	if l.backlog.Load() < bufferSize/2 {
		l.add(kept, false, bufferSize)
		return
	}
	l.drop()
}

// add puts an event into the buffer. always also does so when it is full. If as many events
// as unwritten are not committed yet, it returns a channel that is closed when the event is
// committed or given up. The channel is nil if the event is dropped or the file fails.
func (l *Log) add(e Event, always bool, unwritten int) <-chan struct{} {
	l.mu.Lock()
	n := len(l.buffer) + l.writing
	if n >= bufferSize && !always {
		l.mu.Unlock()
		l.drop()
		return nil
	}
	one := entry{Event: e}
	if n >= unwritten && !l.failing.Load() {
		one.done = make(chan struct{})
	}
	l.buffer = append(l.buffer, one)
	l.backlog.Store(int64(n + 1))
	l.mu.Unlock()
	if n == 0 || one.done != nil || n+1 >= batchRows {
		l.signal()
	}
	return one.done
}

// drop counts an event that is not recorded. The log has a line at powers of two.
func (l *Log) drop() {
	l.mu.Lock()
	l.lost++
	l.dropped++
	n := l.dropped
	l.mu.Unlock()
	if n&(n-1) == 0 {
		l.opts.Log.Error("events are missing in the audit log, because its buffer is full", "dropped", n)
	}
}

// signal wakes the writer.
func (l *Log) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// waiting returns the number of events in the buffer.
func (l *Log) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.buffer)
}

// take removes the next batch from the buffer, and adds rows for dropped events and for refused
// clients without rows. all says that the log ends. The goroutine of the writer calls it.
func (l *Log) take(batch []entry, all bool) []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.buffer), batchOf(l.settings.Load()))
	batch = append(batch, l.buffer[:n]...)
	rest := copy(l.buffer, l.buffer[n:])
	clear(l.buffer[rest:])
	l.buffer = l.buffer[:rest]
	if l.lost > 0 {
		batch = append(batch,
			entry{Event: Event{Kind: Loss, Time: time.Now(), Count: l.lost, Detail: "the buffer was full"}})
		l.lost = 0
	}
	if e := l.refused.take(time.Now(), all); e != nil {
		batch = append(batch, entry{Event: *e})
	}
	l.writing = len(batch)
	l.backlog.Store(int64(len(l.buffer) + l.writing))
	return batch
}

// batchOf returns the most rows of one transaction. In a small file the WAL has to stay small.
func batchOf(s *Settings) int {
	if s == nil || s.MaxSize <= 0 {
		return maxBatch
	}
	return int(min(max(s.MaxSize>>14, batchRows), maxBatch)) // 64 for 1 MiB
}

// committed records that the writer has no events.
func (l *Log) committed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing = 0
	l.backlog.Store(int64(len(l.buffer)))
}

// A State is the state of a log, for the status of the process.
type State struct {
	File     string // empty: rows are lines of standard output or error
	Backlog  int    // events that are not committed
	Dropped  int    // events that were not recorded
	Failing  bool   // the last attempt to write failed
	Refusing bool   // requests are refused, because they cannot be recorded
}

// State returns the state of the log. on is false if nothing is recorded.
func (l *Log) State() (_ State, on bool) {
	s := l.settings.Load()
	if s == nil {
		return State{}, false
	}
	file := s.File
	if s.To != nil {
		file = ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return State{File: file, Backlog: len(l.buffer) + l.writing, Dropped: l.dropped, Failing: l.failing.Load(),
		Refusing: l.refuses(s)}, true
}
