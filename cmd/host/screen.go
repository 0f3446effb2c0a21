package main

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// A screen is the terminal that is shared by what moves on it and by questions.
// While a question is open nothing else is shown.
type screen struct {
	once sync.Once
	turn chan struct{} // holds one token: who has it writes
	used bool          // something moves on the last line; belongs to who has the turn
}

func (s *screen) start() {
	s.once.Do(func() {
		s.turn = make(chan struct{}, 1)
		s.turn <- struct{}{}
	})
}

// show writes something that moves, unless a question is open.
func (s *screen) show(write func()) {
	s.start()
	select {
	case <-s.turn:
		s.used = true
		write()
		s.turn <- struct{}{}
	default:
	}
}

// take clears the last line for a question, which ends with release.
func (s *screen) take(ctx context.Context, out io.Writer) (release func(), err error) {
	s.start()
	select {
	case <-s.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.used {
		fmt.Fprint(out, "\r\x1b[K")
		s.used = false
	}
	return func() { s.turn <- struct{}{} }, nil
}
