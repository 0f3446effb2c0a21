// Package subscription keeps what each client subscribed to, and sends the client
// notifications of the changes. The gateway decides what a client may subscribe to, and
// which clients a notification of a server may be for.
//
// The gateway has a Set for each session, from its beginning to its end; nothing else uses the
// package. Set and Listen may be used concurrently. add, do and subscribe functions run without
// the lock and may wait for servers; notifications are sent with the lock held and do not wait.
// set.go is for legacy clients, listen.go for modern ones, task.go for tasks, renew.go for
// subscriptions that are made again, and uri.go (pure) for the names of resources.
package subscription

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// Max limits the subscriptions of one client.
const Max = 1000

// ErrTooMany is the error of a subscription above Max.
var ErrTooMany = errors.New("too many subscriptions")

// A Stream sends messages to a client, as a [sendqueue.Queue] does. It does not wait.
type Stream interface {
	TrySend(m sendqueue.Message) bool
	Push(m sendqueue.Message) error
}

// A Subscription is a client's subscription to a resource or a task, on the connection
// for that client. It is a value.
type Subscription struct {
	Server   string
	Upstream *upstream.Upstream // the connection
	// Version identifies the server's configuration; see [Versions].
	Version   *upstream.Upstream
	URI       string // the server's own; empty for a task
	Requested string // the client's
}

// Versions returns what identifies the configuration of a server that is in effect. It
// is nil for an unknown server.
type Versions func(server string) *upstream.Upstream

// A Set holds the subscriptions of one client: those of resources/subscribe, which
// legacy clients send, and those of the listen requests of modern clients. Its methods
// may be called concurrently. The session ends it with RemoveAll; there is nothing to close.
type Set struct {
	out Stream // takes notifications for a legacy client

	mu        sync.Mutex
	resources map[string]Subscription // guarded by mu; of resources/subscribe, by canonical URI
	// Guarded by mu; the client's URIs of subscriptions to make again, by canonical URI.
	renewing  map[string]string
	count     int                // guarded by mu; of all subscriptions, and those being made
	listens   map[string]*Listen // guarded by mu; acknowledged listen requests, by id
	following []*Listen          // guarded by mu; listen requests with tasks
	ended     bool               // guarded by mu; see EndListens
}

// NewSet returns an empty set. Notifications of resources/subscribe go to out.
func NewSet(out Stream) *Set {
	return &Set{out: out, resources: map[string]Subscription{}, renewing: map[string]string{},
		listens: map[string]*Listen{}}
}

// Canonical returns the URI under which a subscription is kept: of the forms of a
// qualified URI always the same.
func Canonical(uri string) string {
	if at, ok := catalog.Unqualify(uri); ok {
		return at.Qualify()
	}
	return uri
}

// Count returns the number of subscriptions, and of those being made.
func (s *Set) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Subscribe adds the subscription to a resource that add makes, unless the set has one
// to the client's URI. It reports whether the set has changed. It blocks as long as add does.
func (s *Set) Subscribe(uri string, add func() (Subscription, error)) (changed bool, err error) {
	return s.subscribe(uri, add, false)
}

// subscribe is Subscribe. A renewal is undone if the client has unsubscribed meanwhile.
func (s *Set) subscribe(uri string, add func() (Subscription, error), renewal bool) (changed bool, err error) {
	key := Canonical(uri)
	if s.has(key) {
		return false, nil
	}
	if !s.reserve(1) {
		return false, ErrTooMany
	}
	sub, err := add()
	if err != nil {
		s.reserve(-1)
		return false, err
	}
	if !s.store(key, sub, renewal) {
		s.reserve(-1)
		sub.Upstream.Unsubscribe(sub.URI)
		return false, nil
	}
	return true, nil
}

// has reports whether there is a subscription, which then needs no renewal.
func (s *Set) has(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, have := s.resources[key]
	if have {
		delete(s.renewing, key)
	}
	return have
}

// store adds a subscription. It returns false if another request has added one, or if
// the subscription is a renewal that the client no longer wants.
func (s *Set) store(key string, sub Subscription, renewal bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, have := s.resources[key]
	_, wanted := s.renewing[key]
	delete(s.renewing, key)
	if have || renewal && !wanted {
		return false
	}
	s.resources[key] = sub
	return true
}

// reserve counts n more subscriptions. It returns false above Max.
func (s *Set) reserve(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 && s.count+n > Max {
		return false
	}
	s.count += n
	return true
}

// Unsubscribe ends the subscription to a resource, made or still to be renewed. It
// reports whether there was one.
func (s *Set) Unsubscribe(uri string) (changed bool) {
	key := Canonical(uri)
	s.mu.Lock()
	sub, have := s.resources[key]
	_, renewing := s.renewing[key]
	delete(s.resources, key)
	delete(s.renewing, key)
	s.mu.Unlock()
	if have {
		s.reserve(-1)
		sub.Upstream.Unsubscribe(sub.URI)
	}
	return have || renewing
}

// URIs returns the canonical URIs of resources/subscribe, sorted, with those that are
// still to be renewed.
func (s *Set) URIs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.renewing)
	for uri := range s.resources {
		all[uri] = uri
	}
	return slices.Sorted(maps.Keys(all))
}

// Drop ends the subscriptions to resources that denied reports, and the listen requests
// with one. It reports whether a subscription of resources/subscribe has ended.
func (s *Set) Drop(denied func(server, uri string) bool) (changed bool) {
	s.mu.Lock()
	var dropped []Subscription
	for key, sub := range s.resources {
		if denied(sub.Server, sub.URI) {
			delete(s.resources, key)
			s.count--
			dropped = append(dropped, sub)
		}
	}
	for _, l := range s.listens {
		for _, sub := range l.resources {
			if denied(sub.Server, sub.URI) {
				l.end()
			}
		}
	}
	s.mu.Unlock()
	for _, sub := range dropped {
		sub.Upstream.Unsubscribe(sub.URI)
	}
	return len(dropped) > 0
}

// RemoveAll removes the subscriptions of resources/subscribe and returns them. It does
// not tell their servers.
func (s *Set) RemoveAll() []Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Collect(maps.Values(s.resources))
	s.count -= len(all)
	clear(s.resources)
	return all
}

// ResourceUpdated notifies the client that a resource of a server changed, under each
// URI that it subscribed to. It reports whether there was one.
func (s *Set) ResourceUpdated(from *upstream.Upstream, uri string, params []byte) (subscribed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range subscribedURIs(s.resources, from, uri) {
		Notify(s.out, mcp.NoteResUpdated, withURI(params, known))
		subscribed = true
	}
	for _, l := range s.listens {
		for _, known := range subscribedURIs(l.resources, from, uri) {
			Notify(l.out, mcp.NoteResUpdated, l.withID(withURI(params, known)))
			subscribed = true
		}
	}
	return subscribed
}

// Notify sends a notification. It is lost if the client does not read.
func Notify(to Stream, method string, params []byte) {
	to.TrySend(sendqueue.Text(mcp.AppendNotification(nil, method, params)))
}
