// Package authn authenticates clients of the gateway.
//
// An [Authenticator] such as [Tokens] turns the headers of a request into a
// [Principal]. It ignores the URL, because URLs end up in logs. The command line
// is the principal [Local], which needs no proof.
package authn

import (
	"net/http"
	"slices"
	"strconv"
)

// A Principal is who a client proved to be. Whoever gets one does not change
// its Roles.
type Principal struct {
	Subject string
	Tenant  string
	Method  string // of the proof: "local", "none", "static_token" or "certificate"
	Roles   []string
}

// Key is what a session belongs to: the same for two requests exactly when the
// same subject of the same tenant made them in the same way. It says nothing of
// the token, which may be another one each time.
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

// Is reports whether both are the same one, in the same roles.
func (p Principal) Is(q Principal) bool {
	return p.Tenant == q.Tenant && p.Method == q.Method && p.Subject == q.Subject && slices.Equal(p.Roles, q.Roles)
}

// Local is the user who runs Junctor: at the command line, or behind the
// client that started "junctor serve" on its standard streams. Whoever that is
// owns the configuration.
func Local() Principal { return Principal{Subject: "local", Tenant: "local", Method: "local"} }

// Anonymous is whoever asks a gateway that lets every program on the machine
// in.
func Anonymous() Principal { return Principal{Subject: "local", Tenant: "local", Method: "none"} }

// An Authenticator finds out who made a request. Its error is for the log
// alone: clients learn only that they were refused, whatever the reason.
type Authenticator interface {
	Authenticate(r *http.Request) (Principal, error)
}
