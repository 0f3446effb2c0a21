// Package audit defines the record of all requests and their outcomes; so far
// nothing is stored.
//
// The gateway reports every request to a [Recorder] before any other stage can
// refuse it, so refusals are recorded as well. The only recorder so far is
// [Discard]. The durable, hash-chained record in SQLite, the redaction of secrets
// and the policy for a full disk belong here.
package audit

import (
	"context"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/policy"
)

// An Event is a request that begins.
type Event struct {
	Principal authn.Principal
	Method    string
}

// An Outcome is how a request ended.
type Outcome struct {
	Item policy.Item // zero: the request concerns no item, or an unknown one
	Err  error       // nil: the request was answered with a result
}

// A Recorder records requests. Its methods may be called concurrently.
type Recorder interface {
	// Begin records that a request begins. The caller calls end once, with the
	// outcome.
	Begin(ctx context.Context, e Event) (end func(Outcome))
}

// Discard is the recorder that stores nothing.
type Discard struct{}

// Begin records nothing.
func (Discard) Begin(context.Context, Event) (end func(Outcome)) { return discard }

func discard(Outcome) {}
