package httpclient

import (
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
)

// reserved lists the headers that the transport or the protocol sets, and those
// that make net/http retry a request.
var reserved = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host",
	"Idempotency-Key", "Keep-Alive", "Last-Event-Id", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version",
	"Mcp-Session-Id", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	"X-Idempotency-Key",
}

// Headers checks configured headers: names are tokens (RFC 9110 §5.6.2), values
// are visible ASCII, spaces and tabs. Each error has the path
// attribute["NAME"]. It is pure.
func Headers(attribute string, set map[string]string) (http.Header, []error) {
	h := http.Header{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(set)) {
		path := fmt.Sprintf("%s[%q]", attribute, name)
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case !IsToken(name):
			errs = append(errs, sdk.AttrErrorf(path, "is not the name of a header"))
		case slices.Contains(reserved, canonical) || strings.HasPrefix(canonical, "Mcp-Param-"):
			errs = append(errs, sdk.AttrErrorf(path, "is set by the transport"))
		case h[canonical] != nil:
			errs = append(errs, sdk.AttrErrorf(path, "is set twice, in different spellings"))
		case !validValue(set[name]):
			errs = append(errs,
				sdk.AttrErrorf(path, "has a value with a character that headers cannot hold, such as a line break"))
		default:
			h[canonical] = []string{set[name]}
		}
	}
	return h, errs
}

// IsToken reports whether s is a valid name of a header.
func IsToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

func validValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && (r < 0x20 || r > 0x7e) })
}

// Visible reports whether s consists of 1 to most visible ASCII characters.
// Only such session ids and event ids can be sent back.
func Visible(s string, most int) bool {
	return s != "" && len(s) <= most && !strings.ContainsFunc(s, func(r rune) bool { return r < 0x21 || r > 0x7e })
}
