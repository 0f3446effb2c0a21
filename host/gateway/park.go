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
	parkTime  = askTime
	parkedMax = 1000 // talks, of all clients
	parkedOne = 100  // and of one principal

	// statePrefix tells our states from those of servers, which pass through; one
	// of another gateway behind this one looks the same, but does not open.
	statePrefix = "junctor.1."
)

// A ticket is what a state stands for.
type ticket [16]byte

// A parked is a talk that waits for its client.
type parked struct {
	talk      *talk
	principal string
	timer     *time.Timer
}

// A sealer makes states that only it can read.
type sealer struct{ aead cipher.AEAD }

func newSealer() *sealer {
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
	return &sealer{aead}
}

func (s *sealer) seal(t ticket, about []byte) string {
	return statePrefix + base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, t[:], about))
}

var errState = errors.New("the requestState is not valid: it was used already, is too old, or belongs to another request")

func (s *sealer) open(state string, about []byte) (t ticket, err error) {
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

// about is what a state is bound to.
func (r *request) about(server string) []byte {
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

// park puts a talk aside until its client comes back with the state.
func (g *Gateway) park(t *talk, r *request) (state string, err error) {
	p := &parked{talk: t, principal: r.session.Principal().Key()}
	var tick ticket
	_, _ = rand.Read(tick[:])
	g.leasing.Lock()
	defer g.leasing.Unlock()
	mine := 0
	for _, other := range g.parked {
		if other.principal == p.principal {
			mine++
		}
	}
	switch {
	case g.isEnding():
		return "", errStopping
	case len(g.parked) >= parkedMax || mine >= parkedOne:
		return "", fault.New(fault.UpstreamOverloaded, "too many requests wait for what their clients were asked")
	}
	t.mu.Lock()
	t.now = nil
	t.mu.Unlock()
	g.parked[tick] = p
	p.timer = time.AfterFunc(parkTime, func() {
		g.leasing.Lock()
		defer g.leasing.Unlock() // before that, Stop does not wait
		if g.take(tick) != nil {
			g.work.Go(func() { t.end(fault.New(fault.CallTimeout, "the client did not come back with an answer")) })
		}
	})
	return g.sealer.seal(tick, r.about(t.lease.server)), nil
}

// unpark takes a talk out; nil when it is not there any longer.
func (g *Gateway) unpark(tick ticket) *talk {
	g.leasing.Lock()
	defer g.leasing.Unlock()
	return g.take(tick)
}

// take is unpark for who holds leasing.
func (g *Gateway) take(tick ticket) *talk {
	p := g.parked[tick]
	if p == nil {
		return nil
	}
	delete(g.parked, tick)
	p.timer.Stop()
	return p.talk
}

// resume takes up the talk that a request goes on with; nil when it begins one.
func (g *Gateway) resume(server string, r *request) (*talk, *rpcError) {
	if mcp.Member(r.params, "requestState") == nil {
		return nil, nil
	}
	state, _ := mcp.TextMember(r.params, "requestState")
	if strings.HasPrefix(state, statePrefix) {
		if tick, err := g.sealer.open(state, r.about(server)); err == nil {
			if t := g.unpark(tick); t != nil {
				r.use(server) // which says where its progress goes
				t.heard(r)
				return t, nil
			}
		}
	}
	return nil, r.foreign(g.upstreams[server])
}

// foreign judges a state that is none of ours, or not any longer. A modern
// server may have made it, and knows; to an old one the request would be a new
// one, which the client does not mean.
func (r *request) foreign(over *upstream.Upstream) *rpcError {
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
