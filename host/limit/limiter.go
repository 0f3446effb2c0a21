package limit

import (
	"context"
	"fmt"
	"time"
)

// A Call identifies the limits that a call counts against. It is a value.
type Call struct {
	Tenant       string
	Principal    string   // its key, unique among all tenants
	Roles        []string // of the principal
	Server, Tool string   // Tool is the server's own name
}

// A Limiter bounds the rate and the concurrency of calls. Its methods may be called
// concurrently. [Tools] is one. The gateway's stage limit uses it.
type Limiter interface {
	// Acquire takes a place for a call. It waits for it as long as the limit allows. The
	// error is a [*RateError], a [*BusyError] or that of ctx. The caller calls release
	// once.
	Acquire(ctx context.Context, c Call) (release func(), err error)
}

// Unlimited is the limiter without limits.
type Unlimited struct{}

// Acquire returns at once.
func (Unlimited) Acquire(context.Context, Call) (release func(), err error) { return nothing, nil }

func nothing() {}

// A Scope says whose limit refused a call.
type Scope string

// The scopes.
const (
	ToolScope      Scope = "tool"      // of a tool, for all clients of the tenant
	PrincipalScope Scope = "principal" // of one client, for all tools
	ShareScope     Scope = "share"     // of a tool, the part of one client
)

// A RateError means that a tenant calls a tool too often, or a principal any tools.
type RateError struct {
	Scope      Scope
	Rate       float64 // calls per second that are allowed
	RetryAfter time.Duration
}

func (e *RateError) Error() string {
	switch e.Scope {
	case PrincipalScope:
		return fmt.Sprintf("one client may make %g calls a second", e.Rate)
	case ShareScope:
		return fmt.Sprintf("the clients of one tenant may call the tool %g times a second, and the rest of the burst is for other clients",
			e.Rate)
	}
	return fmt.Sprintf("the clients of one tenant may call the tool %g times a second", e.Rate)
}

// A BusyError means that too many calls of a tool by a tenant are in progress, or too
// many of a principal.
type BusyError struct {
	Scope      Scope
	Max        int           // calls at a time that are allowed
	Waited     time.Duration // that the call has waited
	RetryAfter time.Duration // an estimate
}

func (e *BusyError) Error() string {
	text := ""
	switch e.Scope {
	case PrincipalScope:
		text = fmt.Sprintf("the client has %d calls in progress", e.Max)
	case ShareScope:
		text = fmt.Sprintf(
			"the free ones of the %d places for calls of the tool are for clients without a call in progress", e.Max,
		)
	default:
		text = fmt.Sprintf("the clients of one tenant have %d calls of the tool in progress", e.Max)
	}
	if e.Waited > 0 {
		text += fmt.Sprintf("; the call waited for %s", e.Waited.Round(time.Millisecond))
	}
	return text
}
