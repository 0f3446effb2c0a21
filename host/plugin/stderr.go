package plugin

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/limit"
)

const (
	tailBytes = 64 << 10
	logLine   = 16 << 10 // maximum bytes of one line; the rest is dropped
)

// A journal collects the text output of a plugin: standard error and stray prints. It
// keeps the last lines for faults and forwards lines to the logs within a rate limit.
//
// go-plugin's own reader would crash the host on {"@message": 1}, so it gets no input. A link,
// or one describe, has it. Its methods may be called concurrently. Readers of the process's
// output call add, and errors call last.
type journal struct {
	logs    []hclog.Logger
	conceal concealer

	rate *limit.LineRate // nil means no limit

	mu           sync.Mutex
	tail         []byte    // guarded by mu; whole lines, up to twice tailBytes
	dropped      int       // guarded by mu; dropped lines since the last report
	droppedBytes int       // guarded by mu; their bytes
	told         time.Time // guarded by mu; last report of dropped lines
}

// A concealer replaces secrets in the output of plugins. A nil concealer changes
// nothing.
type concealer func(string) string

func (c concealer) hide(text string) string {
	if c == nil {
		return text
	}
	return c(text)
}

// concealed replaces secrets with the concealer that was set last.
type concealed struct{ by atomic.Pointer[concealer] }

func (c *concealed) hide(text string) string {
	if by := c.by.Load(); by != nil {
		return by.hide(text)
	}
	return text
}

// add adds a line. crashing is true for the lines of a panic.
func (j *journal) add(said []byte, crashing bool) {
	line := j.conceal.hide(string(said))
	r, ok := parseRecord([]byte(line))
	j.mu.Lock()
	if !ok || !r.fromLibrary() && !r.aboutServer() {
		j.tail = append(append(j.tail, line...), '\n')
	}
	if old := len(j.tail) - tailBytes; old > tailBytes {
		j.tail = append(j.tail[:0], j.tail[old:]...)
	}
	if !j.rate.Allow(len(line)) {
		j.dropped++
		j.droppedBytes += len(line)
		j.mu.Unlock()
		return
	}
	due := time.Since(j.told) >= limit.ToldEvery
	j.mu.Unlock()
	if due {
		j.end()
	}
	if !ok {
		r = record{level: hclog.Debug, message: plain(line)}
		if crashing {
			r.level = hclog.Error
		}
	}
	r.message = j.conceal.hide(r.message) // once more: it may have been cut within a secret
	for i, one := range r.pairs {
		if text, ok := one.(string); ok {
			r.pairs[i] = j.conceal.hide(text)
		}
	}
	for _, log := range j.logs {
		log.Log(r.level, r.message, r.pairs...)
	}
}

// end reports the dropped lines. It is called at the end of the output and at
// intervals.
func (j *journal) end() {
	j.mu.Lock()
	lines, bytes := j.dropped, j.droppedBytes
	j.dropped, j.droppedBytes = 0, 0
	if lines > 0 {
		j.told = time.Now()
	}
	j.mu.Unlock()
	if lines == 0 {
		return
	}
	for _, log := range j.logs {
		log.Warn("log lines of the plugin were dropped", "lines", lines, "bytes", bytes)
	}
}

// last returns the last n lines in readable form.
func (j *journal) last(n int) []string {
	j.mu.Lock()
	tail := string(j.tail)
	j.mu.Unlock()
	if old := len(tail) - tailBytes; old > 0 {
		_, tail, _ = strings.Cut(tail[old:], "\n") // drop the partial line
	}
	lines := strings.Split(tail, "\n")
	lines = lines[:len(lines)-1] // drop the text after the last newline
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		if r, ok := parseRecord([]byte(line)); ok {
			lines[i] = r.String()
		} else {
			lines[i] = plain(line)
		}
	}
	return lines
}

// lines is a writer that splits its input into lines for a journal. It never fails. One
// goroutine writes to it.
type lines struct {
	journal  *journal
	part     []byte // incomplete line
	crashing bool   // inside a panic's stack, whose lines have no level
}

// Write splits b into lines.
func (l *lines) Write(b []byte) (int, error) {
	size := len(b)
	for {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		l.part = append(l.part, line[:min(len(line), logLine-len(l.part))]...)
		if !whole {
			return size, nil
		}
		l.end()
		b = rest
	}
}

// end completes a line; the last line may lack a newline.
func (l *lines) end() {
	line := bytes.TrimSuffix(l.part, []byte("\r"))
	if len(line) > 0 {
		l.crashing = l.crashing || bytes.HasPrefix(line, []byte("panic: ")) ||
			bytes.HasPrefix(line, []byte("fatal error: "))
		l.journal.add(line, l.crashing)
	}
	l.part = l.part[:0]
}

// A record is a JSON log line of hclog. Level, message and pairs come from the plugin;
// the host sets the name and the time.
type record struct {
	level   hclog.Level
	message string
	pairs   []any
}

func parseRecord(line []byte) (record, bool) {
	var fields map[string]any
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &fields) != nil {
		return record{}, false
	}
	message, _ := fields["@message"].(string)
	name, _ := fields["@level"].(string)
	r := record{level: hclog.LevelFromString(name), message: plain(message)}
	if r.level < hclog.Trace || r.level > hclog.Error {
		r.level = hclog.Debug
	}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if !strings.HasPrefix(k, "@") {
			r.pairs = append(r.pairs, plain(k), fields[k])
		}
	}
	return r, true
}

// aboutServer reports whether the record is about one server, such as a line of its
// standard error. An error about another server must not contain it.
func (r record) aboutServer() bool {
	for i := 0; i < len(r.pairs); i += 2 {
		if r.pairs[i] == "server" {
			return true
		}
	}
	return false
}

// fromLibrary reports whether go-plugin itself wrote the record. It contains the
// plugin's address, which is useless in an error.
func (r record) fromLibrary() bool {
	return r.level == hclog.Debug && r.message == "plugin address" && len(r.pairs) == 4 && r.pairs[0] == "address" &&
		r.pairs[2] == "network"
}

// String returns the record in readable form.
func (r record) String() string {
	var b strings.Builder
	b.WriteString(strings.ToUpper(r.level.String()) + " " + r.message)
	for i := 0; i < len(r.pairs); i += 2 {
		b.WriteString(" " + r.pairs[i].(string) + "=")
		if s, ok := r.pairs[i+1].(string); ok && s == plain(s) && !strings.ContainsAny(s, " \"") {
			b.WriteString(s)
			continue
		}
		if text, err := json.Marshal(r.pairs[i+1]); err == nil {
			b.WriteString(plain(string(text))) // JSON does not escape DEL and the C1 controls
		}
	}
	return b.String()
}

// plain returns s with control characters replaced by spaces. The result has neither
// line breaks nor escape sequences.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
