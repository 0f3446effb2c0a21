package httpserver

import (
	"net/http"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/outcome"
)

// An admission decides which requests are handled, and answers the others. Its methods may be
// called concurrently. The Server has one, and the goroutine of each request calls it.
type admission struct {
	gateway   *gateway.Gateway
	log       *limit.Lines // of refused requests
	refused   refusals
	addresses *addressLimiter
}

func newAdmission(g *gateway.Gateway, log hclog.Logger) *admission {
	return &admission{gateway: g, log: limit.NewLines(log, "listener"), addresses: newAddressLimiter()}
}

// admit reports whether a request is allowed, and returns its principal. It
// checks the origin, the rate of its address and its credentials. It answers a
// request that is not allowed, and an OPTIONS request.
func (a *admission) admit(w http.ResponseWriter, r *http.Request, settings *active,
	methods string) (authn.Principal, bool) {
	if why := checkOrigin(r, settings); why != nil {
		a.log.Log(hclog.Warn, "http", "refused a request",
			"why", why.reason,
			"host", printable(r.Host),
			"origin", printable(r.Header.Get("Origin")),
			"from", r.RemoteAddr,
			"request", requestID(w),
			"hint", admitHint(r, why))
		a.refused.add(why.reason)
		writeError(w, r, http.StatusForbidden, why)
		return authn.Principal{}, false
	}
	allowOrigin(w, r, methods)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return authn.Principal{}, false
	}
	if wait, ok := a.allowAddress(r, settings); !ok {
		a.refuse("", outcome.RateLimited, "address_rate")
		writeRetryable(w, r, http.StatusTooManyRequests, wait, errRate)
		return authn.Principal{}, false
	}
	return a.identify(w, r, settings)
}

// allowOrigin sets the CORS headers for a page of an allowed origin.
func allowOrigin(w http.ResponseWriter, r *http.Request, methods string) {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, X-Request-Id")
	h.Add("Vary", "Origin")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", methods)
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		h.Set("Access-Control-Max-Age", "600")
	}
}

// allowAddress counts a request against the rate of its client's address. If there were
// too many, it returns how long to wait.
func (a *admission) allowAddress(r *http.Request, settings *active) (wait time.Duration, ok bool) {
	if settings.PerAddress.PerSecond == 0 || !isProxy(r.RemoteAddr, settings.Proxies) {
		return a.addresses.allow(r.RemoteAddr, settings.PerAddress, settings.Loopback)
	}
	client, ok := forwardedFor(r.Header["X-Forwarded-For"], settings.Proxies)
	if !ok {
		return a.addresses.allow(r.RemoteAddr, settings.PerAddress, settings.Loopback)
	}
	network, _ := clientNetwork(client, true) // a proxy names remote clients only
	return a.addresses.take(network, settings.PerAddress)
}

// refuse counts a request that a limit refused.
func (a *admission) refuse(tenant string, o outcome.Outcome, reason string) {
	a.refused.add(reason)
	a.gateway.Refused(tenant, o)
}

// acquire takes a unit of a quota for a request. If there is none, it answers the
// request and reports false.
func (a *admission) acquire(w http.ResponseWriter, r *http.Request, p authn.Principal, q requestQuota) bool {
	err := q.acquire(p)
	if err != nil {
		a.refuse(p.Tenant, outcome.Overloaded, err.reason)
		writeRetryable(w, r, err.retryStatus(), time.Second, err)
	}
	return err == nil
}
