package authn

import (
	"errors"

	"github.com/golang-jwt/jwt/v5"

	"github.com/junctor-mcp/junctor/host/authn/jwks"
)

// reasons has the word for each error of an [Authenticator]. The first one that an error
// wraps counts.
var reasons = []struct {
	err  error
	word string
}{
	{jwt.ErrTokenExpired, "expired"},
	{jwt.ErrTokenNotValidYet, "not_valid_yet"}, {jwt.ErrTokenUsedBeforeIssued, "not_valid_yet"},
	{jwt.ErrTokenInvalidAudience, "audience"},
	{jwks.ErrUnavailable, "keys_unavailable"},
	{jwks.ErrUnknownKey, "unknown_key"},
	{jwt.ErrTokenSignatureInvalid, "signature"},
	{ErrMalformed, "malformed"},
	{ErrWrong, "unknown_token"},
	{ErrOther, "other_issuer"},
	{ErrMissing, "no_credential"},
	{ErrCertificate, "certificate"},
	{ErrForwarded, "forwarded"},
}

// Reason returns one of a few words for an error of an [Authenticator], for metrics. Words
// never hold a part of the credential. "other" stands for all other errors. Metrics have the
// words as labels, so they must stay. Package httpserver calls it for each refused request; it
// is pure.
func Reason(err error) string {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.word
		}
	}
	if _, ok := errors.AsType[*UnavailableError](err); ok {
		return "keys_unavailable"
	}
	return "other"
}
