package subscription

import (
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// A Listen is a subscriptions/listen request of a modern client. It stays open until the
// client cancels it or Ended is closed. The goroutine of the request makes it and calls Close.
// The fields above resources do not change.
type Listen struct {
	set      *Set
	id       mcp.ID
	out      Stream
	methods  []string // of the list changes that it wants
	reserved int      // subscriptions that the set counts

	resources map[string]Subscription // guarded by the set's mu; by canonical URI
	tasks     map[string]Subscription // guarded by the set's mu; by id
	early     map[string][]byte       // guarded by the set's mu; see bufferEarly; nil once acknowledged
	once      sync.Once
	ended     chan struct{}
}

// Listen begins a listen request for the list changes with the given methods, and for up
// to n resources and tasks. It fails with ErrTooMany above Max. The caller calls Close.
// Notifications go to out after Acknowledge.
func (s *Set) Listen(id mcp.ID, out Stream, methods []string, n int) (*Listen, error) {
	if !s.reserve(n) {
		return nil, ErrTooMany
	}
	return &Listen{set: s, id: id, out: out, methods: methods, reserved: n, ended: make(chan struct{})}, nil
}

// Subscribe adds the subscriptions to resources that add makes, several at the same time.
// It returns the URIs for which add returned no error. It blocks until all servers have
// answered.
func (l *Listen) Subscribe(uris []string, add func(uri string) (Subscription, error)) (agreed []string) {
	all := map[string]Subscription{}
	var mu sync.Mutex
	agreed = forEach(uris, func(uri string) error {
		sub, err := add(uri)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			all[Canonical(uri)] = sub
		}
		return err
	})
	l.set.mu.Lock()
	defer l.set.mu.Unlock()
	l.resources = all
	return agreed
}

// atOnce limits the concurrent requests to servers.
const atOnce = 16

// forEach calls do for each name, several at the same time. It returns the names for
// which do returned no error.
func forEach(names []string, do func(name string) error) (done []string) {
	errs := make([]error, len(names))
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i, name := range names {
		g.Go(func() error { errs[i] = do(name); return nil })
	}
	_ = g.Wait()
	for i, name := range names {
		if errs[i] == nil {
			done = append(done, name)
		}
	}
	return done
}

// Acknowledge sends the acknowledgement with the accepted notifications; notifications
// follow. It ends the request at once if a server of it was replaced meanwhile, so that
// the client listens again, at the new one.
func (l *Listen) Acknowledge(agreed []byte, now Versions) {
	s := l.set
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = l.out.Push(sendqueue.Text(mcp.AppendNotification(nil, mcp.NoteAcknowledged,
		l.withID(mcp.SetMember(nil, "notifications", agreed)))))
	s.listens[string(l.id)] = l
	l.sendEarly()
	if s.ended || l.outdated(now) {
		l.end()
	}
}

// outdated reports whether a server of the request was replaced. The caller holds the
// set's mu.
func (l *Listen) outdated(now Versions) bool {
	for _, subs := range []map[string]Subscription{l.resources, l.tasks} {
		for _, sub := range subs {
			if sub.Version != now(sub.Server) {
				return true
			}
		}
	}
	return false
}

func (l *Listen) end() { l.once.Do(func() { close(l.ended) }) }

// Ended is closed when the request is to be answered with a result.
func (l *Listen) Ended() <-chan struct{} { return l.ended }

// Close removes the request and its subscriptions from the set, and tells the servers.
func (l *Listen) Close() {
	s := l.set
	s.mu.Lock()
	resources, tasks := l.resources, l.tasks
	l.resources, l.tasks = nil, nil
	s.removeListen(l)
	s.count -= l.reserved
	s.mu.Unlock()
	for id, sub := range tasks {
		sub.Upstream.Unfollow(id)
	}
	for _, sub := range resources {
		sub.Upstream.Unsubscribe(sub.URI)
	}
}

// withID adds the id of the listen request to the params of a notification.
func (l *Listen) withID(params []byte) []byte {
	return mcp.SetPath(params, []string{"_meta", mcp.MetaSubscription}, l.id)
}

// removeListen removes a listen request from the set. The caller holds mu.
func (s *Set) removeListen(l *Listen) {
	if s.listens[string(l.id)] == l {
		delete(s.listens, string(l.id))
	}
	s.following = slices.DeleteFunc(s.following, func(other *Listen) bool { return other == l })
}

// ListChanged sends a notification with the given method on the listen requests that
// want it.
func (s *Set) ListChanged(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.listens {
		if slices.Contains(l.methods, method) {
			Notify(l.out, method, l.withID(nil))
		}
	}
}

// EndListens ends all listen requests, and each later one when it is acknowledged.
func (s *Set) EndListens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, l := range s.listens {
		l.end()
	}
}
