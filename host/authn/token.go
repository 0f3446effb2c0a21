package authn

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// The reasons why an [Authenticator] refuses a request. They never contain a part of a
// token.
var (
	ErrMissing   = errors.New("the request has no credential")
	ErrMalformed = errors.New("the request's token is malformed")
	ErrWrong     = errors.New("the request's token is not known")
	// ErrOther means that the token has a form that another authenticator may know.
	ErrOther = errors.New("the request's token is of another kind")
)

// A StaticToken is a token and the identity that it proves.
type StaticToken struct {
	Token   string
	Subject string
	Tenant  string
	Roles   []string
}

// Tokens authenticates clients by a fixed list of tokens. It keeps only the digests
// of the tokens. It is immutable and may be used concurrently. Package config/inbound makes it,
// and chains join several.
type Tokens struct{ known []knownToken }

type knownToken struct {
	digest [sha256.Size]byte
	owner  Principal
}

var _ Authenticator = (*Tokens)(nil)

// NewTokens returns an Authenticator for a list of distinct tokens.
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

// Authenticate returns the principal of the request's token. The error is ErrMissing,
// ErrMalformed, ErrWrong, or ErrOther for an unknown token with the form of a JWT.
func (t *Tokens) Authenticate(r *http.Request) (Principal, error) {
	token, err := tokenFromHeader(r.Header)
	if err != nil {
		return Principal{}, err
	}
	// All digests are compared, and all have the same length. The time
	// therefore says neither how much of a token was right nor which one was
	// sent.
	digest, found := sha256.Sum256([]byte(token)), -1
	for i := range t.known {
		same := subtle.ConstantTimeCompare(digest[:], t.known[i].digest[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	switch {
	case found >= 0:
	case isJWT(token):
		return Principal{}, fmt.Errorf("%w: no static token is equal to this JWT", ErrOther)
	default:
		return Principal{}, ErrWrong
	}
	return t.known[found].owner, nil
}

// maxToken is the length in bytes of the longest token that is looked at.
const maxToken = 12 << 10

// tokenFromHeader reads the token of "Authorization: Bearer TOKEN" or of
// "Mcp-Auth-Token: TOKEN". It refuses a request with more than one such header:
// a proxy in front of the gateway may have checked the other one.
func tokenFromHeader(h http.Header) (string, error) {
	bearer, own := h["Authorization"], h["Mcp-Auth-Token"]
	switch {
	case len(bearer)+len(own) == 0:
		return "", ErrMissing
	case len(bearer)+len(own) > 1:
		return "", fmt.Errorf("%w: more than one header has one", ErrMalformed)
	case len(own) == 1:
		return validToken(own[0])
	}
	scheme, token, _ := strings.Cut(bearer[0], " ")
	switch {
	case strings.EqualFold(scheme, "Basic"): // of a proxy that passes it on
		return "", fmt.Errorf("%w: Authorization has the scheme Basic", ErrMissing)
	case !strings.EqualFold(scheme, "Bearer"):
		return "", fmt.Errorf("%w: Authorization has another scheme than Bearer", ErrMalformed)
	}
	return validToken(strings.TrimLeft(token, " "))
}

// validToken returns the token if it is not empty, not too long, and consists
// of visible ASCII characters only.
func validToken(token string) (string, error) {
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
