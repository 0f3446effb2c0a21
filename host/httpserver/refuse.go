package httpserver

import (
	"errors"
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/outcome"
)

const (
	// refusalTime is the time from the arrival of a request to its status 401. It is longer
	// than the check of any credential, so that it does not show which check failed.
	refusalTime = 10 * time.Millisecond
	// authRetryAfter is the Retry-After while credentials cannot be checked.
	authRetryAfter = 5 * time.Second
)

var errAuthUnavailable = &httpError{code: codeTooManyRequests, message: "authentication is not available",
	reason: "overloaded", modern: -31011}

// unauthorizedBody is the same for every reason. The log has the reason.
const unauthorizedBody = `{"jsonrpc":"2.0","error":{"code":-32001,"message":"unauthorized"}}`

// identify returns the principal of a request. It answers a request without one: with
// status 401, in the same time and with the same bytes for every reason, or with 503
// while credentials cannot be checked. It blocks until refusalTime has passed for a request
// that it refuses. The bytes of the refusal must be the same for every reason. admit calls it
// on the goroutine of the request.
func (a *admission) identify(w http.ResponseWriter, r *http.Request, settings *active) (authn.Principal, bool) {
	begun := time.Now()
	p, err := authenticate(settings, r)
	if err == nil {
		return p, true
	}
	a.log.Log(hclog.Warn, "http", "refused a client",
		"why", err.Error(), "from", r.RemoteAddr, "request", requestID(w))
	a.gateway.Audit().Note(&audit.Event{
		Kind: audit.AuthFailure, Time: begun, RequestID: requestID(w), Transport: "http",
		Address: clientAddress(r, settings), Outcome: audit.Denied, Message: err.Error(),
	})
	a.refused.add(authn.Reason(err))
	if _, ok := errors.AsType[*authn.UnavailableError](err); ok {
		writeRetryable(w, r, http.StatusServiceUnavailable, authRetryAfter, errAuthUnavailable)
		return p, false
	}
	a.gateway.Refused("", outcome.Unauthenticated)
	select {
	case <-time.After(time.Until(begun.Add(refusalTime))):
	case <-r.Context().Done():
	}
	challenge := `Bearer realm="junctor"`
	if len(settings.Issuers) > 0 {
		challenge += `, resource_metadata="` + settings.metadataURL(r) + `"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	writeBody(w, http.StatusUnauthorized, []byte(unauthorizedBody))
	return p, false
}
