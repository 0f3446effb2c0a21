package stdio

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/sdk/process"
)

const (
	tailLines = 50
	lineShown = 2 << 10 // bytes kept of a line of standard error
	junkShown = 5       // lines of standard output kept that are not messages, and one more after each message
	previewed = 200     // bytes kept of each of them

	logPerSecond = 200 // lines of standard error logged per second
)

// A tail keeps the last lines that a server printed. The goroutine that reads standard error adds
// lines; any may read them.
type tail struct {
	mu   sync.Mutex
	ring []string // guarded by mu
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.ring) == tailLines {
		t.ring = slices.Delete(t.ring, 0, 1)
	}
	t.ring = append(t.ring, line)
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.ring)
}

// readStderr reads standard error to its end. It limits the lines kept and
// logged, so that a flood fills neither memory nor the log.
func (c *Conn) readStderr() {
	br := bufio.NewReaderSize(process.LastWords(c.stderr, afterExit/2), lineShown)
	second, logged, muted := time.Now(), 0, 0
	for {
		line, long, err := readLine(br)
		if now := time.Now(); err != nil || now.Sub(second) >= time.Second {
			if muted > 0 {
				c.log.Warn("too many lines on standard error; not logged", "lines", muted)
			}
			second, logged, muted = now, 0, 0
		}
		if line != "" {
			if long {
				line += " …"
			}
			c.tail.add(line)
			if logged++; logged <= logPerSecond {
				c.log.Debug("stderr", "line", line)
			} else {
				muted++
			}
		}
		if err != nil {
			return
		}
	}
}

// awaitEnd sets a read deadline on the pipes when the server has ended, because
// an orphan may keep them open.
func (c *Conn) awaitEnd() {
	<-c.proc.Done()
	for _, pipe := range []*os.File{c.stdout, c.stderr} {
		_ = pipe.SetReadDeadline(time.Now())
	}
}

// awaitReaders waits until standard error is read to its end, for at most
// afterExit: an orphan may keep the pipe open.
func (c *Conn) awaitReaders() {
	<-c.proc.Done()
	cut := time.AfterFunc(afterExit, func() { _ = c.stderr.Close() })
	c.readers.Wait()
	cut.Stop()
	_ = c.stderr.Close()
}

// readLine returns one line, cut at the size of the reader's buffer. long
// reports whether it was cut.
func readLine(br *bufio.Reader) (line string, long bool, err error) {
	part, more, err := br.ReadLine()
	line = strings.ToValidUTF8(string(part), "\uFFFD")
	for more && err == nil {
		long = true
		_, more, err = br.ReadLine()
	}
	return line, long, err
}

// preview shortens a line for display.
func preview(line []byte) string {
	s := strings.ToValidUTF8(string(line[:min(len(line), previewed)]), "\uFFFD")
	if len(line) > previewed {
		s += " …"
	}
	return s
}
