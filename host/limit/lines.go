package limit

import (
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/time/rate"
)

// Limits for the log lines of one source.
const (
	LinesPerSecond = 100
	LinesAtOnce    = 1000
	BytesPerMinute = 1 << 20 // rate, and bytes of one burst

	// ToldEvery is the shortest interval between two reports of dropped lines
	// of one source.
	ToldEvery = 10 * time.Second

	lineOverhead = 128 // approximate bytes that the log adds to a line
)

// A LineRate limits the log lines of one source, in number and in bytes. A nil
// LineRate has no limit. Its methods may be called concurrently.
type LineRate struct{ lines, bytes *rate.Limiter }

// NewLineRate returns the LineRate of a source that has not written yet.
func NewLineRate() *LineRate {
	return &LineRate{lines: rate.NewLimiter(LinesPerSecond, LinesAtOnce),
		bytes: rate.NewLimiter(BytesPerMinute/60, BytesPerMinute)}
}

// Allow counts a line of size bytes and reports whether it is within the
// limits.
func (r *LineRate) Allow(size int) bool {
	now := time.Now()
	return r == nil || r.lines.AllowN(now, 1) && r.bytes.AllowN(now, size+lineOverhead)
}

// Lines limits the log lines of each source, such as a server, in number and in
// bytes. One source can neither fill the disk nor hide the lines of the others.
// Lines drops and counts lines above the limit and logs the counts. Its methods
// may be called concurrently. The maker calls Close. Package host has one for servers, and
// packages with refusals of clients have their own.
type Lines struct {
	log  hclog.Logger
	kind string // what a source is, such as "server"

	mu     sync.Mutex
	closed bool               // guarded by mu
	of     map[string]*source // guarded by mu
}

// A source holds the state of one source. The mu of its Lines guards it.
type source struct {
	rate         *LineRate
	dropped      int
	droppedBytes int
	told         *time.Timer // reports the dropped lines; nil if there are none
}

// NewLines returns a Lines for sources of one kind, which is also the key of
// the source's name in the log.
func NewLines(log hclog.Logger, kind string) *Lines {
	return &Lines{log: log, kind: kind, of: map[string]*source{}}
}

// Log writes a line of a source, or drops it if the source is over its limits.
func (l *Lines) Log(level hclog.Level, name, message string, pairs ...any) {
	if l.log.GetLevel() > level || !l.allow(name, sizeOf(message, pairs)) {
		return
	}
	l.log.Log(level, message, append([]any{l.kind, name}, pairs...)...)
}

// sizeOf returns the approximate size of a line in bytes.
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

// tell logs how many lines of a source were dropped.
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

// Close logs the dropped lines that are not reported yet.
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
