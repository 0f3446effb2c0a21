package httpserver

import (
	"net/http"

	"encoding/json"
)

// health answers whoever watches over the process: nobody has to prove who they
// are, and nothing is told but whether it goes well. Servers that cannot be
// reached do not make the gateway unhealthy: it has others.
func (f *Server) health(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	default:
		notAllowed(w, r, "GET, HEAD")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Path != "/readyz" {
		body(w, http.StatusOK, []byte(`{"status":"ok"}`))
		return
	}
	checks := map[string]bool{
		"accepting": !f.isDraining(),
		"sessions":  f.sessions.Len() < f.most,
		"store":     f.sessions.Healthy() == nil,
	}
	status := http.StatusOK
	// A store that cannot be written to is no reason to send clients away.
	ready := checks["accepting"] && checks["sessions"]
	if !ready {
		status = http.StatusServiceUnavailable
	}
	text, err := json.Marshal(map[string]any{"ready": ready, "checks": checks})
	if err != nil {
		panic(err) // booleans can always be rendered
	}
	body(w, status, text)
}
