package authn

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"

	"github.com/junctor-mcp/junctor/host/authn/jwks"
)

// AsymmetricAlgorithms are the algorithms of keys that an issuer publishes, and
// SymmetricAlgorithms those of a shared secret (RFC 7518 section 3.1, RFC 8037).
var (
	AsymmetricAlgorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384",
		"ES512", "EdDSA"}
	SymmetricAlgorithms = []string{"HS256", "HS384", "HS512"}
)

// LeastSecret is the length in bytes of the shortest secret for HS256, HS384 and HS512.
const LeastSecret = 32

// JWTOptions configure a [JWT]. Either Keys or Secret is set.
type JWTOptions struct {
	Issuer     string   // value of iss
	Audiences  []string // aud must have one of them
	Algorithms []string // that are accepted; either asymmetric or symmetric ones
	Leeway     time.Duration
	Claims     ClaimNames
	Tenant     string   // without Claims.Tenant
	Subjects   []string // that are admitted; nil: all

	Keys   *jwks.Set
	Secret []byte
}

// A JWT authenticates clients by JSON Web Tokens (RFC 7519, RFC 9068). It decides about
// tokens with the form of a JWT whose claim iss is the issuer. It is immutable but for its
// cache, and may be used concurrently. Keys belong to the caller. Package config/inbound makes
// it.
type JWT struct {
	opts   JWTOptions
	parser *jwt.Parser
	cache  *tokenCache
}

var _ Authenticator = (*JWT)(nil)

// An UnavailableError means that a credential cannot be checked at the moment.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string { return e.Err.Error() }
func (e *UnavailableError) Unwrap() error { return e.Err }

// NewJWT returns an Authenticator for the tokens of one issuer.
func NewJWT(o JWTOptions) *JWT {
	return &JWT{opts: o, cache: newTokenCache(), parser: jwt.NewParser(
		jwt.WithValidMethods(o.Algorithms), jwt.WithIssuer(o.Issuer), jwt.WithAudience(o.Audiences...),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(o.Leeway), jwt.WithStrictDecoding(),
		jwt.WithJSONNumber(),
	)}
}

// Authenticate returns the principal of the request's token. Verified tokens are
// remembered until they expire or their key is withdrawn.
func (j *JWT) Authenticate(r *http.Request) (Principal, error) {
	token, err := tokenFromHeader(r.Header)
	if err != nil {
		return Principal{}, err
	}
	digest := sha256.Sum256([]byte(token))
	if p, ok := j.remembered(digest); ok {
		return p, nil
	}
	if !isJWT(token) {
		return Principal{}, fmt.Errorf("%w: it is no JWT", ErrOther)
	}
	v, err := j.verify(r.Context(), token)
	if err != nil {
		return Principal{}, err
	}
	j.cache.add(digest, v)
	return v.owner, nil
}

// remembered returns the principal of a token that was verified before, if its key is
// still one of the issuer's.
func (j *JWT) remembered(digest [sha256.Size]byte) (Principal, bool) {
	v, ok := j.cache.get(digest)
	if !ok || j.opts.Keys == nil {
		return v.owner, ok
	}
	now, ok := j.opts.Keys.Valid(v.key, v.keys)
	if ok && now != v.keys {
		v.keys = now
		j.cache.add(digest, v)
	}
	return v.owner, ok
}

// isJWT reports whether a token has the form of a signed JWT: a JSON object, a payload
// and a signature, each in base64url.
func isJWT(token string) bool {
	if strings.Count(token, ".") != 2 {
		return false
	}
	head, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.Strict().DecodeString(head)
	return err == nil && len(text) > 0 && text[0] == '{'
}

// verify checks a token. No part of it is used before the issuer, the algorithm and
// then the signature were checked, except the ID of the key.
func (j *JWT) verify(ctx context.Context, token string) (v verified, err error) {
	claims := jwt.MapClaims{}
	unverified, parts, err := j.parser.ParseUnverified(token, claims)
	if err != nil {
		return v, fmt.Errorf("%w: %w", ErrMalformed, bare(err))
	}
	if issuer, _ := claims["iss"].(string); issuer != j.opts.Issuer {
		return v, fmt.Errorf("%w: it is of another issuer, %.100q", ErrOther, issuer)
	}
	if err := strict(parts); err != nil {
		return v, err
	}
	if err := checkHeader(unverified.Header); err != nil {
		return v, err
	}
	if alg := unverified.Method.Alg(); !slices.Contains(j.opts.Algorithms, alg) {
		return v, fmt.Errorf("the token is not valid: the algorithm %.100q is not allowed", alg)
	}
	claims = jwt.MapClaims{}
	parsed, err := j.parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		if j.opts.Keys == nil {
			return j.opts.Secret, nil
		}
		id, _ := t.Header["kid"].(string)
		v.key, err = j.opts.Keys.Find(ctx, id, func(k jwks.Key) bool { return suits(k, t.Method) })
		return v.key.Public, err
	})
	switch {
	case errors.Is(err, jwks.ErrUnavailable), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		return v, &UnavailableError{err}
	case err != nil:
		return v, fmt.Errorf("the token is not valid: %w", j.detailed(bare(err), unverified))
	}
	if claims["cnf"] != nil { // RFC 7800
		return v,
			errors.New("the token is bound to a key of the client, which is not supported: a bearer token without cnf is needed")
	}
	expires, err := parsed.Claims.GetExpirationTime()
	if err != nil {
		return v, err
	}
	if v.owner, err = j.opts.principal(claims); err != nil {
		return v, err
	}
	v.owner.Expires = expires.Add(j.opts.Leeway)
	v.owner.Claims, err = base64.RawURLEncoding.DecodeString(parts[1])
	return v, err
}

// detailed adds what the token has to an error about it. Nothing of it is secret.
func (j *JWT) detailed(err error, t *jwt.Token) error {
	claims, _ := t.Claims.(jwt.MapClaims)
	switch {
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		return fmt.Errorf("%w: %.100q", err, fmt.Sprint(claims["aud"]))
	case errors.Is(err, jwks.ErrUnknownKey):
		return fmt.Errorf("%w: its kid is %.100q", err, fmt.Sprint(t.Header["kid"]))
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing) && claims["exp"] == nil:
		return fmt.Errorf("%w: exp", err)
	}
	return err
}

// strict checks that header and payload mean the same to every parser.
func strict(parts []string) error {
	for _, part := range parts[:2] {
		text, err := base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil || !jsontext.Value(text).IsValid() {
			return fmt.Errorf("%w: it is no strict JSON", ErrMalformed)
		}
	}
	return nil
}

// checkHeader checks the header of a token. Header parameters that name or contain keys
// are ignored.
func checkHeader(h map[string]any) error {
	if _, ok := h["crit"]; ok {
		return fmt.Errorf("%w: crit names parameters that are not supported", ErrMalformed)
	}
	if id, set := h["kid"]; set {
		if s, ok := id.(string); !ok || !plainText(s, maxLabel) {
			return fmt.Errorf("%w: kid is no key ID", ErrMalformed)
		}
	}
	switch kind, set := h["typ"]; {
	case !set:
	default:
		s, _ := kind.(string)
		switch strings.TrimPrefix(strings.ToLower(s), "application/") {
		case "jwt", "at+jwt":
		default:
			return fmt.Errorf("%w: typ is neither JWT nor at+jwt", ErrMalformed)
		}
	}
	return nil
}

// suits reports whether a key may verify a method: its type fits, and it is not meant
// for another algorithm.
func suits(k jwks.Key, m jwt.SigningMethod) bool {
	if k.Algorithm != "" && k.Algorithm != m.Alg() {
		return false
	}
	return fits(k.Public, m)
}

func fits(public crypto.PublicKey, m jwt.SigningMethod) bool {
	switch k := public.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(m.Alg(), "RS") || strings.HasPrefix(m.Alg(), "PS")
	case *ecdsa.PublicKey:
		es, ok := m.(*jwt.SigningMethodECDSA)
		return ok && es.CurveBits == k.Curve.Params().BitSize
	case ed25519.PublicKey:
		return m.Alg() == "EdDSA"
	}
	return false
}

// bare returns an error of the library without the values of the token.
func bare(err error) error {
	for _, known := range []error{
		jwt.ErrTokenExpired, jwt.ErrTokenNotValidYet, jwt.ErrTokenUsedBeforeIssued, jwt.ErrTokenInvalidAudience,
		jwt.ErrTokenInvalidIssuer, jwt.ErrTokenRequiredClaimMissing, jwks.ErrUnknownKey, jwt.ErrTokenSignatureInvalid,
		jwt.ErrTokenUnverifiable, jwt.ErrTokenMalformed, jwt.ErrTokenInvalidClaims,
	} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errors.New("malformed")
}
