package interoptest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A bearer sends a token to the gateway.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// connectAs is connect with a token.
func (e *endpoint) connectAs(t *testing.T, token string) *session {
	t.Helper()
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return connect(t,
		&mcp.StreamableClientTransport{Endpoint: e.url, HTTPClient: &http.Client{Transport: bearer(token)}},
		newDialect, nil)
}

// TestTenantsUseTheirOwnCredentials checks that each tenant, or each of its
// members, reaches the server with its own credential, and that tokens for the
// gateway are not forwarded. U8
func TestTenantsUseTheirOwnCredentials(t *testing.T) {
	for share, logins := range map[string]map[string]string{
		"tenant":  {"red": "red", "blue": "blue"},
		"session": {"red": "red/ann", "blue": "blue/bob"},
	} {
		t.Run(share, func(t *testing.T) {
			t.Parallel()
			v := newAuthServer(t)
			s := newWorkspace(t, v.server(fmt.Sprintf("  share = %q\n  auth \"oauth\" {}\n", share))).withSecrets()
			inbound := map[string]string{"red": "the-token-of-the-red-tenant", "blue": "the-token-of-the-blue-tenant"}
			who := map[string]string{"red": "ann", "blue": "bob"}
			block := ""
			for tenant, token := range inbound {
				s.env = append(s.env, tenant+"="+token)
				block += fmt.Sprintf("    auth \"static_token\" {\n      token   = env(%q)\n      subject = %q\n      tenant  = %q\n    }\n",
					tenant, who[tenant], tenant)
			}
			s.appendConfig("gateway {\n  http {\n" + block + "  }\n}\n")
			issued := map[string]string{}
			s.run("login", "up").exits(0) // the user of the gateway, for the lists
			s.run("login", "up", "--tenant", logins["red"]).exits(0)
			issued["red"] = v.newest()

			e := s.serveHTTP()
			red, blue := e.connectAs(t, inbound["red"]), e.connectAs(t, inbound["blue"])
			red.waitForTools("up")
			if got := red.call("up__whoami", object{}); got != "Bearer "+issued["red"] {
				t.Errorf("red was sent as %q", got)
			}
			_, err := blue.CallTool(blue.ctx, &mcp.CallToolParams{Name: "up__whoami", Arguments: object{}})
			if command := "junctor login up --tenant " + logins["blue"]; err == nil ||
				!strings.Contains(err.Error(), command) {
				t.Errorf("blue, which has no login, got %v", err)
			}

			s.run("login", "up", "--tenant", logins["blue"]).exits(0)
			issued["blue"] = v.newest()
			for tenant, c := range map[string]*session{"red": red, "blue": blue} {
				if got := c.call("up__whoami", object{}); got != "Bearer "+issued[tenant] {
					t.Errorf("%s was sent as %q", tenant, got)
				}
			}
			for tenant, token := range inbound {
				if v.saw(token) {
					t.Errorf("the server got the token of %s", tenant)
				}
			}
		})
	}
}
