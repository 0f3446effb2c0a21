// Package approval holds calls back until a person has approved them.
//
// The gateway asks a [Gate] about every permitted and validated request for an
// item, just before limits are taken. The only gate so far is [Open], which lets
// everything pass. Pending approvals, their expiry (5 minutes), who may approve,
// and the error approval_required with an id belong here; a rule of the policy
// will decide which calls need one.
package approval

import (
	"context"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A Call is what a person is asked to approve.
type Call struct {
	Principal authn.Principal
	Item      policy.Item
	Arguments []byte // of a tool call, exactly as the server gets them; nil for other requests
}

// A Gate decides whether a call may go on. Its methods may be called
// concurrently.
type Gate interface {
	// Confirm returns nil for a call that may go on. It may wait for a person as
	// long as ctx allows.
	Confirm(ctx context.Context, c Call) error
}

// Open is the gate that lets every call pass.
type Open struct{}

// Confirm returns nil.
func (Open) Confirm(context.Context, Call) error { return nil }
