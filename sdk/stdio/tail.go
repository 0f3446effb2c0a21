package stdio

import (
	"bufio"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	tailLines = 50
	lineShown = 2 << 10 // bytes of one line of standard error
	junkShown = 5       // lines of standard output that were not messages
	previewed = 200     // bytes of each of those

	logPerSecond = 200 // lines of standard error that go to the log
)

// A tail keeps the last lines that a server printed.
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

// readStderr reads standard error to its end. A server that floods it fills
// neither memory nor the log.
func (c *Conn) readStderr() {
	br := bufio.NewReaderSize(lastWords{c.stderr}, lineShown)
	second, logged, muted := time.Now(), 0, 0
	for {
		line, long, err := readLine(br)
		if now := time.Now(); err != nil || now.Sub(second) >= time.Second {
			if muted > 0 {
				c.log.Warn("standard error was too fast to log", "lines", muted)
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

// awaitEnd makes readers that wait look once more when the server has ended: a
// stranger that inherited a pipe may hold it open for ever.
func (c *Conn) awaitEnd() {
	<-c.proc.Done()
	for _, pipe := range []*os.File{c.stdout, c.stderr} {
		_ = pipe.SetReadDeadline(time.Now())
	}
}

// lastWords reads a pipe from a server that may have ended. What the server
// wrote is in the pipe by then and comes at once, however late it is asked for.
type lastWords struct{ pipe *os.File }

func (l lastWords) Read(b []byte) (int, error) {
	n, err := l.pipe.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = l.pipe.SetReadDeadline(time.Now().Add(afterExit / 2))
		if n, err = l.pipe.Read(b); errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, io.EOF
		}
	}
	return n, err
}

// awaitReaders waits for the last words on standard error, of which a stranger
// may have no end.
func (c *Conn) awaitReaders() {
	<-c.proc.Done()
	cut := time.AfterFunc(afterExit, func() { _ = c.stderr.Close() })
	c.readers.Wait()
	cut.Stop()
	_ = c.stderr.Close()
}

// readLine returns one line, cut at the reader's size; long tells.
func readLine(br *bufio.Reader) (line string, long bool, err error) {
	part, more, err := br.ReadLine()
	line = strings.ToValidUTF8(string(part), "\uFFFD")
	for more && err == nil {
		long = true
		_, more, err = br.ReadLine()
	}
	return line, long, err
}

// preview shortens a line for people.
func preview(line []byte) string {
	s := strings.ToValidUTF8(string(line[:min(len(line), previewed)]), "\uFFFD")
	if len(line) > previewed {
		s += " …"
	}
	return s
}
