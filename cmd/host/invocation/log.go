package invocation

import (
	"bufio"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/logbuffer"
	"github.com/junctor-mcp/junctor/host/visible"
)

// logLevel returns the level of --log or JUNCTOR_LOG.
func (inv *Invocation) logLevel(fallback hclog.Level) (hclog.Level, error) {
	name, from := inv.LogFlag, "--log"
	if name == "" {
		name, from = inv.Get("JUNCTOR_LOG"), "the variable JUNCTOR_LOG"
	}
	if name == "" {
		return fallback, nil
	}
	level := hclog.LevelFromString(name)
	if level == hclog.NoLevel {
		return fallback, fault.New(fault.Usage, "%s: %q is not a log level", from, name).
			WithHint("the levels are %s", strings.Join(host.HostLevels, ", "))
	}
	return level, nil
}

// StartLog creates the logger. It also redirects other writes to standard error, by libraries
// below go-plugin, into the log. Servers log more by default and through a queue. Other
// verbs log on request only, since their errors say what failed. A plugin's own log file
// has its stack after a panic.
func (inv *Invocation) StartLog(serves bool) error {
	fallback, out := hclog.Off, inv.Stderr
	if serves {
		fallback = hclog.Info
	}
	level, err := inv.logLevel(fallback)
	if err != nil {
		return err
	}
	if serves {
		inv.logs = newLogQueue(out)
		out = inv.logs
	}
	asJSON := inv.Get("JUNCTOR_LOG_FORMAT") == "json"
	if asJSON {
		out = visible.Writer(out)
	} else {
		out = terminal.SafeWriter(out)
	}
	inv.masked = newMaskedLog(hclog.LoggerOptions{Name: "junctor", Level: level, Output: out, JSONFormat: asJSON})
	if serves {
		inv.Records = logbuffer.Attach(inv.masked.log)
	}
	inv.Log = inv.masked.log
	redirectLogs(inv.Log)
	return nil
}

// redirectLogs sends what libraries write on standard error, or with the loggers of the
// standard library, to a log.
func redirectLogs(to hclog.Logger) {
	w := to.StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
	stdlog.SetFlags(0)
	stdlog.SetOutput(w)
	slog.SetDefault(slog.New(slog.NewTextHandler(w, nil)))
	if r, pipe, err := os.Pipe(); err == nil {
		os.Stderr = pipe
		go func() {
			lines := bufio.NewReader(r)
			for line, _, err := lines.ReadLine(); err == nil; line, _, err = lines.ReadLine() {
				to.Debug("stderr of a library", "line", string(line))
			}
		}()
	}
}

// maxQueuedLog is the maximum size of the queued log, in bytes.
const maxQueuedLog = 1 << 20

// A logQueue writes the log without blocking its callers. If the reader of standard error is
// too slow it drops lines and reports their number. Many clients never read a server's
// standard error, and requests must not wait for it.
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
