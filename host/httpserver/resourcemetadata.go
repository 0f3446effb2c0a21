package httpserver

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// metadataPath is the path of the metadata of the endpoint (RFC 9728 section 3.1). The
// path of the endpoint as clients see it may follow it.
const metadataPath = "/.well-known/oauth-protected-resource"

// EndpointPath is the path of the endpoint.
const EndpointPath = "/mcp"

// resourceMetadata tells clients without credentials where to get a token (RFC 9728
// section 2). It needs no authentication and has nothing but the configured issuers. Clients
// find their authorization server with it: the members are those of RFC 9728. ServeHTTP calls
// it, concurrently; it keeps no state.
func (srv *Server) resourceMetadata(w http.ResponseWriter, r *http.Request, settings *active) {
	if why := checkOrigin(r, settings); why != nil {
		writeError(w, r, http.StatusForbidden, why)
		return
	}
	allowOrigin(w, r, "GET, HEAD")
	switch {
	case len(settings.Issuers) == 0:
		writeError(w, r, http.StatusNotFound, errNotFound)
		return
	case r.Method == http.MethodOptions:
		w.WriteHeader(http.StatusNoContent)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		notAllowed(w, r, "GET, HEAD")
		return
	}
	if wait, ok := srv.admission.allowAddress(r, settings); !ok {
		writeRetryable(w, r, http.StatusTooManyRequests, wait, errRate)
		return
	}
	text, err := json.Marshal(map[string]any{
		"resource": settings.resource(r), "authorization_servers": settings.Issuers,
		"bearer_methods_supported": []string{"header"},
	})
	if err != nil {
		panic(err) // strings can always be rendered
	}
	w.Header().Set("Cache-Control", "no-store")
	writeBody(w, http.StatusOK, text)
}

// resource returns the URL of the endpoint: the configured one, or that of the request.
// The Host header was checked.
func (a *active) resource(r *http.Request) string {
	if a.URL != "" {
		return a.URL
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host + EndpointPath
}

// metadataURL returns the URL of the metadata of the endpoint.
func (a *active) metadataURL(r *http.Request) string {
	u, err := url.Parse(a.resource(r))
	if err != nil {
		return ""
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	return u.Scheme + "://" + u.Host + metadataPath + path
}
