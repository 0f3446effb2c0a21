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

// A vendor is a server of this process and the authorization server that guards
// it. Its tool "whoami" tells with what it was called.
type vendor struct {
	*plugintest.Vendor
	base string // of the server
}

func newVendor(t *testing.T) *vendor {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "vendor", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "whoami"}, func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: r.Extra.Header.Get("Authorization")}}}, nil, nil
	})
	v := plugintest.NewVendor(t)
	v.Inside = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
	return &vendor{v, strings.TrimSuffix(v.URL, "/mcp")}
}

// A tally is what a vendor has counted.
type tally struct{ registrations, logins, refreshes, requests int }

func (v *vendor) tally() tally {
	return tally{len(v.Requests("/register")), len(v.Requests("/authorize")), len(v.Grants("refresh_token")), len(v.Requests("/mcp"))}
}

// newest is the access token that was issued last.
func (v *vendor) newest() string {
	all := v.Issued()
	return all[len(all)-2]
}

// saw reports whether a request to the server had a text in any header.
func (v *vendor) saw(text string) bool {
	return slices.ContainsFunc(v.Requests("/mcp"), func(r plugintest.VendorRequest) bool { return strings.Contains(fmt.Sprint(r.Header), text) })
}

// server is the vendor in a configuration, as "up", with further lines.
func (v *vendor) server(lines string) server {
	return server{name: "up", web: &web{plugin: "http", url: v.URL}, more: lines}
}

// withSecrets gives a site a place for secrets and a browser.
func (s *site) withSecrets() *site {
	s.t.Helper()
	password := filepath.Join(s.dir, "password")
	if err := os.WriteFile(password, []byte("correct horse battery staple"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.adds("secret_store \"file\" {\n  password_file = " + quoted(password) + "\n}\n")
	s.env = append(s.env, "BROWSER="+program("browser"), "DISPLAY=:0", "CI=", "NO_BROWSER=", "SSH_CONNECTION=", "SSH_TTY=", "JUNCTOR_CALLBACK_PORTS=0")
	return s
}

// adds appends to the configuration.
func (s *site) adds(lines string) {
	s.t.Helper()
	s.rewrites(func(text string) string { return text + lines })
}

// rewrites changes the configuration.
func (s *site) rewrites(change func(text string) string) {
	s.t.Helper()
	text, err := os.ReadFile(s.config)
	if err == nil {
		err = os.WriteFile(s.config, []byte(change(string(text))), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
