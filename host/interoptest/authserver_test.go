package interoptest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/junctor-mcp/junctor/sdk/plugintest"
)

// An authServer is an MCP server of this process and its authorization server.
// Its tool "whoami" returns the credential of the call.
type authServer struct {
	*plugintest.Vendor
	base string // URL of the server
}

func newAuthServer(t *testing.T) *authServer {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "vendor", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "whoami"},
		func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{
					Content: []mcp.Content{&mcp.TextContent{Text: r.Extra.Header.Get("Authorization")}},
				},
				nil, nil
		})
	v := plugintest.NewVendor(t)
	v.Inside = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{Stateless: true})
	return &authServer{v, strings.TrimSuffix(v.URL, "/mcp")}
}

// A tally counts the requests to an authServer.
type tally struct{ registrations, logins, refreshes, requests int }

func (v *authServer) tally() tally {
	return tally{len(v.Requests("/register")), len(v.Requests("/authorize")), len(v.Grants("refresh_token")),
		len(v.Requests("/mcp"))}
}

// newest returns the latest access token.
func (v *authServer) newest() string {
	all := v.Issued()
	return all[len(all)-2]
}

// saw reports whether a header of a request to the server contained text.
func (v *authServer) saw(text string) bool {
	return slices.ContainsFunc(v.Requests("/mcp"),
		func(r plugintest.VendorRequest) bool { return strings.Contains(fmt.Sprint(r.Header), text) })
}

// server returns the server as "up", with more lines.
func (v *authServer) server(lines string) server {
	return server{name: "up", web: &webServer{plugin: "http", url: v.URL}, more: lines}
}

// withSecrets adds a secret store and a browser to a workspace.
func (s *workspace) withSecrets() *workspace {
	s.t.Helper()
	password := filepath.Join(s.dir, "password")
	if err := os.WriteFile(password, []byte("correct horse battery staple"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.appendConfig("secret_store \"file\" {\n  password_file = " + quoted(password) + "\n}\n")
	s.env = append(s.env, "BROWSER="+program("browser"), "DISPLAY=:0", "CI=", "NO_BROWSER=", "SSH_CONNECTION=",
		"SSH_TTY=", "JUNCTOR_CALLBACK_PORTS=0")
	return s
}

// appendConfig appends to the configuration.
func (s *workspace) appendConfig(lines string) {
	s.t.Helper()
	s.rewriteConfig(func(text string) string { return text + lines })
}

// rewriteConfig changes the configuration.
func (s *workspace) rewriteConfig(change func(text string) string) {
	s.t.Helper()
	text, err := os.ReadFile(s.config)
	if err == nil {
		err = os.WriteFile(s.config, []byte(change(string(text))), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
