// Package outcome classifies how a request ended, in the few words that metrics, spans
// and the audit log share.
package outcome

import (
	"context"
	"errors"

	"github.com/junctor-mcp/junctor/host/fault"
)

// An Outcome is how a request ended.
type Outcome string

// The outcomes.
const (
	OK              Outcome = "ok"
	Error           Outcome = "error" // of the request, the server, or Junctor itself
	Cancelled       Outcome = "cancelled"
	Timeout         Outcome = "timeout"
	RateLimited     Outcome = "rate_limited"    // by a limit of calls or requests per second
	Overloaded      Outcome = "overloaded"      // by a limit of calls, requests or bytes at a time
	Denied          Outcome = "denied"          // by the policy, or for lack of an approval
	Unauthenticated Outcome = "unauthenticated" // the client did not prove its identity
	Panicked        Outcome = "panicked"        // by a defect of Junctor
)

// All lists every outcome.
var All = []Outcome{OK, Error, Cancelled, Timeout, RateLimited, Overloaded, Denied, Unauthenticated, Panicked}

// byCode has the outcomes of the codes that are not Error.
var byCode = map[fault.Code]Outcome{
	fault.CallCanceled: Cancelled, fault.Interrupted: Cancelled,
	fault.CallTimeout: Timeout, fault.UpstreamStartTimeout: Timeout, fault.PluginStartTimeout: Timeout,
	fault.LimitRate:       RateLimited,
	fault.LimitConcurrent: Overloaded, fault.GatewayOverloaded: Overloaded, fault.UpstreamOverloaded: Overloaded,
	fault.Denied: Denied, fault.Refused: Denied, fault.ApprovalRequired: Denied, fault.ApprovalDenied: Denied,
}

// Of returns the outcome of a request that ended with err; nil is a result. An error
// object of a server is Error. A policy may hide what it denies: the caller knows
// that and returns Denied instead.
func Of(err error) Outcome {
	if err == nil {
		return OK
	}
	if errors.Is(err, fault.ErrPanic) {
		return Panicked
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		if o, ok := byCode[f.Code]; ok {
			return o
		}
		return Error
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Error
}
