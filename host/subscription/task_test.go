package subscription

import (
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A recorder is a stream that takes everything.
type recorder struct{ messages []string }

func (s *recorder) TrySend(m sendqueue.Message) bool { return s.Push(m) == nil }

func (s *recorder) Push(m sendqueue.Message) error {
	s.messages = append(s.messages, string(m.Head)+string(m.Body)+string(m.Tail))
	return nil
}

// named makes an upstream that is never connected.
func named(name string) *upstream.Upstream { return upstream.New(upstream.Options{Name: name}) }

func (l *Listen) isEnded() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// listenTask begins an acknowledged listen request for a task of an upstream.
func listenTask(t *testing.T, s *Set, id int, u *upstream.Upstream) (*Listen, *recorder) {
	t.Helper()
	out := &recorder{}
	l, err := s.Listen(fmt.Append(nil, id), out, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	l.Follow([]string{"T"}, func(_ string, record func(Subscription)) error {
		record(Subscription{Server: "a", Upstream: u, Version: u})
		return nil
	})
	l.Acknowledge([]byte("{}"), func(string) *upstream.Upstream { return u })
	out.messages = nil
	return l, out
}

// TestLargeTaskStatus: a large status goes to one listen request, and the requests of
// the other clients end. Without a status all of them end.
func TestLargeTaskStatus(t *testing.T) {
	a, b := named("a"), named("b")
	for _, c := range []struct {
		size   int
		from   *upstream.Upstream
		status bool
		want   string // for each listen request, the number of messages and whether it ended
	}{
		{100, a, true, "1 false 1 false 0 false"}, {MaxBroadcast, a, true, "1 false 1 false 0 false"},
		{MaxBroadcast + 1, a, true, "1 false 0 true 0 false"}, {MaxBroadcast + 1, b, true, "0 false 0 false 1 false"},
		{100, a, false, "0 true 0 true 0 false"}, {MaxBroadcast + 1, b, false, "0 false 0 false 0 true"},
	} {
		for _, sets := range [][]*Set{{NewSet(&recorder{})}, {NewSet(&recorder{}), NewSet(&recorder{}),
			NewSet(&recorder{})}} {
			// Of one client, and of several.
			var listens []*Listen
			var outs []*recorder
			for i, u := range []*upstream.Upstream{a, a, b} {
				l, out := listenTask(t, sets[i%len(sets)], i, u)
				listens, outs = append(listens, l), append(outs, out)
			}
			params := mcp.SetMember([]byte(`{"taskId":"T"}`),
				map[bool]string{true: "status", false: "other"}[c.status], []byte(`""`))
			padding := c.size - len(mcp.SetMember(params, "x", []byte(`""`)))
			TaskStatus(sets, c.from, mcp.SetMember(params, "x", mcp.AppendText(nil, strings.Repeat("x", padding))))
			var got []string
			for i, l := range listens {
				got = append(got, fmt.Sprint(len(outs[i].messages), l.isEnded()))
			}
			if all := strings.Join(got, " "); all != c.want {
				t.Errorf("%d bytes to %d clients: %s, want %s", c.size, len(sets), all, c.want)
			}
		}
	}
}

// TestEarlyTaskStatus: the last status of each task waits for the acknowledgement.
func TestEarlyTaskStatus(t *testing.T) {
	u := named("a")
	s, out := NewSet(&recorder{}), &recorder{}
	l, _ := s.Listen([]byte("1"), out, nil, 2)
	defer l.Close()
	l.Follow([]string{"T", "U"}, func(id string, record func(Subscription)) error {
		record(Subscription{Server: "a", Upstream: u, Version: u})
		for _, status := range []string{"working", "completed"} {
			TaskStatus([]*Set{s}, u, fmt.Appendf(nil, `{"taskId":%q,"status":%q}`, id, status))
		}
		if id == "U" {
			return ErrTooMany // any error: the server refuses it
		}
		return nil
	})
	if len(out.messages) > 0 {
		t.Errorf("before the acknowledgement: %v", out.messages)
	}
	l.Acknowledge([]byte("{}"), func(string) *upstream.Upstream { return u })
	if len(out.messages) != 2 || !strings.Contains(out.messages[0], mcp.NoteAcknowledged) ||
		!strings.Contains(out.messages[1], `"taskId":"T","status":"completed"`) {
		t.Errorf("%v", out.messages)
	}
}

func TestEarlyTaskStatusIsBounded(t *testing.T) {
	l := &Listen{early: map[string][]byte{}}
	const size = maxEarly / 4
	for i := range 10 {
		if !l.bufferEarly("same", make([]byte, size)) {
			t.Fatalf("the last status of one task is too much, at %d", i)
		}
	}
	for i := range 5 {
		if kept := l.bufferEarly(fmt.Sprint(i), make([]byte, size)); kept != (i < 3) {
			t.Errorf("task %d: %v", i, kept)
		}
	}
}
