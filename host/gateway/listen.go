package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/upstream"
)

const (
	// maxSubscriptions limits the subscriptions of one client.
	maxSubscriptions = 1000
	// subscribingAtOnce limits the concurrent subscription requests to servers.
	subscribingAtOnce = 16
	// maxURI bounds what is kept of a subscription.
	maxURI = 8 << 10
)

// subscribe subscribes a legacy client to a resource.
func subscribe(ctx context.Context, r *request) (response, error) {
	s, done := r.session, response{result: []byte("{}")}
	key := canonical(r.requested)
	s.mu.Lock()
	_, have := s.subs[key]
	s.mu.Unlock()
	if have {
		return done, nil
	}
	if !s.reserve(1) {
		return response{}, tooMany()
	}
	sub, err := r.subscribeTo(ctx, r.resource, r.permit, r.requested)
	if err != nil {
		s.reserve(-1)
		return response{}, err
	}
	s.mu.Lock()
	_, have = s.subs[key]
	if s.subs == nil {
		s.subs = map[string]subscription{}
	}
	s.subs[key] = sub
	s.mu.Unlock()
	if have { // by another request at the same time
		s.reserve(-1)
		sub.upstream.Unsubscribe(sub.uri)
	}
	s.stateChanged()
	return done, nil
}

// A subscription is a client's subscription to a resource, on the connection for that
// client. The keys of maps are the canonical forms of the URIs that clients use.
type subscription struct {
	server       string
	upstream     *upstream.Upstream
	uri          string // the server's own
	requestedURI string // the client's
}

// canonical returns the URI under which a subscription is kept: of the forms of a
// qualified URI always the same.
func canonical(uri string) string {
	if at, ok := catalog.Unqualify(uri); ok {
		return at.Qualify()
	}
	return uri
}

// subscribeTo subscribes to a resource at its server.
func (r *request) subscribeTo(ctx context.Context, at catalog.Location, permit policy.Permit, uri string) (subscription, error) {
	up, done, err := r.completionUpstream(at.Server)
	if err != nil {
		return subscription{}, err
	}
	defer done()
	if err := up.Subscribe(ctx, permit, at.URI); err != nil {
		return subscription{}, err
	}
	return subscription{at.Server, up, at.URI, uri}, nil
}

// listenTo subscribes to one of the resources of a listen request, which the
// policy decides about each.
func (r *request) listenTo(ctx context.Context, uri string) (sub subscription, err error) {
	if len(uri) > maxURI {
		return sub, errURITooLong()
	}
	at, err := r.gw.Locate(ctx, r.principal, uri)
	if err != nil {
		return sub, err
	}
	permit, err := r.generation.Policy.Decide(r.principal, policy.Item{Server: at.Server, Kind: policy.Resource, Name: at.URI}, nil).Permit()
	if err != nil {
		return sub, err
	}
	return r.subscribeTo(ctx, at, permit, uri)
}

func errURITooLong() error {
	return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("a uri of more than %d bytes cannot be subscribed to", maxURI)}
}

func unsubscribe(r *request) ([]byte, error) {
	uri, _ := mcp.TextMember(r.params, "uri")
	r.session.unsubscribe(uri)
	return []byte("{}"), nil
}

// unsubscribe ends a subscription of a legacy client, made or still to be renewed.
func (s *Session) unsubscribe(uri string) {
	key := canonical(uri)
	s.mu.Lock()
	sub, have := s.subs[key]
	renewing := s.renewing[key]
	delete(s.subs, key)
	delete(s.renewing, key)
	s.mu.Unlock()
	if have {
		s.reserve(-1)
		sub.upstream.Unsubscribe(sub.uri)
	}
	if have || renewing {
		s.stateChanged()
	}
}

// A listen is a subscriptions/listen request of a modern client. It stays open until the
// client cancels it or the session ends.
type listen struct {
	id    mcp.ID
	lists map[string]bool         // the notifications it wants, by method
	uris  map[string]subscription // and the resources
	tasks map[string]subscription // guarded by the session's mu; and the tasks
	early map[string][]byte       // guarded by the session's mu; see bufferEarlyTask; nil once acknowledged
	out   Stream
	once  sync.Once
	ended chan struct{}
}

func (l *listen) stop() { l.once.Do(func() { close(l.ended) }) }

// filters are the members of a listen request, by the notification they stand
// for.
var filters = map[string]string{
	"toolsListChanged":     mcp.NoteToolsChanged,
	"promptsListChanged":   mcp.NotePromptsChanged,
	"resourcesListChanged": mcp.NoteResChanged,
}

// listenRequest answers a listen request. It sends the acknowledgement with the accepted
// subscriptions, then notifications, and a result when the session ends.
func listenRequest(ctx context.Context, r *request) (response, error) {
	r.openSession(ctx)
	s := r.session
	asked := mcp.Member(r.params, "notifications")
	if mcp.Member(asked, "taskIds") != nil && !r.knowsTasks() {
		return response{}, noTasks("taskIds")
	}
	l := &listen{id: r.id, lists: map[string]bool{}, out: r.out, ended: make(chan struct{})}
	agreed := []byte("{}")
	for _, member := range slices.Sorted(maps.Keys(filters)) {
		if string(mcp.Member(asked, member)) == "true" {
			l.lists[filters[member]] = true
			agreed = mcp.SetMember(agreed, member, []byte("true"))
		}
	}
	uris, tasks := uniqueTexts(mcp.Member(asked, "resourceSubscriptions"), canonical), uniqueTexts(mcp.Member(asked, "taskIds"), strings.Clone)
	if !s.reserve(len(uris) + len(tasks)) {
		return response{}, tooMany()
	}
	defer s.reserve(-len(uris) - len(tasks))
	defer func() {
		for _, sub := range l.uris {
			sub.upstream.Unsubscribe(sub.uri)
		}
	}()
	var list []byte
	l.uris, list = subscribeAll(uris, canonical, func(uri string) (subscription, error) { return r.listenTo(ctx, uri) })
	if list != nil {
		agreed = mcp.SetMember(agreed, "resourceSubscriptions", list)
	}
	if len(tasks) > 0 {
		list = l.followTasks(ctx, r, tasks)
		defer s.unfollow(l)
	}
	if len(tasks) > 0 && list != nil {
		agreed = mcp.SetMember(agreed, "taskIds", list)
	}
	s.acknowledge(l, agreed)
	r.leaveGeneration() // it may listen for days
	defer s.removeListen(l)
	select {
	case <-l.ended:
		return response{result: mcp.SetPath([]byte(`{"resultType":"complete"}`), []string{"_meta", mcp.MetaSubscription}, l.id)}, nil
	case <-ctx.Done():
		return response{}, nil
	}
}

// uniqueTexts are the strings of a JSON array, the first of those that have the
// same key.
func uniqueTexts(array []byte, key func(string) string) []string {
	var all []string
	seen := map[string]bool{}
	for raw := range mcp.Elements(array) {
		text, ok := mcp.Text(raw)
		if ok && !seen[key(text)] && len(all) <= maxSubscriptions {
			seen[key(text)] = true
			all = append(all, text)
		}
	}
	return all
}

// subscribeAll subscribes to what is named, at many servers at the same time, and
// returns what it could subscribe to: the rest is left out of what is agreed to.
func subscribeAll(names []string, key func(string) string, subscribe func(name string) (subscription, error)) (all map[string]subscription, agreed []byte) {
	subs := make([]subscription, len(names))
	var g errgroup.Group
	g.SetLimit(subscribingAtOnce)
	for i, name := range names {
		g.Go(func() error {
			if sub, err := subscribe(name); err == nil {
				subs[i] = sub
			}
			return nil
		})
	}
	_ = g.Wait()
	all = map[string]subscription{}
	for i, name := range names {
		if subs[i].upstream == nil {
			continue
		}
		all[key(name)] = subs[i]
		sep := byte('[')
		if agreed != nil {
			sep = ','
		}
		agreed = mcp.AppendText(append(agreed, sep), name)
	}
	if agreed != nil {
		agreed = append(agreed, ']')
	}
	return all, agreed
}

// reserve counts n more subscriptions. It returns false above maxSubscriptions.
func (s *Session) reserve(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 && s.subscribed+n > maxSubscriptions {
		return false
	}
	s.subscribed += n
	return true
}

func tooMany() error {
	return &rpcError{code: mcp.CodeInvalidParams, message: fmt.Sprintf("more than %d subscriptions", maxSubscriptions)}
}

// acknowledge acknowledges a listen request. Nothing is sent for it before.
func (s *Session) acknowledge(l *listen, agreed []byte) {
	s.gw.register(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = l.out.Push(sendqueue.Text(mcp.AppendNotification(nil, mcp.NoteAcknowledged, l.withSubscriptionID(mcp.SetMember(nil, "notifications", agreed)))))
	if s.closing || s.gw.isEnding() {
		l.stop()
	}
	if s.listens == nil {
		s.listens = map[string]*listen{}
	}
	s.listens[string(l.id)] = l
	s.sendEarlyTasks(l)
}

func (s *Session) removeListen(l *listen) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listens, string(l.id))
}

// withSubscriptionID adds the id of the listen request to the params of a notification.
func (l *listen) withSubscriptionID(params []byte) []byte {
	return mcp.SetPath(params, []string{"_meta", mcp.MetaSubscription}, l.id)
}
