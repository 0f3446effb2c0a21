package process

import (
	"errors"
	"io"
	"os"
	"time"
)

// LastWords reads the pipe of a process. Call pipe.SetReadDeadline(time.Now())
// when the process has ended. The reader then still returns everything that the
// process wrote, however slowly it is read. If another process inherited the
// pipe and keeps it open, reading ends after wait. Only one goroutine may read.
func LastWords(pipe *os.File, wait time.Duration) io.Reader {
	return &lastWords{pipe: pipe, wait: wait, held: mostHeld}
}

// mostHeld is the maximum content of a pipe in bytes, unless root has raised
// it.
const mostHeld = 1 << 20

// A lastWords is the reader that LastWords returns.
type lastWords struct {
	pipe  *os.File
	wait  time.Duration
	until time.Time // end of reading; zero while the process lives
	held  int       // maximum number of bytes left in the pipe from the time before the end
}

func (l *lastWords) Read(b []byte) (int, error) {
	for {
		// A read after its deadline fails without looking into the pipe.
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
