package gateway

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A told is a stream that takes everything.
type told struct{ messages []string }

func (s *told) Send(_ context.Context, m sendqueue.Message) error { return s.Push(m) }
func (s *told) TrySend(m sendqueue.Message) bool                  { return s.Push(m) == nil }
func (s *told) WaitForSpace(context.Context) error                { return nil }

func (s *told) Push(m sendqueue.Message) error {
	s.messages = append(s.messages, string(m.Head)+string(m.Body)+string(m.Tail))
	return nil
}

// TestLargeTask: what is large is told to one of those who listen to a task, and
// the requests of the others end; where nothing is told, all do.
func TestLargeTask(t *testing.T) {
	a, b := &upstream.Upstream{}, &upstream.Upstream{}
	for _, c := range []struct {
		size int
		over *upstream.Upstream
		may  bool
		want string // for each listener, how often it was told and whether it ended
	}{
		{10, a, true, "1 false 1 false 0 false"}, {maxBroadcast, a, true, "1 false 1 false 0 false"}, {maxBroadcast + 1, a, true, "1 false 0 true 0 false"}, {maxBroadcast + 1, b, true, "0 false 0 false 1 false"},
		{10, a, false, "0 true 0 true 0 false"}, {maxBroadcast + 1, b, false, "0 false 0 false 0 true"},
	} {
		s := &Session{}
		for i, over := range []*upstream.Upstream{a, a, b} {
			s.following = append(s.following, &listen{
				id: fmt.Append(nil, i), out: &told{}, ended: make(chan struct{}), tasks: map[string]subscription{"T": {server: "a", upstream: over}},
			})
		}
		s.onTaskStatus(c.over, "T", []byte(`{"x":"`+strings.Repeat("x", c.size-len(`{"x":""}`))+`"}`), c.may)
		var got []string
		for _, l := range s.following {
			ended := false
			select {
			case <-l.ended:
				ended = true
			default:
			}
			got = append(got, fmt.Sprint(len(l.out.(*told).messages), ended))
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%d bytes: %s, want %s", c.size, all, c.want)
		}
	}
}

// TestEarlyTasks: what is kept for a client that was not told yet what is agreed
// to is the last of each task, and bounded.
func TestEarlyTasks(t *testing.T) {
	l := &listen{early: map[string][]byte{}}
	const size = maxEarlyTaskBytes / 4
	for i := range 10 {
		if !l.bufferEarlyTask("same", make([]byte, size)) {
			t.Fatalf("the last of one task is too much, at %d", i)
		}
	}
	for i := range 5 {
		if kept := l.bufferEarlyTask(fmt.Sprint(i), make([]byte, size)); kept != (i < 3) {
			t.Errorf("task %d: %v", i, kept)
		}
	}
}
