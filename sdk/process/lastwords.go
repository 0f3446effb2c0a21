package process

import (
	"errors"
	"io"
	"os"
	"time"
)

// LastWords reads a pipe from a process whose reader is told by
// SetReadDeadline(time.Now()) that the process has ended. What the process
// wrote is in the pipe by then and is read however late the reader comes to it;
// a stranger who inherited the pipe and holds it open is listened to for no
// longer than wait. One goroutine may read.
func LastWords(pipe *os.File, wait time.Duration) io.Reader {
	return &lastWords{pipe: pipe, wait: wait}
}

type lastWords struct {
	pipe *os.File
	wait time.Duration
	last bool // it is over with the next deadline
}

func (l *lastWords) Read(b []byte) (int, error) {
	n, err := l.pipe.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) && !l.last {
		l.last = true
		_ = l.pipe.SetReadDeadline(time.Now().Add(l.wait))
		n, err = l.pipe.Read(b)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = io.EOF
	}
	return n, err
}
