package gateway

import (
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

// A talk is parked while its client finds out what it was asked. The client gets
// a state that it brings back: sealed, so that it fits the principal, the
// server, the method and what was asked for only, and good for once.

const (
	suspendTime              = askTime
	maxSuspended             = 1000 // talks, of all clients
	maxSuspendedPerPrincipal = 100  // and of one principal

	// statePrefix tells our states from those of servers, which pass through; one
	// of another gateway behind this one looks the same, but does not open.
	statePrefix = "junctor.1."
)

// A stateID is what a state stands for.
type stateID [16]byte

// A suspension is a talk that waits for its client.
type suspension struct {
	talk      *suspendedCall
	principal string
	timer     *time.Timer
}

// A stateCodec makes states that only it can read.
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

// stateBinding is what a state is bound to.
func (r *request) stateBinding(server string) []byte {
	asked := r.params
	for _, name := range []string{"inputResponses", "requestState", "_meta"} {
		asked = mcp.DeleteMember(asked, name)
	}
	digest := sha256.Sum256(mcp.Canonical(asked)) // a client may write the same in another order
	b := append([]byte(r.session.Principal().Key()), 0)
	b = append(append(b, server...), 0)
	b = append(append(b, r.method...), 0)
	return append(b, digest[:]...)
}

// suspend puts a talk aside until its client comes back with the state.
func (g *Gateway) suspend(t *suspendedCall, r *request) (state string, err error) {
	p := &suspension{talk: t, principal: r.session.Principal().Key()}
	var tick stateID
	_, _ = rand.Read(tick[:])
	g.exclusiveMu.Lock()
	defer g.exclusiveMu.Unlock()
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
	g.suspended[tick] = p
	p.timer = time.AfterFunc(suspendTime, func() {
		g.exclusiveMu.Lock()
		defer g.exclusiveMu.Unlock() // before that, Stop does not wait
		if g.takeSuspendedLocked(tick) != nil {
			g.work.Go(func() { t.abandon(fault.New(fault.CallTimeout, "the client did not come back with an answer")) })
		}
	})
	return g.states.seal(tick, r.stateBinding(t.lease.server)), nil
}

// takeSuspended takes a talk out; nil when it is not there any longer.
func (g *Gateway) takeSuspended(tick stateID) *suspendedCall {
	g.exclusiveMu.Lock()
	defer g.exclusiveMu.Unlock()
	return g.takeSuspendedLocked(tick)
}

// takeSuspendedLocked is unpark for who holds leasing.
func (g *Gateway) takeSuspendedLocked(tick stateID) *suspendedCall {
	p := g.suspended[tick]
	if p == nil {
		return nil
	}
	delete(g.suspended, tick)
	p.timer.Stop()
	return p.talk
}

// resumeCall takes up the talk that a request goes on with; nil when it begins one.
func (g *Gateway) resumeCall(server string, r *request) (*suspendedCall, *rpcError) {
	if mcp.Member(r.params, "requestState") == nil {
		return nil, nil
	}
	state, _ := mcp.TextMember(r.params, "requestState")
	if strings.HasPrefix(state, statePrefix) {
		if tick, err := g.states.open(state, r.stateBinding(server)); err == nil {
			if t := g.takeSuspended(tick); t != nil {
				r.newUse(server) // which says where its progress goes
				t.takeAnswers(r)
				return t, nil
			}
		}
	}
	return nil, r.checkRequestState(g.upstreams[server])
}

// checkRequestState judges a state that is none of ours, or not any longer. A modern
// server may have made it, and knows; to an old one the request would be a new
// one, which the client does not mean.
func (r *request) checkRequestState(over *upstream.Upstream) *rpcError {
	if !r.modern || mcp.Member(r.params, "requestState") == nil {
		return nil
	}
	if err := over.Connect(r.ctx); err != nil {
		return r.fault(err)
	}
	if over.Status().Revision.Modern() {
		return nil
	}
	return &rpcError{code: mcp.CodeInvalidParams, message: errState.Error(), data: map[string]string{"reason": "request_state"}}
}
