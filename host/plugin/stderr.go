package plugin

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/limit"
)

const (
	tailBytes = 64 << 10
	logLine   = 16 << 10 // bytes of one line; the rest of it is dropped
)

// A journal is what a plugin says for people, on standard error and with stray
// prints. The last of it is kept for the messages of faults; the log gets as
// much as it can bear.
//
// go-plugin's own reader brings the host down over {"@message": 1}, so it gets
// nothing to read.
type journal struct {
	logs    []hclog.Logger
	conceal concealer

	rate *limit.LineRate // nil: no limit

	mu           sync.Mutex
	tail         []byte    // guarded by mu; whole lines, up to twice what is shown
	dropped      int       // guarded by mu; lines
	droppedBytes int       // guarded by mu
	told         time.Time // guarded by mu; when the log said what was dropped
}

// A concealer takes secrets out of what plugins say for people; nil leaves them.
type concealer func(string) string

func (c concealer) hide(text string) string {
	if c == nil {
		return text
	}
	return c(text)
}

// add takes a line.
func (j *journal) add(said []byte, crashing bool) {
	line := j.conceal.hide(string(said))
	r, ok := parseRecord([]byte(line))
	j.mu.Lock()
	if !ok || !r.ofLibrary() {
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
	for _, log := range j.logs {
		log.Log(r.level, r.message, r.pairs...)
	}
}

// end says what was dropped. It is called when nothing more comes, and now and
// then.
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

// last returns the last n lines as people read them.
func (j *journal) last(n int) []string {
	j.mu.Lock()
	tail := string(j.tail)
	j.mu.Unlock()
	if old := len(tail) - tailBytes; old > 0 {
		_, tail, _ = strings.Cut(tail[old:], "\n") // the rest of a line says little
	}
	lines := strings.Split(tail, "\n")
	lines = lines[:len(lines)-1] // after the last line end
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

// lines is a writer that gives a journal what is written to it, line by line.
// It never fails.
type lines struct {
	journal  *journal
	part     []byte // of a line whose end has not come
	crashing bool   // a panic's stack follows its first line without levels
}

// Write takes a piece of the text.
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

// end ends a line; the last one may lack its end.
func (l *lines) end() {
	line := bytes.TrimSuffix(l.part, []byte("\r"))
	if len(line) > 0 {
		l.crashing = l.crashing || bytes.HasPrefix(line, []byte("panic: ")) || bytes.HasPrefix(line, []byte("fatal error: "))
		l.journal.add(line, l.crashing)
	}
	l.part = l.part[:0]
}

// A record is a line of hclog's. The plugin decides level, message and pairs;
// the fields that say who wrote it and when are the host's.
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

// ofLibrary reports whether go-plugin wrote the record: the address at which the
// plugin is reached, which explains nothing in an error.
func (r record) ofLibrary() bool {
	return r.level == hclog.Debug && r.message == "plugin address" && len(r.pairs) == 4 && r.pairs[0] == "address" && r.pairs[2] == "network"
}

// String is the record as people read it.
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
			b.WriteString(plain(string(text))) // JSON leaves DEL and what follows it as they are
		}
	}
	return b.String()
}

// plain makes one line of text of what a plugin wrote: neither a line end nor
// an escape sequence in it reaches a log or a terminal.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
