package login

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/junctor-mcp/junctor/host/loopback"
	"github.com/junctor-mcp/junctor/host/truncate"
	"github.com/junctor-mcp/junctor/sdk"
)

// maxAddress is the length of the longest address that is opened, in bytes.
const maxAddress = 8 << 10

// Address checks an untrusted address of a page and returns the form to open and to
// print. That form is ASCII and has no characters with a meaning to a shell or a
// terminal. Address accepts https only, and http to the loopback if local is set. It is pure.
func Address(raw string, local bool) (string, error) {
	u, problem := vetted(raw, local)
	if problem != "" {
		return "", &sdk.Error{
			Code: sdk.Denied, Reason: "auth_url_rejected",
			Message: fmt.Sprintf("the address of the page to open %s: %s", problem, shown(raw)),
			Hint:    "report it to the operator of the server, which names this address: Junctor opens only https addresses in a browser",
		}
	}
	return u, nil
}

func vetted(raw string, local bool) (address, problem string) {
	switch {
	case len(raw) > maxAddress:
		return "", fmt.Sprintf("is longer than %d bytes", maxAddress)
	case strings.HasPrefix(raw, "-"):
		return "", "begins with a dash, like an option"
	case strings.ContainsFunc(raw, func(r rune) bool { return r == ' ' || strange(r) || r == '\uFFFD' }):
		return "", "contains blanks or control characters"
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", "is not a valid URL"
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return "", "is not https"
	case u.User != nil:
		return "", "contains a user name"
	case u.Opaque != "" || !hostname(u.Hostname()) || u.Host != hostOf(u):
		return "", "has no valid ASCII host name"
	case u.Scheme == "http" && !loopback.Is(u.Hostname()):
		return "", "is not https"
	case u.Scheme == "http" && !local:
		return "", "leads to this machine, but the server is on another one"
	}
	address = u.Scheme + "://" + strings.ToLower(u.Host) + encoded(u.EscapedPath(), inPath)
	if u.RawQuery != "" {
		address += "?" + encoded(u.RawQuery, inQuery)
	}
	if f := u.EscapedFragment(); f != "" {
		address += "#" + encoded(f, inQuery)
	}
	return address, ""
}

// hostOf rebuilds the host from its parts. Addresses with anything else in that place
// are rejected.
func hostOf(u *url.URL) string {
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port() != "" {
		host += ":" + u.Port()
	}
	return host
}

// hostname accepts IP addresses and names in ASCII letters. Other letters must be given
// in punycode, so that users notice them.
func hostname(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return !strings.Contains(host, "%")
	}
	for _, r := range host {
		if !asciiLetter(r) && r != '.' && r != '-' && r != '_' {
			return false
		}
	}
	return host != "" && host[0] != '-' && host[0] != '.' && !strings.Contains(host, "..")
}

func asciiLetter(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// These characters are not encoded, beside letters, digits and escapes. Except for the
// "&" between parameters, none has a meaning to a shell or in a desktop file.
const (
	inPath  = "-._~/:@,=+"
	inQuery = "-._~/:@,=+?&"
)

// encoded percent-encodes everything but letters, digits and the characters in kept.
func encoded(s, kept string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case asciiLetter(rune(c)) && c < 0x80, strings.IndexByte(kept, c) >= 0, c == '%' && isEscape(s[i:]):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func isEscape(s string) bool {
	hex := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
	return len(s) >= 3 && hex(s[1]) && hex(s[2])
}

// shown formats a rejected address for an error: quoted, shortened, and without the
// query and the user name, which may be secret.
func shown(raw string) string {
	raw, _, _ = strings.Cut(raw, "?")
	if at := strings.LastIndexByte(raw, '@'); at >= 0 {
		raw = "…" + raw[at:]
	}
	return fmt.Sprintf("%+q", truncate.Bytes(raw, 100))
}
