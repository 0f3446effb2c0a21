// Package audit records who did what, and what came of it.
//
// The gateway tells a [Recorder] about every request before any other stage sees
// it, so that refusals are recorded as well. The only recorder so far is
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
	Item policy.Item // zero: the request was about none, or it was not found
	Err  error       // nil: it was answered with a result
}

// A Recorder takes events. Its methods may be called concurrently.
type Recorder interface {
	// Begin records that a request begins. end is called once, with its outcome.
	Begin(ctx context.Context, e Event) (end func(Outcome))
}

// Discard is the recorder that keeps nothing.
type Discard struct{}

// Begin records nothing.
func (Discard) Begin(context.Context, Event) (end func(Outcome)) { return discard }

func discard(Outcome) {}
