package httpserver

import (
	"encoding/json"
	"net/http"
)

// AuditHealth is the state of the audit log, for health checks. It is a copy that Options.Audit
// returns.
type AuditHealth struct {
	Failing  bool // it cannot be written
	Refusing bool // requests are refused, because they cannot be recorded
}

// health answers health checks without authentication. It returns only
// statuses. Servers that are not reachable do not make the gateway unhealthy. The paths and the
// members of the body are what monitoring reads: they must stay. ServeHTTP calls it,
// concurrently.
func (srv *Server) health(w http.ResponseWriter, r *http.Request, settings *active) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	default:
		notAllowed(w, r, "GET, HEAD")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Path != "/readyz" {
		writeBody(w, http.StatusOK, []byte(`{"status":"ok"}`))
		return
	}
	checks := map[string]bool{
		"accepting": !isClosed(srv.leaving),
		"sessions":  srv.sessions.Len() < settings.Sessions.Max,
		"store":     srv.sessions.Healthy() == nil,
	}
	status := http.StatusOK
	// Sessions continue in memory if the store cannot be written, so the
	// gateway stays ready. The same holds for an audit log, unless its settings refuse
	// requests that cannot be recorded. Without usable keys no client can authenticate, if
	// there is no other way to.
	ready := checks["accepting"] && checks["sessions"]
	if srv.audit != nil {
		if a := srv.audit(); a != nil {
			checks["audit"] = !a.Failing && !a.Refusing
			ready = ready && !a.Refusing
		}
	}
	if usable, total := usableKeys(settings.Keys); total > 0 {
		checks["keys"] = usable == total
		ready = ready && (usable > 0 || !settings.OnlyKeys)
	}
	if !ready {
		status = http.StatusServiceUnavailable
	}
	text, err := json.Marshal(map[string]any{"ready": ready, "checks": checks})
	if err != nil {
		panic(err) // booleans can always be rendered
	}
	writeBody(w, status, text)
}

// usableKeys returns of how many issuers tokens can be verified, and how many there are.
func usableKeys(issuers []func() bool) (usable, total int) {
	for _, verifies := range issuers {
		if verifies() {
			usable++
		}
	}
	return usable, len(issuers)
}
