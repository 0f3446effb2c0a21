package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

const (
	outgoing    = 64   // messages that wait for the host; whoever has one more waits too
	mostPending = 1024 // requests at the same time; further ones are refused
)

// A program is what is run.
type program struct {
	path string
	dir  string
	env  []string
}

// A server is an MCP server within this process and the host's connection to
// it. It speaks every revision: none of what it does differs between them but
// for the handshake and some members of answers.
type server struct {
	name    string
	set     *settings
	program program
	log     hclog.Logger
	largest int // bytes of a message

	offer *offer
	slots chan struct{} // one for each run

	ctx    context.Context // done when the connection is closed
	cancel context.CancelFunc
	force  chan struct{} // closed when there is no time to be polite
	once   sync.Once     // of closing force
	out    chan []byte
	wait   func() // told that Recv is about to wait; may be nil

	mu       sync.Mutex
	closed   bool                // guarded by mu
	requests map[string]*request // guarded by mu; by the id as it is written
	legacy   bool                // guarded by mu; the host said initialize
	given    *listing            // guarded by mu; what the host was given last; nil: nothing
	work     sync.WaitGroup      // Add with mu held, while not closed
}

// A request is one that is being answered.
type request struct {
	id     json.RawMessage
	method string
	params members
	ctx    context.Context // done when nobody wants the answer
	cancel context.CancelFunc
}

func newServer(s *sdk.Server, set *settings, p program) *server {
	srv := &server{
		name: filepath.Base(set.Command[0]), set: set, program: p, log: s.Log, largest: s.MaxMessage,
		slots: make(chan struct{}, set.Parallel), force: make(chan struct{}), out: make(chan []byte, outgoing),
		requests: map[string]*request{},
	}
	if srv.log == nil {
		srv.log = hclog.NewNullLogger()
	}
	if srv.largest <= 0 {
		srv.largest = ndjson.DefaultLimit
	}
	srv.ctx, srv.cancel = context.WithCancel(context.Background())
	srv.offer = newOffer(set, p)
	if set.discovers() {
		srv.work.Go(func() { srv.offer.discover(srv.ctx, srv.exploration(s), srv.log, srv.listChanged) })
	}
	return srv
}

// Recv returns the next answer.
func (s *server) Recv() ([]byte, error) {
	select {
	case msg := <-s.out:
		return msg, nil
	default:
	}
	if s.wait != nil {
		s.wait()
	}
	select {
	case msg := <-s.out:
		return msg, nil
	case <-s.ctx.Done():
		return nil, io.EOF
	}
}

// BeforeWait makes Recv call f before it waits.
func (s *server) BeforeWait(f func()) { s.wait = f }

// Send takes a message from the host. What it asks for is done in the
// background.
func (s *server) Send(msg []byte) error {
	var m members
	if json.Unmarshal(msg, &m) != nil {
		s.log.Debug("the host sent what is not a message")
		return nil
	}
	method, asks := m.text("method")
	params := m.members("params")
	id := m["id"]
	switch {
	case !asks: // an answer, and this server asks nothing
	case method == "notifications/cancelled":
		s.cancelRequest(params["requestId"])
	case len(id) == 0 || isNull(id): // another notification
	default:
		s.begin(id, method, params)
	}
	return nil
}

// begin answers a request in the background.
func (s *server) begin(id json.RawMessage, method string, params members) {
	r := &request{id: append(json.RawMessage(nil), id...), method: method, params: params}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	if key := string(r.id); len(s.requests) >= mostPending || s.requests[key] != nil {
		s.mu.Unlock()
		s.push(failure(r.id, internalError, "there are too many requests, or two with one id"))
		return
	}
	r.ctx, r.cancel = context.WithCancel(s.ctx)
	s.requests[string(r.id)] = r
	s.work.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.work.Done()
		answer := s.answer(r)
		s.mu.Lock()
		delete(s.requests, string(r.id))
		s.mu.Unlock()
		cancelled := r.ctx.Err() != nil
		r.cancel()
		if answer != nil && !cancelled { // who cancelled wants nothing more
			s.push(answer)
		}
	}()
}

func (s *server) cancelRequest(id json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.requests[string(id)]; r != nil {
		r.cancel()
	}
}

// push hands a message to the host.
func (s *server) push(msg []byte) {
	select {
	case s.out <- msg:
	case <-s.ctx.Done():
	}
}

// Close ends every run: its process group is asked to end and killed two seconds
// later, or at once when ctx is done.
func (s *server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	defer context.AfterFunc(ctx, func() { s.once.Do(func() { close(s.force) }) })()
	s.work.Wait()
	return nil
}

// Status says how many runs there are.
func (s *server) Status() sdk.ConnStatus {
	state := "ready"
	switch n := len(s.slots); {
	case n > 0:
		state = fmt.Sprintf("running %d", n)
	case !s.offer.ready():
		state = "discovering"
	}
	return sdk.ConnStatus{State: state}
}

var (
	_ sdk.Conn     = (*server)(nil)
	_ sdk.Waiter   = (*server)(nil)
	_ sdk.Statuser = (*server)(nil)
)
