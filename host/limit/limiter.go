package limit

import "context"

// A Key identifies the limits that a request counts against.
type Key struct {
	Tenant, Subject string
	Server, Tool    string // Tool is the server's own name
}

// A Limiter bounds the rate and the concurrency of the requests of a key. Its
// methods may be called concurrently.
//
// The only limiter so far is [Unlimited]. Token buckets and concurrency limits by
// tenant, subject, server and tool belong here.
type Limiter interface {
	// Acquire takes one unit for a request. It waits for it as long as the limit
	// allows, and otherwise returns a fault with the time of the next attempt. The
	// caller calls release once.
	Acquire(ctx context.Context, k Key) (release func(), err error)
}

// Unlimited is the limiter without limits.
type Unlimited struct{}

// Acquire returns at once.
func (Unlimited) Acquire(context.Context, Key) (release func(), err error) { return nothing, nil }

func nothing() {}
