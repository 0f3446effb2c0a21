package main

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/hashicorp/go-hclog"
)

// A server is an MCP server inside this process and also the host's connection
// to it. It supports every protocol revision: they differ only in the handshake
// and in some members of results.
//
// open makes it and the host closes it. The host calls Recv and Send from one
// goroutine each; everything else runs on the goroutines of requests and that of
// discovery, which work counts. Fields above mu do not change after newServer,
// except wait, which is set before Recv. No lock is held while push blocks.
type server struct {
	name       string
	set        *settings
	programs   programs
	log        hclog.Logger
	maxMessage int // bytes

	catalog *catalog
	slots   chan struct{} // holds an element for each run

	ctx    context.Context // done when the connection is closed
	cancel context.CancelFunc
	force  chan struct{} // closed when runs must be killed without a grace period
	once   sync.Once     // closes force
	out    chan []byte
	wait   func() // called by Recv before it blocks; may be nil

	mu       sync.Mutex
	closed   bool                // guarded by mu
	requests map[string]*request // guarded by mu; by the raw request ID
	legacy   bool                // guarded by mu; the host sent initialize
	given    *listing            // guarded by mu; the list that the host got last; nil if none
	work     sync.WaitGroup      // call Add with mu held and only while closed is false
}

// A request is a request that is being answered. Only its goroutine uses it, except for cancel.
type request struct {
	id     json.RawMessage
	method string
	params members
	ctx    context.Context // done when the request is cancelled or the connection is closed
	cancel context.CancelFunc
}

// push queues a message for the host. It blocks while the queue is full.
func (s *server) push(msg []byte) {
	select {
	case s.out <- msg:
	case <-s.ctx.Done():
	}
}

// modernResult adds the members that the modern revision requires to a result,
// if the request uses that revision.
func modernResult(r *request, result json.RawMessage, more string) json.RawMessage {
	if _, modern := r.params.members("_meta").text(metaVersion); !modern {
		return result
	}
	head := `{"resultType":"complete"` + more
	if len(result) > len("{}") {
		head += ","
	}
	return append([]byte(head), result[1:]...)
}
