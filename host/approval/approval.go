// Package approval holds the uses of items that a person must approve.
//
// The policy says which uses these are, and the gateway asks a [Store] about each of them
// after it has checked the arguments and before it acquires the limits. A use that
// was approved goes ahead. Any other one fails with approval.required and an id, or
// waits. A person approves or denies the id; the client then sends the same request again.
//
// An approval is for the principal, the item and exactly the arguments that the server
// gets, or for what [policy.Approval] says that it covers. It can be used once, unless
// it covers more than a call.
//
// The Process of package host has one Store; the gateway uses it as a Gate, and the control
// socket and the console answer through host.Approvals. Gate and Store may be used
// concurrently; only Confirm waits, on the goroutine of the request. store.go has the entries,
// answer.go who may answer, disk.go the file, and show.go how arguments are shown. Keys, ids
// and the file outlive the process: later releases read them.
package approval

import (
	"bytes"
	"context"
	"crypto/sha256"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/policy"
)

// A Call is a request that a person is asked to approve. It does not change once it was given
// to a Gate.
type Call struct {
	Principal authn.Principal
	Item      policy.Item
	Arguments []byte // of a tool call, exactly as the server gets them; nil for other requests
	Others    []byte // the other members of the params, as an object; nil if there are none
	Terms     policy.Approval
	Rule      string // the rule that asks, with its place
	RuleName  string // its name, if it has one
	Client    string // the client's name, as it says
	// Waits is called when the call begins to wait for a person; nil: it is not told.
	Waits func(id string) `json:"-"`
	// Finds is called with the id of the approval that the call uses, waits for or was denied
	// under, maybe several times; nil: it is not told. It must neither wait nor call the gate.
	Finds func(id string) `json:"-"`
}

// found tells a call the id of its approval.
func (c *Call) found(p *Pending) {
	if c.Finds != nil {
		c.Finds(p.ID)
	}
}

// A Gate decides whether a call may proceed. Its methods may be called
// concurrently.
type Gate interface {
	// Use reports whether an approval covers the call, and uses it. The error is that of a
	// call that was denied.
	Use(c *Call) (ok bool, err error)
	// Confirm is Use for a call that needs a new approval. It may wait for a person until
	// ctx ends, and returns nil for a call that may proceed.
	Confirm(ctx context.Context, c *Call) error
	// Approve takes note that the person at the client approved the call, for further
	// calls that the approval covers.
	Approve(c *Call)
}

// Refuse is the gate of a process in which a call cannot be approved. It lets none pass.
type Refuse struct{}

// Use implements [Gate].
func (Refuse) Use(*Call) (bool, error) { return false, nil }

// Confirm implements [Gate].
func (Refuse) Confirm(context.Context, *Call) error { return errNowhere() }

// Approve implements [Gate].
func (Refuse) Approve(*Call) {}

// A Key identifies what an approval is for: the principal, the terms of the rule, and the
// call, the item or the server that the approval covers.
type Key [sha256.Size]byte

// Key returns what an approval of the call is for. Entries at rest have it, so it must stay the
// same for the same call.
func (c *Call) Key() Key {
	h := sha256.New()
	by := "approver"
	if c.Terms.ByClient {
		by = "client"
	}
	for _, part := range []string{c.Principal.Key(), by, string(c.Terms.Covers), c.Item.Server} {
		h.Write(append([]byte(part), 0))
	}
	if c.Terms.Covers != policy.CoversServer {
		h.Write([]byte(string(c.Item.Kind) + "\x00" + c.Item.Name + "\x00"))
	}
	if c.Terms.Covers == policy.CoversCall {
		h.Write(canonical(c.Arguments))
		if c.Others != nil {
			h.Write(append([]byte{0}, canonical(c.Others)...))
		}
	} else {
		h.Write([]byte(c.Terms.Rule))
	}
	if who := c.Terms.Print(); who != "" { // what one operator approved is not what two have to
		h.Write([]byte("\x00" + who + "\x00" + c.Terms.Rule))
	}
	return Key(h.Sum(nil))
}

// canonical returns arguments without what JSON leaves to its writer: spaces, the order of
// members, escapes in texts. Numbers stay as they are written, because a server may tell 1
// from 1.0. Arguments that are not strict JSON are returned as they are.
func canonical(arguments []byte) []byte {
	v := jsontext.Value(bytes.Clone(arguments))
	if v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return arguments
	}
	return v
}

// A Pending is a call that waits for an approval, or was approved or denied. The mu of the
// Store guards it; All and Observe give copies.
type Pending struct {
	ID      string
	Call    *Call
	Since   time.Time
	Expires time.Time // when it cannot be approved any more, or the answer is forgotten
	State   State
	By      string // who approved or denied it
	Given   []Given
	Times   int // how often the client has sent it
}

// A State is what became of a call.
type State string

// The states.
const (
	Waiting  State = "waiting"
	Approved State = "approved"
	Denied   State = "denied"
	Used     State = "used" // approved, and made
	// Revoked and Expired are told to the function of [Store.Observe] only: the entry is gone.
	Revoked State = "revoked" // approved, and taken back
	Expired State = "expired" // it was not answered in time
)
