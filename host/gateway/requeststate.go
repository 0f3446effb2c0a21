package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/seal"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// The requestState that a client gets is always a token of package seal. A modern server, a legacy server or
// the gateway may ask the client; the state of a modern server is in the token. The token is bound to the
// principal, the server, the method and the params, expires, and is used once. No other state reaches a server.

// The kinds of states. The values are in tokens that clients hold: they must stay.
const (
	stateOfServer   byte = iota + 1 // holds the state of a modern server
	stateOfCall                     // continues a suspended call, which has the id of the token
	stateOfApproval                 // continues a request that its person was asked to approve
)

// stateTime is the time in which a client can come back with a state.
const stateTime = AskTime

// A carriedState is a state that a client came back with. The goroutine of the request uses it,
// but for sent, which the goroutine of a suspended call may set.
type carriedState struct {
	seal.Note
	// approved is the approval that the request had when the server asked, or that the
	// person was asked for; zero: none.
	approved approval.Key
	answer   []byte      // of the person who was asked for an approval
	sent     atomic.Bool // the state is used up: the request reached the server
}

// openState opens the state of a request that continues another one. If the server does not
// get the request, the client may come back with the same state. It is the stage open state. It
// and returnState may wait for the store of used tokens.
func (p *pipeline) openState(ctx context.Context, u *use) error {
	if !u.carries {
		return nil
	}
	err := p.carry(ctx, u)
	if err != nil {
		return unlessDenied(u, err)
	}
	return nil
}

// unlessDenied returns the error of a state. For an item that is denied it returns the error of the
// policy: such an item does not exist, whatever the state.
func unlessDenied(u *use, err error) error {
	if denied := decideTraced(u); denied != nil {
		return denied
	}
	return err
}

// carry opens the state of a request, and puts that of a modern server into the params. It
// refuses every state that the gateway did not seal for this request, and a second use.
func (p *pipeline) carry(ctx context.Context, u *use) error {
	raw := mcp.Member(u.params, "requestState")
	if string(raw) == "null" {
		u.params = mcp.DeleteMember(u.params, "requestState")
		return nil
	}
	state, ok := mcp.Text(raw)
	if !ok || !u.modern() {
		return refusedState(seal.ErrInvalid)
	}
	note, err := p.states.Open(state, u.bindState())
	if err != nil {
		return refusedState(err)
	}
	switch err := p.states.Use(ctx, note); {
	case errors.Is(err, seal.ErrUsed):
		return refusedState(err)
	case err != nil:
		return fault.Because(fault.GatewayOverloaded, err, "the requestState cannot be checked, and nothing was sent").
			WithHint("try again later")
	}
	u.carried = &carriedState{Note: note, approved: approval.Key(note.Data[:len(approval.Key{})])}
	takeCarried(u, note.Data[len(approval.Key{}):])
	return nil
}

// takeCarried changes the params as the state asks for: the server gets its own state, and nothing of a
// question that the gateway asked. state is that of a modern server; empty: it gave none.
func takeCarried(u *use, state []byte) {
	switch {
	case u.carried.Kind == stateOfApproval:
		u.carried.answer = mcp.Member(u.params, "inputResponses", approvalKey)
		u.params = mcp.DeleteMember(mcp.DeleteMember(u.params, "requestState"), "inputResponses")
	case len(state) == 0:
		u.params = mcp.DeleteMember(u.params, "requestState")
	default:
		u.params = mcp.SetMember(u.params, "requestState", state)
	}
}

// returnState makes a state valid again if the server did not get the request.
func (p *pipeline) returnState(ctx context.Context, u *use) {
	c := u.carried
	if c == nil || c.sent.Load() {
		return
	}
	if err := p.states.Return(context.WithoutCancel(ctx), c.Note); err != nil {
		p.opts.Log.Warn("a requestState cannot be used again, although nothing was sent", "error", err)
	}
}

// useState is called before the server gets the request. It connects first, so that a server
// that cannot be reached uses up no state.
func useState(ctx context.Context, u *use, up *upstream.Upstream) error {
	c := u.carried
	if c == nil {
		return nil
	}
	if err := up.Connect(ctx); err != nil {
		return err
	}
	if c.Kind == stateOfServer && !up.Status().Revision.Modern() {
		return refusedState(seal.ErrInvalid) // the server would take the request for a new one
	}
	c.sent.Store(true)
	return nil
}

// unusedState is called for a request that the server refused to look at.
func unusedState(u *use) {
	if u.carried != nil {
		u.carried.sent.Store(false)
	}
}

// refusedState is the error of a state that is not valid. The client is not told why, because
// the state of another client must look like none.
func refusedState(why error) error {
	return &rpcError{
		code: mcp.CodeInvalidParams,
		data: map[string]string{"reason": "request_state"}, cause: fmt.Errorf("requestState: %w", why),
		message: "the requestState is not valid: it was used already, is too old, or belongs to another request",
	}
}

// seal returns a new state of a kind for the client.
func (u *use) seal(kind byte, data ...[]byte) (state string, err error) {
	n := seal.Note{ID: seal.NewID(), Kind: kind, Expires: time.Now().Add(stateTime)}
	for _, part := range data {
		n.Data = append(n.Data, part...)
	}
	return u.gw.states.Seal(n, u.bindState())
}

// sealCall returns the state with which the client continues a suspended call. It is bound to what
// the client sent: it is opened before anything else is known of a request.
func (u *use) sealCall(id seal.ID) (state string, err error) {
	n := seal.Note{ID: id, Kind: stateOfCall, Expires: time.Now().Add(stateTime)}
	return u.gw.states.Seal(n, u.stateBinding("", u.request.params))
}

// continues returns the id of the suspended call that a request continues; ok is false for any other request.
func (p *pipeline) continues(u *use) (id seal.ID, ok bool) {
	if !u.carries || !u.modern() {
		return id, false
	}
	state, ok := mcp.TextMember(u.params, "requestState")
	if !ok {
		return id, false
	}
	note, err := p.states.Open(state, u.stateBinding("", u.request.params))
	return note.ID, err == nil && note.Kind == stateOfCall
}

// sealServerState returns the result of a modern server for a modern client, with a state that holds that of
// the server. A request that was approved always gets a state, so that it continues without another approval.
func sealServerState(c *call, result []byte) ([]byte, error) {
	state := mcp.Member(result, "requestState")
	if state == nil && c.approval == nil || !era.IsInputRequired(result) {
		return result, nil
	}
	var approved approval.Key
	if c.approval != nil {
		approved = approvalCall(c.use).Key()
	}
	token, err := c.seal(stateOfServer, approved[:], state)
	if err != nil {
		return nil, fault.In(
			c.item.Server, fault.New(fault.UpstreamBadMessage, "the requestState of the server is too large: %s", err),
		)
	}
	return mcp.SetMember(result, "requestState", mcp.AppendText(nil, token)), nil
}

// bindState returns what a state of the gateway, or of a modern server, is about: the principal, the server,
// the method, and everything in the params for the server that says what is called.
func (u *use) bindState() []byte { return u.stateBinding(u.item.Server, u.params) }

// stateBinding returns what a state is about. Params that differ in the order of their members
// only have the same. The server is empty for a state of a suspended call, which has one
// server. Tokens contain a digest of these bytes, so their form must stay.
func (r *request) stateBinding(server string, params []byte) []byte {
	for _, name := range []string{"inputResponses", "requestState", "_meta"} {
		params = mcp.DeleteMember(params, name)
	}
	digest := sha256.Sum256(mcp.Canonical(params)) // a client may write the same in another order
	b := append([]byte(r.principal.Key()), 0)
	b = append(append(b, server...), 0)
	b = append(append(b, r.method...), 0)
	return append(b, digest[:]...)
}
