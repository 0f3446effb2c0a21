package limit

import (
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/time/rate"
)

// What one source may write to the log.
const (
	LinesPerSecond = 100
	LinesAtOnce    = 1000
	BytesPerMinute = 1 << 20 // and at once

	// ToldEvery is how often at most the log says what was dropped of one source.
	ToldEvery = 10 * time.Second

	lineOverhead = 128 // bytes that the log adds to a line, about
)

// A LineRate limits the log lines of one source, by number and by bytes. A nil
// LineRate has no limit.
type LineRate struct{ lines, bytes *rate.Limiter }

// NewLineRate returns the LineRate of a source that has written nothing.
func NewLineRate() *LineRate {
	return &LineRate{lines: rate.NewLimiter(LinesPerSecond, LinesAtOnce), bytes: rate.NewLimiter(BytesPerMinute/60, BytesPerMinute)}
}

// Allow counts a line of size bytes and reports whether it is within the limits.
func (r *LineRate) Allow(size int) bool {
	now := time.Now()
	return r == nil || r.lines.AllowN(now, 1) && r.bytes.AllowN(now, size+lineOverhead)
}

// Lines limits the log lines of each source, such as a server, by number and by
// bytes, so that none fills a disk or hides the others. Lines above the limit are
// dropped and counted, and the log says how many. Its methods may be called
// concurrently.
type Lines struct {
	log  hclog.Logger
	kind string // of the sources: "server"

	mu     sync.Mutex
	closed bool               // guarded by mu
	of     map[string]*source // guarded by mu
}

// A source is what is known of one source. The mu of its Lines guards it.
type source struct {
	rate         *LineRate
	dropped      int
	droppedBytes int
	told         *time.Timer // runs while there is something to tell
}

// NewLines returns a Lines for sources of a kind, which the log names.
func NewLines(log hclog.Logger, kind string) *Lines {
	return &Lines{log: log, kind: kind, of: map[string]*source{}}
}

// Log writes a line of a source, unless the source has written too much.
func (l *Lines) Log(level hclog.Level, name, message string, pairs ...any) {
	if l.log.GetLevel() > level || !l.allow(name, sizeOf(message, pairs)) {
		return
	}
	l.log.Log(level, message, append([]any{l.kind, name}, pairs...)...)
}

// sizeOf is about what a line takes.
func sizeOf(message string, pairs []any) int {
	n := len(message)
	for _, p := range pairs {
		switch v := p.(type) {
		case string:
			n += len(v) + 1
		case fmt.Stringer, error:
			n += len(fmt.Sprint(v)) + 1
		default:
			n += 9
		}
	}
	return n
}

// allow counts a line and reports whether it is within the limits.
func (l *Lines) allow(name string, size int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.of[name]
	if s == nil {
		s = &source{rate: NewLineRate()}
		l.of[name] = s
	}
	if s.rate.Allow(size) {
		return true
	}
	s.dropped++
	s.droppedBytes += size
	if s.told == nil && !l.closed {
		s.told = time.AfterFunc(ToldEvery, func() { l.tell(name) })
	}
	return false
}

// tell says what was dropped of a source.
func (l *Lines) tell(name string) {
	l.mu.Lock()
	s := l.of[name]
	lines, bytes := s.dropped, s.droppedBytes
	s.dropped, s.droppedBytes, s.told = 0, 0, nil
	l.mu.Unlock()
	if lines > 0 {
		l.log.Warn("log lines of a "+l.kind+" were dropped", l.kind, name, "lines", lines, "bytes", bytes)
	}
}

// Close says what was dropped and was not told yet.
func (l *Lines) Close() {
	l.mu.Lock()
	l.closed = true
	var names []string
	for name, s := range l.of {
		if s.told != nil && s.told.Stop() {
			names = append(names, name)
		}
	}
	l.mu.Unlock()
	for _, name := range names {
		l.tell(name)
	}
}
