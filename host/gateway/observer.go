package gateway

import (
	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/tracing"
)

// An Observer makes metrics and traces of requests. Its methods may be called concurrently and do not wait.
// Package telemetry implements it. This file is the interface; trace.go calls it.
type Observer interface {
	// Begin is called when a request begins. The caller calls End of the result once.
	Begin(b Beginning) Observation
	// Refused is called for a request that was refused before the first stage, because of
	// the client's identity or a limit. The tenant is empty if it is not known.
	Refused(tenant string, o outcome.Outcome)
	// Count counts an event that is not a request of a client.
	Count(e Event, label string, o outcome.Outcome)
}

// An Observation is a request that an Observer observes. One request has it. The goroutine of
// the request calls its methods.
type Observation interface {
	Span() tracing.Span
	// Found is called at most once, before End, with the tool that the request calls, as clients name it.
	Found(tool string)
	End(e Ending)
}

// An Event is something that is counted besides requests.
type Event int

// The events.
const (
	Progress       Event = iota // a progress notification for a client; ok or overloaded, which is dropped
	UnlistedURI                 // a read of a resource ended before an item was found for its URI
	ServerQuestion              // a server asked its client; the label is the method
)

// A Beginning describes a request that begins. It has no arguments and no names from the client.
type Beginning struct {
	Method    string // a method that the gateway serves
	Tenant    string
	Session   string // a name of the session, not its id; empty without one
	Revision  string // of the protocol; empty before the handshake
	RequestID string
	Address   string // of the client; "local" over a unix socket, and empty on standard input
	// Parent is the client's span that the request belongs to, and Link another one: that
	// of the HTTP request, if the message names a parent of its own.
	Parent, Link tracing.Context
	// Lasting is set for a request that listens until its client leaves.
	Lasting bool
}

// An Ending describes how a request ended. Names are those of the catalog.
type Ending struct {
	Outcome  outcome.Outcome
	Code     string // of the fault, or of the server's JSON-RPC error; empty for a result
	ToolSaid bool   // the tool ran and reported an error
	Server   string // empty: none was found
	Tool     string // as clients name it; empty: no tool was found
	Prompt   string // as clients name it; empty: no prompt was found
	// Limit says whose limit of calls refused the request; empty: none did.
	Limit limit.Scope
}

// Observe replaces the observer; nil: there is none. Requests in flight keep the one that they began with.
func (g *Gateway) Observe(o Observer) {
	if o == nil {
		g.observer.Store(nil)
		return
	}
	g.observer.Store(&o)
}

// count tells the observer of an event.
func (g *Gateway) count(e Event, label string, o outcome.Outcome) {
	if observer := g.observer.Load(); observer != nil {
		(*observer).Count(e, label, o)
	}
}

// countQuestion counts what a server asked. The label of methods that are not relayed is empty.
func (g *Gateway) countQuestion(method string, rpcErr []byte) {
	if !question.Relayed(method) {
		method = ""
	}
	o := outcome.OK
	if rpcErr != nil {
		o = outcome.Error
	}
	g.count(ServerQuestion, method, o)
}

// Refused tells the observer of a request that was refused where it was accepted.
func (g *Gateway) Refused(tenant string, o outcome.Outcome) {
	if observer := g.observer.Load(); observer != nil {
		(*observer).Refused(tenant, o)
	}
}
