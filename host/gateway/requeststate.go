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

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// The client of a suspended call gets a state to send back. It is sealed, bound to the
// principal, the server, the method and the params, and valid once.

// statePrefix distinguishes states of gateways from those of servers, which pass through.
// The state of another gateway has the same prefix, but open rejects it.
const statePrefix = "junctor.1."

// A stateID identifies a suspended call in a sealed state.
type stateID [16]byte

// A stateCodec encrypts and decrypts states with a key of this process.
type stateCodec struct {
	prefix string // of the states
	aead   cipher.AEAD
}

func newStateCodec(prefix string) *stateCodec {
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
	return &stateCodec{prefix, aead}
}

func (c *stateCodec) seal(id stateID, about []byte) string {
	return c.prefix + base64.RawURLEncoding.EncodeToString(c.aead.Seal(nil, nil, id[:], about))
}

var errState = errors.New("the requestState is not valid: it was used already, is too old, or belongs to another request")

func (c *stateCodec) open(state string, about []byte) (id stateID, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(state, c.prefix))
	if err != nil {
		return id, errState
	}
	text, err := c.aead.Open(nil, nil, sealed, about)
	if err != nil || copy(id[:], text) != len(id) {
		return id, errState
	}
	return id, nil
}

// stateBinding returns the additional data that a state is bound to. Params that differ
// in the order of their members only have the same.
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

// checkRequestState refuses a state for a legacy server if this gateway did not make it
// or has used it: the server would take the continued request for a new one. A state for
// a modern server passes, because the server may have made it.
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
