package gateway

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A modern client may listen to its tasks, where their server reports their status.
// A status can be the result, which is sent once. It may arrive before the listen
// request was acknowledged, and must not get lost.

// maxEarlyTaskBytes bounds what is kept of tasks for a client that was not told yet what
// is agreed to, in bytes.
const maxEarlyTaskBytes = 4 << 20

// followTasks listens to tasks at their servers, and returns which of them it can.
func (l *listen) followTasks(ctx context.Context, r *request, ids []string) (agreed []byte) {
	s := r.session
	s.gw.register(s)
	s.mu.Lock()
	l.tasks, l.early = map[string]subscription{}, map[string][]byte{}
	s.following = append(s.following, l)
	s.mu.Unlock()
	_, agreed = subscribeAll(ids, strings.Clone, func(id string) (subscription, error) {
		t, permit, ok := r.permitTask(id)
		if !ok || r.generation.Servers[t.server].Share == PerSession { // the connection that made it is another request's by now
			return subscription{}, fault.New(fault.UpstreamUnsupported, "the task cannot be listened to")
		}
		up, done, err := r.upstreamFor(t.server)
		if err != nil {
			return subscription{}, err
		}
		defer done()
		sub := subscription{server: t.server, upstream: up}
		s.recordTask(l, id, sub) // before the server may tell anything
		if err := up.Follow(ctx, permit, id); err != nil {
			s.recordTask(l, id, subscription{})
			return subscription{}, err
		}
		return sub, nil
	})
	return agreed
}

// recordTask records the subscription to a task, or removes it if sub is empty.
func (s *Session) recordTask(l *listen, id string, sub subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.tasks[id] = sub; sub.upstream == nil {
		delete(l.tasks, id)
		delete(l.early, id)
	}
}

func (s *Session) unfollow(l *listen) {
	s.mu.Lock()
	all := l.tasks
	l.tasks = nil
	s.following = slices.DeleteFunc(s.following, func(other *listen) bool { return other == l })
	s.mu.Unlock()
	for id, sub := range all {
		sub.upstream.Unfollow(id)
	}
}

// sendEarlyTasks sends the task notifications that arrived before the acknowledgement.
// The caller holds mu.
func (s *Session) sendEarlyTasks(l *listen) {
	for _, id := range slices.Sorted(maps.Keys(l.early)) {
		sendNotification(l.out, mcp.NoteTask, l.withSubscriptionID(l.early[id]))
	}
	l.early = nil
}

// onTaskStatus relays the status of a task to the clients that listen to it. A large
// status goes to one of them; the listen requests of the others end, so that these
// clients poll. If the notification has no status, all listen requests end.
func (p *serverPeer) onTaskStatus(u *upstream.Upstream, params []byte) {
	id, ok := mcp.TextMember(params, "taskId")
	if !ok {
		return
	}
	told, says := 0, mcp.Member(params, "status") != nil
	for _, s := range p.audience() {
		told += s.onTaskStatus(u, id, params, says && (told == 0 || len(params) <= maxBroadcast))
	}
}

// onTaskStatus tells how a task goes wherever the client listens to it, if it may be
// told more than once, and how often that was.
func (s *Session) onTaskStatus(u *upstream.Upstream, id string, params []byte, may bool) (told int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.following {
		switch {
		case l.tasks[id].upstream != u:
			continue
		case !may, l.early != nil && !l.bufferEarlyTask(id, params):
			l.stop()
		case l.early == nil:
			sendNotification(l.out, mcp.NoteTask, l.withSubscriptionID(params))
		}
		told++
		may = may && len(params) <= maxBroadcast
	}
	return told
}

// bufferEarlyTask keeps what is told of a task until the client can be told, unless that is
// too much.
func (l *listen) bufferEarlyTask(id string, params []byte) bool {
	l.early[id] = slices.Clone(params)
	held := 0
	for _, kept := range l.early {
		held += len(kept)
	}
	if held > maxEarlyTaskBytes {
		delete(l.early, id)
	}
	return held <= maxEarlyTaskBytes
}
