package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A modern server reports changes through subscriptions/listen requests, which stay
// open. One request could name all subscriptions and be replaced when they change.
// But when a listen request ends, servers built with the Go SDK also drop what a
// newer request names. So all lists share one request, and each resource has its own.
// The lists are renewed after a resource's request ends, because such a server drops
// them as well.

const (
	// relistenAfter is the wait before a listen request that the server ended is
	// sent again. It doubles up to relistenMax until a request lasts longer than
	// relistenMax.
	relistenAfter = time.Second
	relistenMax   = 30 * time.Second
	// withdrawTime limits the wait for the response to a cancelled listen request. Many
	// servers send none.
	withdrawTime = 200 * time.Millisecond
)

// A filter is the params of a listen request.
type filter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
	Tasks     []string `json:"taskIds,omitempty"`
}

// A listenRequest is a listen request that is renewed until it is no longer needed. The
// subscriptions, or the listener for lists, own it; closing stop ends its goroutine. The
// functions are called on that goroutine.
type listenRequest struct {
	filter    filter
	stop      chan struct{}   // closed when the request is no longer needed
	renew     chan struct{}   // capacity 1; replaces the current request
	onStarted func(err error) // called once with the outcome of the first request
	onResumed func()          // called when a renewed request follows a gap
	onLost    func()          // called when renewal fails; may be nil
	taskEnded atomic.Bool     // the task has ended, so no notifications follow
}

// A listener keeps the listen requests of a connection to a modern server, and reports the
// changes that one may have missed. A conn has one. lists is set once, by the handshake; the
// goroutines of its listen requests use it.
type listener struct {
	conn  *conn
	lists *listenRequest // list changes; nil without any
}

// changeableLists returns the lists for which the server reports changes.
func (s *listener) changeableLists() filter {
	return filter{
		Tools:     capable(s.conn.capabilities, "tools", "listChanged"),
		Prompts:   capable(s.conn.capabilities, "prompts", "listChanged"),
		Resources: capable(s.conn.capabilities, "resources", "listChanged"),
	}
}

// notifyListsChanged delivers list_changed notifications for the lists in f.
func (s *listener) notifyListsChanged(f filter) {
	tell := func(may bool, method string) {
		if may {
			s.conn.up.opts.Peer.ServerNotification(s.conn.up, nil, method, nil)
		}
	}
	tell(f.Tools, mcp.NoteToolsChanged)
	tell(f.Prompts, mcp.NotePromptsChanged)
	tell(f.Resources, mcp.NoteResChanged)
}

// notifyResourceUpdated delivers a resource update notification.
func (s *listener) notifyResourceUpdated(uri string) {
	params := mcp.SetMember(nil, "uri", mcp.AppendText(nil, uri))
	s.conn.up.opts.Peer.ServerNotification(s.conn.up, nil, mcp.NoteResUpdated, params)
}

// notifyMissed delivers all notifications that a legacy server may have sent during a gap
// in the transport. The reading goroutine calls it.
func (s *listener) notifyMissed() {
	if s.conn.era.Load() != legacyEra {
		return // each listen request handles its own gaps
	}
	s.notifyListsChanged(s.changeableLists())
	s.conn.up.mu.Lock()
	topics := slices.SortedFunc(maps.Keys(s.conn.up.subs.byTopic), topic.compare)
	s.conn.up.mu.Unlock()
	for _, t := range topics {
		if t.uri != "" {
			s.notifyResourceUpdated(t.uri)
		}
	}
}

// listenToLists listens for changes of the server's lists.
func (s *listener) listenToLists() {
	f := s.changeableLists()
	if !f.Tools && !f.Prompts && !f.Resources {
		return
	}
	s.lists = &listenRequest{
		filter:    f,
		stop:      make(chan struct{}),
		renew:     make(chan struct{}, 1),
		onStarted: func(error) {},
		onResumed: func() { s.notifyListsChanged(f) },
	}
	s.listen(s.lists)
}

// listenTo listens for notifications about a resource or a task.
func (s *listener) listenTo(t topic, begun func(error)) *listenRequest {
	l := &listenRequest{
		filter:    filter{URIs: []string{t.uri}},
		stop:      make(chan struct{}),
		onStarted: begun,
		onResumed: func() { s.notifyResourceUpdated(t.uri) },
	}
	if t.task != "" {
		l.filter, l.onResumed = filter{Tasks: []string{t.task}}, func() { s.conn.pollTask(t.task) }
		l.onLost = func() { s.conn.taskLost(t.task) }
	}
	s.listen(l)
	return l
}

// listen sends a listen request and keeps it alive. It does not block.
func (s *listener) listen(l *listenRequest) {
	p := s.sendListen(l)
	s.conn.spawn("listening", func() { s.keepListening(l, p) })
}

// sendListen sends a listen request.
func (s *listener) sendListen(l *listenRequest) *pending {
	p := &pending{method: mcp.MethodListen, acknowledged: make(chan []byte, 1)}
	if err := s.conn.writer.register(p); err != nil {
		p.answer <- answer{err: errEnding}
		return p
	}
	text, err := json.Marshal(l.filter)
	if err != nil {
		panic(err) // unreachable: json.Marshal accepts every filter
	}
	params := mcp.SetMember(nil, "notifications", text)
	if l.filter.Tasks != nil {
		params = withTaskCapability(params)
	}
	s.conn.writer.pushRequest(p, s.conn.withMeta(params, s.conn.revision))
	return p
}

// keepListening renews a listen request whenever the server ends it. It runs on a goroutine of
// its own for each listen request.
func (s *listener) keepListening(l *listenRequest, p *pending) {
	err := s.awaitAcknowledgement(l, p)
	l.onStarted(err)
	listened := err == nil
	delays := backoff.ExponentialBackOff{InitialInterval: relistenAfter, MaxInterval: relistenMax, Multiplier: 2}
	for err == nil || s.listenRetryable(err) {
		begun := time.Now()
		how := endedByServer
		if err == nil {
			how = s.awaitListenEnd(l, p)
		}
		switch how {
		case endedByHost:
			s.withdraw(p)
			s.renewLists(l)
			return
		case endedForRenewal:
			s.withdraw(p)
		case endedByServer:
			if l.taskEnded.Load() {
				return
			}
			if time.Since(begun) > relistenMax {
				delays.Reset()
			}
			select {
			case <-time.After(delays.NextBackOff()):
			case <-l.stop:
				return
			case <-s.conn.ctx.Done():
				return
			}
		}
		if s.conn.ctx.Err() != nil {
			return
		}
		p = s.sendListen(l)
		if err = s.awaitAcknowledgement(l, p); err == nil {
			l.onResumed()
		}
	}
	s.conn.up.opts.Log.Debug("listening failed", "server", s.conn.up.opts.Name, "error", err)
	if listened && l.onLost != nil {
		l.onLost()
	}
}

// listenRetryable reports whether a listen request failed for a reason that may be temporary.
func (s *listener) listenRetryable(err error) bool {
	return s.conn.ctx.Err() == nil && (unreachable(err) || connectionLost(err) && !errors.Is(err, errEnding))
}

// awaitAcknowledgement waits until the server acknowledges a listen request. It returns an error if
// the server rejects the request, or acknowledges an empty filter.
func (s *listener) awaitAcknowledgement(l *listenRequest, p *pending) error {
	ctx, cancel := context.WithTimeout(s.conn.ctx, s.conn.up.opts.Call)
	defer cancel()
	select {
	case params := <-p.acknowledged:
		if agreed := mcp.Member(params, "notifications"); agreed != nil && mcp.Empty(agreed) {
			s.withdraw(p)
			return fault.New(fault.UpstreamUnsupported, "the server acknowledged no subscription").
				WithHint(subscriptionHint)
		}
		return nil
	case a := <-p.answer:
		switch {
		case a.err != nil && s.conn.ctx.Err() != nil:
			return s.conn.endError()
		case a.err != nil:
			return a.err
		case a.reply.Error != nil:
			message, _ := mcp.TextMember(a.reply.Error, "message")
			return fault.New(fault.UpstreamError, "%s: %s", p.method, message)
		}
		return fault.New(fault.UpstreamUnsupported, "the server ended the request to listen at once").
			WithHint(subscriptionHint)
	case <-l.stop:
		s.withdraw(p)
		return errEnding
	case <-ctx.Done():
		if s.conn.ctx.Err() != nil {
			return s.conn.endError()
		}
		s.withdraw(p)
		return timeoutError(p.method+" was not answered", serverTimeout(s.conn.up.opts.Call))
	}
}

// The ways in which a listen request ends.
const (
	endedByServer = iota
	endedByHost
	endedForRenewal
)

// awaitListenEnd waits for the end of a listen request.
func (s *listener) awaitListenEnd(l *listenRequest, p *pending) int {
	select {
	case <-l.stop:
		return endedByHost
	case <-l.renew:
		return endedForRenewal
	case <-p.answer:
	case <-s.conn.ctx.Done():
	}
	return endedByServer
}

// withdraw cancels a listen request and waits up to withdrawTime for its response.
func (s *listener) withdraw(p *pending) {
	s.conn.writer.cancel(p, "")
	if p.sent.Load() {
		select {
		case <-p.answer:
		case <-time.After(withdrawTime):
		case <-s.conn.ctx.Done():
		}
	}
	s.conn.table.forget(p)
}

// renewLists renews the listen request of the lists after another one has ended.
func (s *listener) renewLists(after *listenRequest) {
	if s.lists == nil || after == s.lists {
		return
	}
	select {
	case s.lists.renew <- struct{}{}:
	default: // a renewal is already due
	}
}

// handleAcknowledged handles notifications/subscriptions/acknowledged. The reading goroutine
// calls it; it does not wait.
func (s *listener) handleAcknowledged(params []byte) {
	p := s.conn.table.pendingByID(mcp.ID(mcp.Member(params, "_meta", mcp.MetaSubscription)))
	if p == nil || p.acknowledged == nil {
		s.conn.ignored.Add(1)
		return
	}
	select {
	case p.acknowledged <- append([]byte(nil), params...):
	default:
		s.conn.ignored.Add(1)
	}
}
