// Package authn authenticates clients of the gateway.
//
// An [Authenticator] turns the headers and the connection of a request into a
// [Principal]. It ignores the URL, because URLs end up in logs. There is one for each
// kind of credential: [Tokens], [JWT], [Certificates] and [Forwarded]. [Join] asks
// several in order. The command line acts as the principal [Local], which needs no
// proof.
//
// Package config/inbound makes authenticators of the configuration, and package httpserver
// calls them for each request, concurrently; the console does for sign-ins. They may wait for
// the keys of an issuer (package jwks), and for nothing else. token.go, jwt.go with claims.go
// and tokencache.go, certificate.go and forwarded.go are the kinds; join.go asks several,
// reason.go names refusals for metrics, and tenant.go checks names.
//
// Keys of principals are at rest in sessions, approvals and the names of secrets: Key must stay
// the same for the same identity.
package authn

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/limit"
)

// A Principal is the identity of an authenticated client. Its slices must not be
// modified. It is a value that does not change.
type Principal struct {
	Subject string
	Tenant  string
	// Method is how the client authenticated: "local", "none", "static_token", "jwt",
	// "certificate" or "forwarded".
	Method  string
	Issuer  string    // of a JWT
	Roles   []string  // from the configuration or from a claim
	Groups  []string  // from a claim or from a header
	Scopes  []string  // of a JWT
	Claims  []byte    // of a JWT: a JSON object
	Expires time.Time // end of the credential; zero: none
}

// Key returns a string that identifies the principal. Two principals have the same key
// exactly if tenant, method, subject and issuer are equal. Two tokens of one subject
// have the same key. Sessions and quotas belong to a key.
func (p Principal) Key() string {
	b := make([]byte, 0, 96)
	for i, part := range [...]string{p.Tenant, p.Method, p.Subject, p.Issuer} {
		if i == 3 && part == "" {
			break
		}
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendQuote(b, part)
	}
	return string(b)
}

// Owner returns who the principal is to the limits.
func (p Principal) Owner() limit.Owner { return limit.Owner{Tenant: p.Tenant, Key: p.Key()} }

// ParseKey returns the principal with a key. Only the fields that are part of the key
// are set.
func ParseKey(key string) (p Principal, ok bool) {
	parts := []*string{&p.Tenant, &p.Method, &p.Subject, &p.Issuer}
	for i, part := range parts {
		if key == "" && i == 3 {
			return p, true
		}
		quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(key, " "))
		if err != nil {
			return Principal{}, false
		}
		if *part, err = strconv.Unquote(quoted); err != nil {
			return Principal{}, false
		}
		key = strings.TrimPrefix(key, " ")[len(quoted):]
	}
	return p, key == ""
}

// OwnerOf returns the owner with a key of a principal.
func OwnerOf(key string) limit.Owner {
	p, _ := ParseKey(key)
	return limit.Owner{Tenant: p.Tenant, Key: key}
}

// Same reports whether p and q are the same principal: whether their keys are equal.
func (p Principal) Same(q Principal) bool {
	return p.Tenant == q.Tenant && p.Method == q.Method && p.Subject == q.Subject && p.Issuer == q.Issuer
}

// Is reports whether p and q are the same principal with the same rights.
func (p Principal) Is(q Principal) bool {
	return p.Same(q) && slices.Equal(p.Roles, q.Roles) && slices.Equal(p.Groups, q.Groups) &&
		slices.Equal(p.Scopes, q.Scopes)
}

// HasRole reports whether the principal has one of the roles. A nil list means all
// principals.
func (p Principal) HasRole(roles []string) bool {
	return roles == nil || slices.ContainsFunc(p.Roles, func(role string) bool { return slices.Contains(roles, role) })
}

// Local returns the principal of the user who runs Junctor: on the command
// line, or behind the client that started "junctor serve" on its standard
// streams. This user owns the configuration.
func Local() Principal { return Principal{Subject: "local", Tenant: LocalTenant, Method: "local"} }

// Anonymous returns the principal of every client of a gateway without
// authentication, which serves the programs of its machine.
func Anonymous() Principal { return Principal{Subject: "local", Tenant: LocalTenant, Method: "none"} }

const (
	// LocalTenant is the tenant of the user who runs Junctor.
	LocalTenant = "local"
	// DefaultTenant is the tenant of clients without a configured tenant.
	DefaultTenant = "default"
)

// An Authenticator returns the principal of a request. Its error is for the log only:
// clients learn that they were refused, and never the reason. The error wraps
// [ErrMissing] if the request has no credential of its kind, [ErrOther] if another
// authenticator may know the credential, and is an [*UnavailableError] if the credential
// cannot be checked at the moment. Its methods may be called concurrently, and there is nothing
// to close.
type Authenticator interface {
	Authenticate(r *http.Request) (Principal, error)
}
