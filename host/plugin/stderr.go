package plugin

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	tailBytes    = 64 << 10
	logLine      = 16 << 10 // bytes of one line; the rest of it is dropped
	logPerSecond = 1 << 20  // bytes a second that go to the log
)

// A tail keeps the last lines that a plugin wrote to standard error.
type tail struct {
	mu    sync.Mutex
	lines []string // guarded by mu
	bytes int      // guarded by mu
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines, t.bytes = append(t.lines, line), t.bytes+len(line)
	for t.bytes > tailBytes {
		t.bytes -= len(t.lines[0])
		t.lines = slices.Delete(t.lines, 0, 1)
	}
}

// last returns the last n lines.
func (t *tail) last(n int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.lines[max(0, len(t.lines)-n):])
}

// readStderr reads what a plugin logs, to its end. go-plugin's own reader
// brings the host down over {"@message": 1}, so it gets nothing to read.
//
// The plugin decides level, message and pairs of a line. The fields that say
// who wrote it are the host's.
func readStderr(r io.Reader, logs []hclog.Logger, keep *tail) {
	br := bufio.NewReaderSize(r, logLine)
	second, passed, dropped := time.Now(), 0, 0
	crashing := false // a panic's stack follows its first line without levels
	for {
		part, more, err := br.ReadLine()
		line := string(part) // before ReadLine overwrites it
		for more && err == nil {
			_, more, err = br.ReadLine()
		}
		if line != "" {
			if now := time.Now(); now.Sub(second) >= time.Second {
				if dropped > 0 {
					note(logs, hclog.Warn, "the plugin logs too fast", "dropped_lines", dropped)
				}
				second, passed, dropped = now, 0, 0
			}
			if passed += len(line); passed <= logPerSecond {
				crashing = crashing || strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
				keep.add(logLineFrom(logs, line, crashing))
			} else {
				dropped++
			}
		}
		if err != nil {
			return
		}
	}
}

// logLineFrom passes one line on to the log and returns it as people read it.
func logLineFrom(logs []hclog.Logger, line string, crashing bool) string {
	var fields map[string]any
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &fields) != nil {
		if crashing {
			note(logs, hclog.Error, line)
		} else {
			note(logs, hclog.Debug, line)
		}
		return line
	}
	message, _ := fields["@message"].(string)
	name, _ := fields["@level"].(string)
	level := hclog.LevelFromString(name)
	if level == hclog.NoLevel {
		level = hclog.Debug
	}
	var pairs []any
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		if !strings.HasPrefix(k, "@") {
			pairs = append(pairs, k, fields[k])
		}
	}
	note(logs, level, message, pairs...)
	return readable(level, message, pairs)
}

func note(logs []hclog.Logger, level hclog.Level, message string, pairs ...any) {
	for _, log := range logs {
		log.Log(level, message, pairs...)
	}
}

func readable(level hclog.Level, message string, pairs []any) string {
	var b strings.Builder
	b.WriteString(strings.ToUpper(level.String()) + " " + message)
	for i := 0; i < len(pairs); i += 2 {
		b.WriteString(" " + pairs[i].(string) + "=")
		if s, ok := pairs[i+1].(string); ok && !strings.ContainsAny(s, " \n\"") {
			b.WriteString(s)
			continue
		}
		text, err := json.Marshal(pairs[i+1])
		if err != nil {
			continue
		}
		b.Write(text)
	}
	return b.String()
}
