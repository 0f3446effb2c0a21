package subscription

import (
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A modern client may listen to its tasks, where their server reports their status.
// A status can be the result, which is sent once. It may arrive before the listen
// request was acknowledged, and must not get lost.

const (
	// MaxBroadcast is the maximum size in bytes of a notification to several clients.
	// Each queue may hold a copy.
	MaxBroadcast = 256 << 10
	// maxEarly limits the bytes of statuses that wait for the acknowledgement of a
	// listen request.
	maxEarly = 4 << 20
)

// Follow adds the subscriptions to tasks that add makes, several at the same time. add
// calls record before the server can report the status of the task. Follow returns the
// ids for which add returned no error. It blocks until all servers have answered.
func (l *Listen) Follow(ids []string, add func(id string, record func(Subscription)) error) (agreed []string) {
	s := l.set
	s.mu.Lock()
	l.tasks, l.early = map[string]Subscription{}, map[string][]byte{}
	s.following = append(s.following, l)
	s.mu.Unlock()
	return forEach(ids, func(id string) error {
		err := add(id, func(sub Subscription) { l.recordTask(id, sub) })
		if err != nil {
			l.forgetTask(id)
		}
		return err
	})
}

func (l *Listen) recordTask(id string, sub Subscription) {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	l.tasks[id] = sub
}

func (l *Listen) forgetTask(id string) {
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	delete(l.tasks, id)
	delete(l.early, id)
}

// TaskStatus sends the status of a task to the clients that listen to it. A status
// above MaxBroadcast goes to one of them; the listen requests of the others end, so that
// these clients poll. If params has no status, all listen requests end. The goroutine that
// reads the server's connection calls it.
func TaskStatus(clients []*Set, from *upstream.Upstream, params []byte) {
	id, ok := mcp.TextMember(params, "taskId")
	if !ok {
		return
	}
	sent, hasStatus := 0, mcp.Member(params, "status") != nil
	for _, s := range clients {
		sent += s.taskStatus(from, id, params, hasStatus && (sent == 0 || len(params) <= MaxBroadcast))
	}
}

// taskStatus sends the status of a task on each listen request for it. It ends these
// requests instead if send is false. It returns their number.
func (s *Set) taskStatus(from *upstream.Upstream, id string, params []byte, send bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.following {
		switch {
		case l.tasks[id].Upstream != from:
			continue
		case !send, l.early != nil && !l.bufferEarly(id, params):
			l.end()
		case l.early == nil:
			Notify(l.out, mcp.NoteTask, l.withID(params))
		}
		n++
		send = send && len(params) <= MaxBroadcast
	}
	return n
}

// bufferEarly keeps the last status of a task until the request is acknowledged. It
// returns false if that exceeds maxEarly. The caller holds the set's mu.
func (l *Listen) bufferEarly(id string, params []byte) bool {
	l.early[id] = slices.Clone(params)
	held := 0
	for _, kept := range l.early {
		held += len(kept)
	}
	if held > maxEarly {
		delete(l.early, id)
	}
	return held <= maxEarly
}

// sendEarly sends the statuses that arrived before the acknowledgement. The caller holds
// the set's mu.
func (l *Listen) sendEarly() {
	for _, id := range slices.Sorted(maps.Keys(l.early)) {
		Notify(l.out, mcp.NoteTask, l.withID(l.early[id]))
	}
	l.early = nil
}
