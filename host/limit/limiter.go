package limit

import "context"

// A Key says what a request counts for.
type Key struct {
	Tenant, Subject string
	Server, Tool    string // of the item that is used, as the server calls it
}

// A Limiter bounds how often and how many requests at a time a key may make. Its
// methods may be called concurrently.
//
// The only limiter so far is [Unlimited]. Token buckets and concurrency limits by
// tenant, subject, server and tool belong here.
type Limiter interface {
	// Acquire takes a place for a request, waiting for it as long as the limit
	// allows, or returns the fault that says when to try again. release gives the
	// place back; it is called once.
	Acquire(ctx context.Context, k Key) (release func(), err error)
}

// Unlimited is the limiter without limits.
type Unlimited struct{}

// Acquire returns at once.
func (Unlimited) Acquire(context.Context, Key) (release func(), err error) { return nothing, nil }

func nothing() {}
