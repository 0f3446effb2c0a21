package invocation

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// maxQueuedLog is the maximum size of the queued log, in bytes.
const maxQueuedLog = 1 << 20

// A logQueue writes the log without blocking its callers. If the reader of standard error is
// too slow it drops lines and reports their number. Many clients never read a server's
// standard error, and requests must not wait for it. Write may be called concurrently; the goroutine of
// run is the only one that writes to out. Invocation.Leave closes the queue.
type logQueue struct {
	out  io.Writer
	done chan struct{} // closed when all is written

	mu     sync.Mutex
	more   *sync.Cond
	lines  [][]byte // guarded by mu
	held   int      // guarded by mu; bytes
	lost   int      // guarded by mu; lines
	closed bool     // guarded by mu
}

func newLogQueue(out io.Writer) *logQueue {
	q := &logQueue{out: out, done: make(chan struct{})}
	q.more = sync.NewCond(&q.mu)
	go q.run()
	return q
}

func (q *logQueue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.held+len(line) > maxQueuedLog {
		q.lost++
		return len(line), nil
	}
	q.lines = append(q.lines, append([]byte(nil), line...))
	q.held += len(line)
	q.more.Signal()
	return len(line), nil
}

func (q *logQueue) run() {
	defer close(q.done)
	for {
		q.mu.Lock()
		for len(q.lines) == 0 && !q.closed {
			q.more.Wait()
		}
		lines, lost := q.lines, q.lost
		q.lines, q.held, q.lost = nil, 0, 0
		q.mu.Unlock()
		if len(lines) == 0 && lost == 0 {
			return
		}
		for _, line := range lines {
			_, _ = q.out.Write(line)
		}
		if lost > 0 {
			fmt.Fprintf(q.out, "%d lines of the log were dropped because standard error was not read\n", lost)
		}
	}
}

// close writes the queued lines, for at most d.
func (q *logQueue) close(d time.Duration) {
	q.mu.Lock()
	q.closed = true
	q.more.Signal()
	q.mu.Unlock()
	select {
	case <-q.done:
	case <-time.After(d):
	}
}

// A maskedLog writes the records of a log without secrets. Any goroutine may log and call mask.
type maskedLog struct {
	log     hclog.InterceptLogger
	out     hclog.SinkAdapter
	conceal atomic.Pointer[func(string) string]
}

// newMaskedLog returns a log with these options that masks secrets once conceal was set.
func newMaskedLog(o hclog.LoggerOptions) *maskedLog {
	front, back := o, o
	front.Exclude = func(hclog.Level, string, ...any) bool { return true } // only the sinks write
	back.Level = hclog.Trace
	l := &maskedLog{log: hclog.NewInterceptLogger(&front), out: hclog.NewSinkAdapter(&back)}
	l.log.RegisterSink(l)
	return l
}

// mask sets the function that replaces secrets in the texts of later records.
func (l *maskedLog) mask(conceal func(string) string) { l.conceal.Store(&conceal) }

// Accept implements [hclog.SinkAdapter]. A sink also gets records below the level.
func (l *maskedLog) Accept(name string, level hclog.Level, message string, pairs ...any) {
	if level < l.log.GetLevel() {
		return
	}
	hide := l.conceal.Load()
	if hide == nil {
		l.out.Accept(name, level, message, pairs...)
		return
	}
	masked := make([]any, len(pairs))
	for i, one := range pairs {
		masked[i] = maskedValue(*hide, one)
	}
	l.out.Accept(name, level, (*hide)(message), masked...)
}

// maskedValue returns a value of a record without secrets.
func maskedValue(hide func(string) string, v any) any {
	switch v := v.(type) {
	case nil, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return v
	case string:
		return hide(v)
	case hclog.CapturedStacktrace: // is printed on lines of its own
		return hclog.CapturedStacktrace(hide(string(v)))
	case []string:
		all := make([]string, len(v))
		for i, one := range v {
			all[i] = hide(one)
		}
		return all
	}
	return hide(fmt.Sprint(v)) // uses Error or String, and survives their panics
}
