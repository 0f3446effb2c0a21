// Package approval defines the stage in which a call will wait for a person's
// approval; so far every call passes.
//
// The gateway asks a [Gate] about every permitted and validated request for an
// item, just before it acquires the limits. The only gate so far is [Open]. Pending
// approvals, their expiry (5 minutes), the list of approvers, and the error
// approval_required with an id belong here. A rule of the policy will decide
// which calls need an approval.
package approval

import (
	"context"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A Call is a request that a person is asked to approve.
type Call struct {
	Principal authn.Principal
	Item      policy.Item
	Arguments []byte // of a tool call, exactly as the server gets them; nil for other requests
}

// A Gate decides whether a call may proceed. Its methods may be called
// concurrently.
type Gate interface {
	// Confirm returns nil for a call that may proceed. It may wait for a person
	// until ctx ends.
	Confirm(ctx context.Context, c Call) error
}

// Open is the gate that lets every call pass.
type Open struct{}

// Confirm returns nil.
func (Open) Confirm(context.Context, Call) error { return nil }
