package gateway

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A call is suspended while its client answers the questions. The client gets a
// state to send back. It is sealed, bound to the principal, the server, the method
// and the params, and valid once.

const (
	suspendTime              = AskTime
	maxSuspended             = 1000 // calls, of all clients
	maxSuspendedPerPrincipal = 100  // and of one principal

	// statePrefix tells our states from those of servers, which pass through; one
	// of another gateway behind this one looks the same, but does not open.
	statePrefix = "junctor.1."
)

// A stateID identifies a suspended call in a sealed state.
type stateID [16]byte

// A suspension is a suspended call with its timer.
type suspension struct {
	call      *suspendedCall
	principal string
	timer     *time.Timer
}

// A stateCodec encrypts and decrypts states with a key of this process.
type stateCodec struct{ aead cipher.AEAD }

func newStateCodec() *stateCodec {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the key has the right size
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // nor can this fail
	}
	return &stateCodec{aead}
}

func (s *stateCodec) seal(t stateID, about []byte) string {
	return statePrefix + base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, t[:], about))
}

var errState = errors.New("the requestState is not valid: it was used already, is too old, or belongs to another request")

func (s *stateCodec) open(state string, about []byte) (t stateID, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(state, statePrefix))
	if err != nil {
		return t, errState
	}
	text, err := s.aead.Open(nil, nil, sealed, about)
	if err != nil || copy(t[:], text) != len(t) {
		return t, errState
	}
	return t, nil
}

// stateBinding returns the additional data that a state is bound to.
func (r *request) stateBinding(server string) []byte {
	asked := r.params
	for _, name := range []string{"inputResponses", "requestState", "_meta"} {
		asked = mcp.DeleteMember(asked, name)
	}
	digest := sha256.Sum256(mcp.Canonical(asked)) // a client may write the same in another order
	b := append([]byte(r.principal.Key()), 0)
	b = append(append(b, server...), 0)
	b = append(append(b, r.method...), 0)
	return append(b, digest[:]...)
}

// suspend keeps a call until its client comes back with the state.
func (g *Gateway) suspend(t *suspendedCall, r *request) (state string, err error) {
	p := &suspension{call: t, principal: r.principal.Key()}
	var id stateID
	_, _ = rand.Read(id[:])
	g.suspendedMu.Lock()
	defer g.suspendedMu.Unlock()
	mine := 0
	for _, other := range g.suspended {
		if other.principal == p.principal {
			mine++
		}
	}
	switch {
	case g.isEnding():
		return "", errStopping
	case len(g.suspended) >= maxSuspended || mine >= maxSuspendedPerPrincipal:
		return "", fault.New(fault.UpstreamOverloaded, "too many requests wait for what their clients were asked")
	}
	t.mu.Lock()
	t.current = nil
	t.mu.Unlock()
	g.suspended[id] = p
	p.timer = time.AfterFunc(suspendTime, func() {
		g.suspendedMu.Lock()
		defer g.suspendedMu.Unlock() // before that, Stop does not wait
		if g.takeSuspendedLocked(id) != nil {
			g.work.Go(func() { t.abandon(fault.New(fault.CallTimeout, "the client did not come back with an answer")) })
		}
	})
	return g.states.seal(id, r.stateBinding(t.server)), nil
}

// takeSuspended removes and returns a suspended call; nil when there is none.
func (g *Gateway) takeSuspended(id stateID) *suspendedCall {
	g.suspendedMu.Lock()
	defer g.suspendedMu.Unlock()
	return g.takeSuspendedLocked(id)
}

// takeSuspendedLocked is takeSuspended for callers that hold suspendedMu.
func (g *Gateway) takeSuspendedLocked(id stateID) *suspendedCall {
	p := g.suspended[id]
	if p == nil {
		return nil
	}
	delete(g.suspended, id)
	p.timer.Stop()
	return p.call
}

// resumeCall takes out the suspended call that a request continues. It returns nil
// for a request that begins a call, and for a state that is not valid here.
func (g *Gateway) resumeCall(r *request) *suspendedCall {
	if !r.modern || r.generation.Servers[r.item.Server].Share != PerSession {
		return nil
	}
	state, _ := mcp.TextMember(r.params, "requestState")
	if !strings.HasPrefix(state, statePrefix) {
		return nil
	}
	id, err := g.states.open(state, r.stateBinding(r.item.Server))
	if err != nil {
		return nil
	}
	return g.takeSuspended(id)
}

// checkRequestState refuses a state that this gateway did not make, or has used,
// where the server is a legacy one: to such a server the request would be a new
// one, which the client does not mean. A modern server may have made the state.
func (r *request) checkRequestState(ctx context.Context, up *upstream.Upstream) error {
	if !r.modern || mcp.Member(r.params, "requestState") == nil {
		return nil
	}
	if err := up.Connect(ctx); err != nil {
		return err
	}
	if up.Status().Revision.Modern() {
		return nil
	}
	return &rpcError{code: mcp.CodeInvalidParams, message: errState.Error(), data: map[string]string{"reason": "request_state"}}
}
