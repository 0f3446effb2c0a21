package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/junctor-mcp/junctor/plugins/cli/discover"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
)

const (
	queueSize  = 64   // messages waiting for the host; further senders block
	maxPending = 1024 // concurrent requests; further requests are rejected
)

func newServer(s *sdk.Server, set *settings, p programs) *server {
	srv := &server{
		name: filepath.Base(set.Command[0]), set: set, programs: p, log: s.Log, maxMessage: s.MaxMessage,
		slots: make(chan struct{}, set.Parallel), force: make(chan struct{}), out: make(chan []byte, queueSize),
		requests: map[string]*request{},
	}
	if srv.log == nil {
		srv.log = hclog.NewNullLogger()
	}
	if srv.maxMessage <= 0 {
		srv.maxMessage = ndjson.DefaultLimit
	}
	srv.ctx, srv.cancel = context.WithCancel(context.Background())
	srv.catalog = newCatalog(set, p)
	if set.discovers() {
		srv.work.Go(func() { srv.catalog.discover(srv.ctx, srv.discoverOptions(s), srv.log, srv.listChanged) })
	}
	return srv
}

// discoverOptions returns the options for package discover.
func (s *server) discoverOptions(of *sdk.Server) discover.Options {
	return discover.Options{
		Command: s.set.Command, Env: s.programs.env, Dir: s.programs.dir, Depth: s.set.Depth,
		Only: s.set.Only, Except: s.set.Except, CacheDir: of.Cache, Log: s.log, Rules: s.programs.wall.Probe,
	}
}

// Recv returns the next message for the host. It returns io.EOF after Close.
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

// BeforeWait sets a function that Recv calls before it blocks.
func (s *server) BeforeWait(f func()) { s.wait = f }

// Send takes a message from the host. It answers requests in the background.
func (s *server) Send(msg []byte) error {
	var m members
	if json.Unmarshal(msg, &m) != nil {
		s.log.Debug("the host sent a message that is not a JSON object")
		return nil
	}
	method, asks := m.text("method")
	params := m.members("params")
	id := m["id"]
	switch {
	case !asks: // a response; this server sends no requests
	case method == "notifications/cancelled":
		s.cancelRequest(params["requestId"])
	case len(id) == 0 || isNull(id): // other notifications are ignored
	default:
		s.begin(id, method, params)
	}
	return nil
}

// begin answers a request in the background. It rejects a request that exceeds
// maxPending or reuses a pending ID.
func (s *server) begin(id json.RawMessage, method string, params members) {
	r := &request{id: append(json.RawMessage(nil), id...), method: method, params: params}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	if len(s.requests) >= maxPending || s.requests[string(r.id)] != nil {
		s.mu.Unlock()
		s.push(failure(r.id, internalError, "too many concurrent requests, or a request with this ID is still pending"))
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
		if answer != nil && !cancelled { // a cancelled request gets no response
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

// Close cancels every request. Each run gets SIGTERM, and SIGKILL two seconds
// later or as soon as ctx is done. Close returns when all runs have ended.
func (s *server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	defer context.AfterFunc(ctx, func() { s.once.Do(func() { close(s.force) }) })()
	s.work.Wait()
	return nil
}

// Status returns the number of active runs, or whether discovery is still in
// progress.
func (s *server) Status() sdk.ConnStatus {
	state := "ready"
	switch n := len(s.slots); {
	case n > 0:
		state = fmt.Sprintf("running %d", n)
	case !s.catalog.ready():
		state = "discovering"
	}
	return sdk.ConnStatus{State: state}
}

var (
	_ sdk.Conn     = (*server)(nil)
	_ sdk.Waiter   = (*server)(nil)
	_ sdk.Statuser = (*server)(nil)
)
