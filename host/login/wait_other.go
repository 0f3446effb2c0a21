//go:build !unix

package login

import (
	"context"
	"os"
)

// A waiter reads from a file. On this system a read of a console cannot be interrupted.
// A cancelled read goes on in its goroutine, and the next call receives its result.
type waiter struct {
	file *os.File
	got  chan outcome
	busy chan struct{} // holds a token while a read is under way
}

type outcome struct {
	b   []byte
	err error
}

func newWaiter(f *os.File) waiter {
	return waiter{file: f, got: make(chan outcome, 1), busy: make(chan struct{}, 1)}
}

func (w waiter) number() int { return int(w.file.Fd()) }

func (w waiter) read(ctx context.Context) ([]byte, error) {
	select {
	case w.busy <- struct{}{}:
		go func() {
			b := make([]byte, 4<<10)
			n, err := w.file.Read(b)
			w.got <- outcome{b[:n], err}
		}()
	default: // a read is in progress
	}
	select {
	case o := <-w.got:
		<-w.busy
		return o.b, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
