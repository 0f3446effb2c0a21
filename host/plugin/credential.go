package plugin

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/sdk"
)

// What an auth provider may have added to a request.
const (
	credentialMembers = 32       // headers and query members
	credentialSize    = 64 << 10 // bytes of names and values
	textSize          = 1 << 10  // bytes of what people are told
	nameSize          = 256      // bytes of an account's name, and of a scope
	scopesMost        = 128
)

// theirs are the headers that belong to HTTP, MCP and the transport, and those
// that make net/http send a request twice. Who could set them could turn one
// request into another. Cookies are credentials, and allowed.
var theirs = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host", "Http2-Settings",
	"Idempotency-Key", "Keep-Alive", "Last-Event-Id", "Origin", "Set-Cookie", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "X-Idempotency-Key",
}

// theirsBegin are the beginnings of more of them.
var theirsBegin = []string{"Mcp-", "Proxy-", "Sec-"}

// checkCredential refuses what may not be added to a request. It says which
// name is wrong, and never a value.
func checkCredential(c sdk.Credential) error {
	if n := len(c.Headers) + len(c.Query); n > credentialMembers {
		return fmt.Errorf("it has %d headers and query members, %d are allowed", n, credentialMembers)
	}
	size := 0
	for _, m := range []map[string]string{c.Headers, c.Query} {
		for name, value := range m {
			size += len(name) + len(value)
		}
	}
	if size > credentialSize {
		return fmt.Errorf("it has %d bytes, %d are allowed", size, credentialSize)
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
		return fmt.Errorf("%.64q cannot be the name of a header", name)
	}
	same := textproto.CanonicalMIMEHeaderKey(name)
	begins := func(prefix string) bool { return strings.HasPrefix(same, prefix) }
	switch {
	case slices.Contains(theirs, same) || slices.ContainsFunc(theirsBegin, begins):
		return fmt.Errorf("the header %s is not for auth providers to set", same)
	case strings.ContainsAny(value, "\r\n"):
		return fmt.Errorf("the value of the header %s contains a line break", same)
	case strings.ContainsFunc(value, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }):
		return fmt.Errorf("the value of the header %s contains what is not visible ASCII", same)
	}
	return nil
}

// token reports whether s can be the name of a header (RFC 9110 §5.6.2).
func token(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

// unusable is the fault of a provider whose credential is refused.
func (a *Authorizer) unusable(err error) error {
	return fault.New(fault.PluginBroken, "the credential of plugin %q (%s) cannot be used: %v", a.spec.Name, a.what, err)
}

// title is a short text of the plugin's that people see, on one line and
// without secrets.
func (l *link) title(s string) string { return l.short(s, nameSize) }

// sentence is a longer one.
func (l *link) sentence(s string) string { return l.short(s, textSize) }

func (l *link) short(s string, size int) string {
	s = plain(l.conceal.hide(s[:min(len(s), 16*size)]))
	if len(s) > size {
		s = strings.ToValidUTF8(s[:size], "") + " ..."
	}
	return s
}

// scopes leaves out what cannot be one: a scope is printable ASCII without
// spaces, quotes and backslashes.
func scopes(list []string) []string {
	var good []string
	for _, s := range list {
		bad := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
		if s != "" && len(s) <= nameSize && !strings.ContainsFunc(s, bad) && len(good) < scopesMost {
			good = append(good, s)
		}
	}
	return good
}
