package shape

import (
	"cmp"
	"math"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Absolute reports whether a text is a URI with a scheme. Clients that parse URIs refuse a
// list with any other, or without the host that the scheme asks for. Package catalog finds
// resources by these forms, so a change of NormalURI changes which server gets a request.
func Absolute(uri string) bool {
	u, err := url.Parse(withoutEscapedHost(uri))
	if err != nil || u.Scheme == "" {
		return false
	}
	if port, err := strconv.Atoi(cmp.Or(u.Port(), "0")); err != nil || port > math.MaxUint16 {
		return false
	}
	if _, web := webPorts[u.Scheme]; web {
		return u.Host != ""
	}
	return true
}

// withoutEscapedHost replaces the escapes in the host of a URI by letters, because
// [url.Parse] refuses those of ASCII characters. Clients allow them, but not where the host
// is that of a network.
func withoutEscapedHost(uri string) string {
	scheme, rest, ok := cutScheme(uri)
	after, has := strings.CutPrefix(rest, "//")
	lower := strings.ToLower(scheme)
	if _, web := webPorts[lower]; !ok || !has || web || lower == "file" {
		return uri
	}
	authority, path := CutAuthority(after)
	if strings.Contains(authority, "[") {
		return uri
	}
	var b strings.Builder
	for i := 0; i < len(authority); i++ {
		c := authority[i]
		if c == '%' && i+2 < len(authority) {
			if _, err := strconv.ParseUint(authority[i+1:i+3], 16, 8); err == nil {
				c, i = 'x', i+2
			}
		}
		b.WriteByte(c)
	}
	return scheme + "://" + b.String() + path
}

// webPorts holds the schemes whose URIs need a host, with their default ports.
var webPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}

// NormalURI returns the form that the equivalent spellings of a URI have in common, as
// section 6.2 of RFC 3986 defines it: percent-encoding, the case of the scheme and the host,
// default ports and the empty path. Segments "." and ".." stay. Clients that parse URIs
// send them in a form between the server's and this one. The functions of this file are pure.
func NormalURI(uri string) string {
	scheme, rest, ok := cutScheme(uri)
	if !ok {
		if normal := NormalEscapes(uri); normal != uri {
			return NormalURI(normal) // an escape may have hidden a scheme
		}
		return uri
	}
	scheme = strings.ToLower(scheme)
	if scheme == "file" && strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "//") {
		rest = "//" + rest
	}
	after, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return scheme + ":" + NormalEscapes(rest)
	}
	authority, path := CutAuthority(after)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return scheme + "://" + normalAuthority(scheme, authority) + NormalEscapes(path)
}

// maxHost is the maximum size of a host that is encoded for DNS, in bytes. A name has at most
// 253 characters, and the time for the encoding is quadratic.
const maxHost = 3 * 4 * 253

// cutScheme splits a URI at the colon after its scheme.
func cutScheme(uri string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(uri, ":")
	return scheme, rest, ok && scheme != "" && !strings.ContainsAny(scheme, "/?#{}%")
}

// CutAuthority splits the part of a URI after "//" where the authority ends.
func CutAuthority(text string) (authority, rest string) {
	if i := strings.IndexAny(text, "/?#"); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// normalAuthority returns the normal form of an authority: user@host:port.
func normalAuthority(scheme, authority string) string {
	user, host := "", authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, host = NormalEscapes(authority[:i+1]), authority[i+1:]
	}
	port := ""
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.Trim(host[i+1:], "0123456789") == "" &&
		(strings.HasSuffix(host[:i], "]") || !strings.Contains(host[:i], ":")) {
		host, port = host[:i], host[i:]
	}
	standard, web := webPorts[scheme]
	if web && len(host) <= maxHost {
		if text, err := url.PathUnescape(host); err == nil {
			if name, err := idna.Lookup.ToASCII(text); err == nil {
				host = name
			}
		}
	}
	if port == ":" || web && port == ":"+standard {
		port = ""
	}
	host = lowerUnescaped(NormalEscapes(host))
	if scheme == "file" && host == "localhost" {
		host = ""
	}
	return user + host + port
}

// lowerUnescaped returns a normal text in lower case, but for its escapes.
func lowerUnescaped(text string) string {
	b := []byte(strings.ToLower(text))
	for i, c := range b {
		if c == '%' { // followed by two digits, in upper case
			copy(b[i:], text[i:i+3])
		}
	}
	return string(b)
}

// NormalEscapes returns a text in which exactly those bytes are percent-encoded that a URI
// cannot have, or has as an encoded delimiter. Its escapes have upper-case digits.
func NormalEscapes(text string) string {
	const digits = "0123456789ABCDEF"
	if !needsEscapes(text) {
		return text
	}
	b := make([]byte, 0, len(text)+16)
	for i := 0; i < len(text); i++ {
		c, escaped := text[i], false
		if c == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				c, escaped, i = byte(n), true, i+2
			}
		}
		if unreserved(c) || reserved(c) && !escaped {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(b)
}

// needsEscapes reports whether a text has bytes other than plain ones of a URI.
func needsEscapes(text string) bool {
	for i := range len(text) {
		if c := text[i]; !unreserved(c) && !reserved(c) {
			return true
		}
	}
	return false
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' ||
		'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

func reserved(c byte) bool { return strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0 }
