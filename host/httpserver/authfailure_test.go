package httpserver

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn"
)

// notes is a recorder that keeps notes.
type notes struct {
	audit.Discard
	mu   sync.Mutex
	kept []audit.Event // guarded by mu
}

func (n *notes) Note(e *audit.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.kept = append(n.kept, *e)
}

// TestRefusedClientIsRecorded sends a wrong token: one event, without the token.
func TestRefusedClientIsRecorded(t *testing.T) {
	h := openFixture(t, func(o *Options) {
		o.Auth = authn.NewTokens([]authn.StaticToken{{Token: strings.Repeat("t", 32), Subject: "alice", Tenant: "red"}})
	}, newScriptedServer("a", "2025-11-25"))
	message, header := modernCall(1, "a__small", "{}")
	resp, err := h.newClient(t).request(t.Context(), http.MethodPost, message,
		append(header, "Authorization", "Bearer canary-in-a-token", "X-Request-Id", "r-1")...)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	h.notes.mu.Lock()
	defer h.notes.mu.Unlock()
	if len(h.notes.kept) != 1 {
		t.Fatalf("%d events", len(h.notes.kept))
	}
	e := h.notes.kept[0]
	if e.Kind != audit.AuthFailure || e.Outcome != audit.Denied || e.RequestID != "r-1" || e.Address == "" ||
		e.Message == "" || strings.Contains(fmt.Sprintf("%+v", e), "canary") {
		t.Errorf("%+v", e)
	}
}
