package process

import (
	"errors"
	"io"
	"os"
	"time"
)

// LastWords reads a pipe from a process whose reader is told by
// SetReadDeadline(time.Now()) that the process has ended. What the process
// wrote is in the pipe by then and is read however late the reader comes to it,
// or goes on with it; a stranger who inherited the pipe and holds it open is
// listened to for no longer than wait. One goroutine may read.
func LastWords(pipe *os.File, wait time.Duration) io.Reader {
	return &lastWords{pipe: pipe, wait: wait, held: mostHeld}
}

// mostHeld is what a pipe holds at most, in bytes, unless root made it larger.
const mostHeld = 1 << 20

type lastWords struct {
	pipe  *os.File
	wait  time.Duration
	until time.Time // it is over then; zero: the process lives
	held  int       // bytes that may still be in the pipe from before its end
}

func (l *lastWords) Read(b []byte) (int, error) {
	for {
		// A read whose deadline has passed does not even look into the pipe.
		looks := l.until.IsZero() || time.Now().Before(l.until)
		n, err := l.pipe.Read(b)
		if !l.until.IsZero() {
			l.held -= n
		}
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return n, err
		case !l.until.IsZero() && (looks || l.held <= 0):
			return n, io.EOF
		}
		l.until = time.Now().Add(l.wait)
		_ = l.pipe.SetReadDeadline(l.until)
	}
}
