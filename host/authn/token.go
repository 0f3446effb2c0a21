package authn

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// The reasons for which a request is refused. An error of [Tokens] is one of
// them, and says no more of a token than what is wrong with its form.
var (
	ErrMissing   = errors.New("the request has no token")
	ErrMalformed = errors.New("the request's token is malformed")
	ErrWrong     = errors.New("the request's token is not known")
)

// A StaticToken is a token and who may use it.
type StaticToken struct {
	Token   string
	Subject string
	Tenant  string
	Roles   []string
}

// Tokens lets in whoever sends one of its tokens. It keeps digests of them
// only.
type Tokens struct{ known []knownToken }

type knownToken struct {
	digest [sha256.Size]byte
	owner  Principal
}

var _ Authenticator = (*Tokens)(nil)

// NewTokens makes an Authenticator of a list in which no token stands twice.
func NewTokens(list []StaticToken) *Tokens {
	t := &Tokens{}
	for _, s := range list {
		t.known = append(t.known, knownToken{
			digest: sha256.Sum256([]byte(s.Token)),
			owner:  Principal{Subject: s.Subject, Tenant: s.Tenant, Method: "static_token", Roles: s.Roles},
		})
	}
	return t
}

// Authenticate returns the owner of the request's token.
func (t *Tokens) Authenticate(r *http.Request) (Principal, error) {
	token, err := tokenIn(r.Header)
	if err != nil {
		return Principal{}, err
	}
	// Digests have one length, and all of them are compared: how long it takes
	// says neither how much of a token was right nor whose it was.
	digest, found := sha256.Sum256([]byte(token)), -1
	for i := range t.known {
		same := subtle.ConstantTimeCompare(digest[:], t.known[i].digest[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return Principal{}, ErrWrong
	}
	return t.known[found].owner, nil
}

// maxToken is the length of the longest token that a configuration can hold.
const maxToken = 4096

// tokenIn reads the token of "Authorization: Bearer TOKEN" or of
// "Mcp-Auth-Token: TOKEN". A request that has more than one of them is refused:
// what stands in front of the gateway may have looked at the other.
func tokenIn(h http.Header) (string, error) {
	bearer, own := h["Authorization"], h["Mcp-Auth-Token"]
	switch {
	case len(bearer)+len(own) == 0:
		return "", ErrMissing
	case len(bearer)+len(own) > 1:
		return "", fmt.Errorf("%w: more than one header has one", ErrMalformed)
	case len(own) == 1:
		return checked(own[0])
	}
	scheme, token, _ := strings.Cut(bearer[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", fmt.Errorf("%w: Authorization has another scheme than Bearer", ErrMalformed)
	}
	return checked(strings.TrimLeft(token, " "))
}

// checked is a token of which every character is one that a token can have.
func checked(token string) (string, error) {
	switch {
	case token == "":
		return "", fmt.Errorf("%w: it is empty", ErrMalformed)
	case len(token) > maxToken:
		return "", fmt.Errorf("%w: it is longer than %d bytes", ErrMalformed, maxToken)
	}
	for i := range len(token) {
		if token[i] <= ' ' || token[i] > '~' {
			return "", fmt.Errorf("%w: it holds other characters than visible ASCII", ErrMalformed)
		}
	}
	return token, nil
}
