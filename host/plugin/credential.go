package plugin

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/truncate"
	"github.com/junctor-mcp/junctor/sdk"
)

// Limits of a credential and of other texts of an auth provider.
const (
	credentialMembers = 32       // headers and query members
	credentialSize    = 64 << 10 // bytes of all names and values
	textSize          = 1 << 10  // bytes of a message
	nameSize          = 256      // bytes of an account name or a scope
	maxScopes         = 128
)

// reservedHeaders belong to HTTP, MCP or the transport, or make net/http repeat a
// request. An auth provider that sets them could turn one request into another.
// Cookies are credentials and therefore allowed.
var reservedHeaders = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host",
	"Http2-Settings", "Idempotency-Key", "Keep-Alive", "Last-Event-Id", "Origin", "Set-Cookie", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "X-Idempotency-Key",
}

// reservedPrefixes are prefixes of further reserved headers.
var reservedPrefixes = []string{"Mcp-", "Proxy-", "Sec-"}

// checkCredential rejects a credential that must not be added to a request. The error names the
// header or member and never contains a value. This file checks what auth providers return, and
// keeps no state.
func checkCredential(c sdk.Credential) error {
	if n := len(c.Headers) + len(c.Query); n > credentialMembers {
		return fmt.Errorf("it has %d headers and query members, the limit is %d", n, credentialMembers)
	}
	size := 0
	for _, m := range []map[string]string{c.Headers, c.Query} {
		for name, value := range m {
			size += len(name) + len(value)
		}
	}
	if size > credentialSize {
		return fmt.Errorf("it has %d bytes, the limit is %d", size, credentialSize)
	}
	seen := map[string]bool{}
	for name, value := range c.Headers {
		if err := checkHeader(name, value); err != nil {
			return err
		}
		same := textproto.CanonicalMIMEHeaderKey(name)
		if seen[same] {
			return fmt.Errorf("it sets the header %s twice", same)
		}
		seen[same] = true
	}
	for name, value := range c.Query {
		switch {
		case name == "":
			return errors.New("it has a query member without a name")
		case strings.ContainsAny(name+value, "\r\n\x00"):
			return fmt.Errorf("the query member %.64q contains a line break or a zero byte", name)
		}
	}
	return nil
}

func checkHeader(name, value string) error {
	if !token(name) {
		return fmt.Errorf("%.64q is not a valid header name", name)
	}
	same := textproto.CanonicalMIMEHeaderKey(name)
	begins := func(prefix string) bool { return strings.HasPrefix(same, prefix) }
	switch {
	case slices.Contains(reservedHeaders, same) || slices.ContainsFunc(reservedPrefixes, begins):
		return fmt.Errorf("auth providers must not set the header %s", same)
	case strings.ContainsAny(value, "\r\n"):
		return fmt.Errorf("the value of the header %s contains a line break", same)
	case strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }):
		return fmt.Errorf("the value of the header %s contains characters other than visible ASCII", same)
	}
	return nil
}

// token reports whether s is a valid header name (RFC 9110 §5.6.2).
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// invalidCredential returns the fault for an invalid credential.
func (a *Authorizer) invalidCredential(err error) error {
	return fault.New(fault.PluginBroken, "the credential of plugin %q (%s) is invalid: %v", a.spec.Name, a.what, err)
}

// accountName returns a name from the plugin for display: one line, truncated, without
// secrets.
func (l *link) accountName(s string) string { return l.display(s, nameSize) }

// displayText returns a message from the plugin for display, like accountName.
func (l *link) displayText(s string) string { return l.display(s, textSize) }

func (l *link) display(s string, limit int) string {
	return truncate.Bytes(plain(l.conceal.hide(s[:min(len(s), 16*limit)])), limit)
}

// scopes removes invalid scopes: a scope is printable ASCII without spaces, quotes
// and backslashes.
func scopes(list []string) []string {
	var good []string
	for _, s := range list {
		bad := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
		if s != "" && len(s) <= nameSize && !strings.ContainsFunc(s, bad) && len(good) < maxScopes {
			good = append(good, s)
		}
	}
	return good
}
