// Package authn authenticates clients of the gateway.
//
// An [Authenticator] such as [Tokens] turns the headers of a request into a
// [Principal]. It ignores the URL, because URLs end up in logs. The command
// line acts as the principal [Local], which needs no proof.
package authn

import (
	"net/http"
	"slices"
	"strconv"
)

// A Principal is the identity of an authenticated client. Its Roles must not be
// modified.
type Principal struct {
	Subject string
	Tenant  string
	Method  string // how the client authenticated: "local", "none", "static_token" or "certificate"
	Roles   []string
}

// Key returns a string that identifies the principal. Two principals have the
// same key exactly if tenant, method and subject are equal. Two tokens of one
// subject have the same key. Sessions and quotas belong to a key.
func (p Principal) Key() string {
	b := make([]byte, 0, 96)
	for i, part := range [...]string{p.Tenant, p.Method, p.Subject} {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendQuote(b, part)
	}
	return string(b)
}

// Is reports whether p and q are the same principal with the same roles.
func (p Principal) Is(q Principal) bool {
	return p.Tenant == q.Tenant && p.Method == q.Method && p.Subject == q.Subject && slices.Equal(p.Roles, q.Roles)
}

// Local returns the principal of the user who runs Junctor: on the command
// line, or behind the client that started "junctor serve" on its standard
// streams. This user owns the configuration.
func Local() Principal { return Principal{Subject: "local", Tenant: "local", Method: "local"} }

// Anonymous returns the principal of every client of a gateway without
// authentication, which serves the programs of its machine.
func Anonymous() Principal { return Principal{Subject: "local", Tenant: "local", Method: "none"} }

// An Authenticator returns the principal of a request. Its error is for the log
// only: clients learn that they were refused, and never the reason.
type Authenticator interface {
	Authenticate(r *http.Request) (Principal, error)
}
