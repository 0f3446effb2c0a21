package stdio

import (
	"bufio"
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
func (c *Conn) readStderr(r *os.File) {
	// A stranger that inherited the pipe may hold it open after the server's
	// end; what the server wrote is in the pipe by then.
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-c.proc.Done():
			_ = r.SetReadDeadline(time.Now().Add(afterExit / 2))
		case <-stop:
		}
	}()
	defer r.Close()

	br := bufio.NewReaderSize(r, lineShown)
	second, logged, muted := time.Now(), 0, 0
	for {
		line, long, err := readLine(br)
		if line != "" {
			if long {
				line += " …"
			}
			c.tail.add(line)
			if now := time.Now(); now.Sub(second) >= time.Second {
				if muted > 0 {
					c.log.Warn("standard error was too fast to log", "lines", muted)
				}
				second, logged, muted = now, 0, 0
			}
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
