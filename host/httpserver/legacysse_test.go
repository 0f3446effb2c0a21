package httpserver

import (
	"slices"
	"testing"

	"github.com/junctor-mcp/junctor/host/authn"
)

// TestLegacySSESessionHasRolesOfLatestToken checks that a session of HTTP+SSE does not keep
// the roles of the token that opened its stream, as a session of streamable HTTP does not.
func TestLegacySSESessionHasRolesOfLatestToken(t *testing.T) {
	t.Parallel()
	tokens := authn.NewTokens([]authn.StaticToken{
		{Token: aliceToken, Subject: "alice", Tenant: "default", Roles: []string{"admin"}},
		{Token: bobToken, Subject: "alice", Tenant: "default"},
	})
	h := openFixture(t, func(o *Options) { o.Auth, o.LegacySSE = tokens, true }, newScriptedServer("a", "2025-11-25"))
	says := h.newLegacyClientAs(t, aliceToken)
	roles := func() []string { return h.gateway.Sessions()[0].Principal.Roles }
	says.mustPost(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if got := roles(); !slices.Equal(got, []string{"admin"}) {
		t.Fatalf("roles %q after a message with the token that opened the stream", got)
	}
	says.header.Set("Authorization", "Bearer "+bobToken)
	says.mustPost(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if got := roles(); len(got) > 0 {
		t.Errorf("roles %q after a message with a token without roles", got)
	}
}
