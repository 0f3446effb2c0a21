package plugin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/sdk"
)

// TestCheckCredential checks that a credential cannot change the meaning of a request.
func TestCheckCredential(t *testing.T) {
	header := func(name, value string) sdk.Credential {
		return sdk.Credential{Headers: map[string]string{name: value}}
	}
	query := func(name, value string) sdk.Credential { return sdk.Credential{Query: map[string]string{name: value}} }
	many := func(n int) sdk.Credential {
		c := sdk.Credential{Headers: map[string]string{}, Query: map[string]string{}}
		for i := range n {
			c.Headers[fmt.Sprint("X-", i)], c.Query[fmt.Sprint(i)] = "v", "v"
		}
		return c
	}
	for _, c := range []struct {
		name       string
		credential sdk.Credential
		refused    string // empty if accepted
	}{
		{"nothing", sdk.Credential{}, ""},
		{"a token", header("Authorization", "Bearer abc"), ""},
		{"a custom header", header("X-Api_Key!", "a b\tc"), ""},
		{"a cookie", header("cookie", "session=1; other=2"), ""},
		{"an empty value", header("X-Empty", ""), ""},
		{"a query member", query("key", "ä &=?"), ""},
		{"maximum number of members", many(credentialMembers / 2), ""},
		{"maximum size", header("X", strings.Repeat("x", credentialSize-1)), ""},

		{"one too many", many(credentialMembers/2 + 1), "34 headers and query members"},
		{"too much in a header", header("X", strings.Repeat("x", credentialSize)), "65537 bytes"},
		{"too much in the query", query("X", strings.Repeat("x", credentialSize)), "65537 bytes"},
		{"no name", header("", "v"), "not a valid header name"},
		{"a space in the name", header("X Y", "v"), "not a valid header name"},
		{"a colon in the name", header("X:", "v"), "not a valid header name"},
		{"a line break in the name", header("X\r\nHost", "v"), "not a valid header name"},
		{"a letter in the name", header("X-é", "v"), "not a valid header name"},
		{"a line break", header("Authorization", "Bearer canary\n"), "header Authorization contains a line break"},
		{"a second header", header("Authorization", "canary\r\nHost: x"), "header Authorization contains a line break"},
		{"a zero byte", header("X", "canary\x00"), "other than visible ASCII"},
		{"a letter", header("X", "canary é"), "other than visible ASCII"},
		{"a delete", header("X", "canary\x7f"), "other than visible ASCII"},
		{"no name in the query", query("", "canary"), "without a name"},
		{"a line break in the query", query("key", "canary\n"), `query member "key"`},
		{"a zero byte in the query", query("key\x00", "canary"), `query member "key\x00"`},
		{"one twice", sdk.Credential{Headers: map[string]string{"x-a": "canary", "X-A": "canary"}}, "X-A twice"},
	} {
		t.Run(c.name, func(t *testing.T) { verdict(t, checkCredential(c.credential), c.refused) })
	}
	for _, name := range []string{
		"Host", "host", "CONTENT-LENGTH", "Content-Type", "Accept", "accept-encoding", "Mcp-Session-Id",
		"MCP-Protocol-Version", "mcp-anything", "Connection", "Transfer-Encoding", "Proxy-Authorization",
		"proxy-connection", "Sec-Fetch-Mode", "TE", "Trailer", "Upgrade", "Expect", "Keep-Alive", "HTTP2-Settings",
		"Origin", "Last-Event-ID", "Idempotency-Key", "X-Idempotency-Key", "Set-Cookie",
	} {
		verdict(t, checkCredential(header(name, "canary")), "auth providers must not set")
	}
}

// verdict compares an error with the expected text and checks that it has no secret.
func verdict(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case (err == nil) != (want == ""):
		t.Errorf("got %v, want %q", err, want)
	case err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary")):
		t.Errorf("got %v, want %q without the secret", err, want)
	}
}
