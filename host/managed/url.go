package managed

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/idna"

	"github.com/junctor-mcp/junctor/host/condition"
)

// A location is a URL in the one form in which URLs are compared: lower-case scheme and
// host, ASCII host without a final dot, the port always there, the path without dots and
// with as few escapes as possible.
type location struct{ scheme, host, port, path string }

var errURL = errors.New("the URL cannot be compared")

// canonical returns the location of a URL. It refuses a user name, a fragment, a host that
// is no name and no address, and characters that servers and proxies read in different
// ways. Query strings do not count.
func canonical(raw string) (location, error) {
	if strings.ContainsAny(raw, "\\\t\r\n ") {
		return location{}, errURL
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme == "" || u.Host == "" || u.User != nil || u.Opaque != "" || u.Fragment != "" {
		return location{}, errURL
	}
	l := location{scheme: strings.ToLower(u.Scheme), port: u.Port()}
	if l.host, err = canonicalHost(u.Hostname()); err != nil {
		return location{}, err
	}
	if l.port == "" {
		l.port = map[string]string{"https": "443", "wss": "443", "http": "80", "ws": "80"}[l.scheme]
	}
	if l.port == "" || strings.TrimLeft(l.port, "0123456789") != "" {
		return location{}, errURL
	}
	l.port = strings.TrimLeft(l.port, "0")
	if l.path, err = canonicalPath(u.EscapedPath()); err != nil {
		return location{}, err
	}
	return l, nil
}

// canonicalHost returns a name in lower-case ASCII without its final dot, or an address.
func canonicalHost(host string) (string, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().WithZone("").String(), nil
	}
	host = strings.TrimSuffix(host, ".")
	name, err := idna.Lookup.ToASCII(host)
	if err != nil || name == "" {
		return "", errURL
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.TrimLeft(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", errURL // an address in a form that some resolvers accept: 127.1, 2130706433, 0x7f.1
	}
	return strings.ToLower(name), nil
}

// canonicalPath resolves escapes and dots. An escaped slash or an escaped escape is refused.
func canonicalPath(escaped string) (string, error) {
	lower := strings.ToLower(escaped)
	if strings.Contains(lower, "%2f") || strings.Contains(lower, "%5c") || strings.Contains(lower, "%25") ||
		strings.Contains(lower, "%00") || strings.Contains(escaped, ";") {
		return "", errURL
	}
	text, err := url.PathUnescape(escaped)
	if err != nil {
		return "", errURL
	}
	if text == "" {
		return "/", nil
	}
	clean := path.Clean(text)
	if strings.HasSuffix(text, "/") && clean != "/" {
		clean += "/"
	}
	return clean, nil
}

// MatchURL reports whether a URL matches a pattern. The pattern is a URL in which '*' in
// the host matches any labels, and in the path any text: https://*.example.com/* . Without
// a path, the pattern matches every path; without a port, the default port. The comparison
// is not about spelling: case of the host, a default port, a final dot, international
// names, escapes and dots in the path make no difference. A URL with a user name matches
// no pattern.
func MatchURL(pattern, raw string) bool {
	p, err := ParsePattern(pattern)
	if err != nil {
		return false
	}
	l, err := canonical(raw)
	return err == nil && p.matches(l)
}

// A Pattern is a pattern for URLs, see [MatchURL].
type Pattern struct{ scheme, host, port, path string }

// star stands for '*' in a host while the rest is made canonical: no host has this label.
const star = "junctor-any-label"

// ParsePattern parses a pattern.
func ParsePattern(text string) (Pattern, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	host, tail, hasPath := strings.Cut(rest, "/")
	if !ok || scheme == "" || strings.Contains(scheme, "*") || host == "" || strings.ContainsAny(text, "?#@\\ ") {
		return Pattern{}, errors.New(`a URL pattern is written as "https://*.example.com/*"`)
	}
	port := ""
	if h, p, err := net.SplitHostPort(host); err == nil {
		host, port = h, p
	}
	for label := range strings.SplitSeq(host, ".") {
		if strings.Contains(label, "*") && label != "*" {
			return Pattern{}, errors.New("in the host of a URL pattern, '*' stands for whole labels: *.example.com")
		}
	}
	probe := scheme + "://" + bracketed(strings.ReplaceAll(host, "*", star))
	if port != "" {
		probe += ":" + port
	}
	l, err := canonical(probe + "/")
	if err != nil {
		return Pattern{}, errors.New("the URL pattern has no valid host")
	}
	p := Pattern{scheme: l.scheme, host: strings.ReplaceAll(l.host, star, "*"), port: l.port, path: "*"}
	if hasPath && tail != "" {
		p.path = "/" + tail
	}
	return p, nil
}

// bracketed returns a host as a URL has it.
func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + strings.Trim(host, "[]") + "]"
	}
	return host
}

func (p Pattern) matches(l location) bool {
	return p.scheme == l.scheme && p.port == l.port && matchHost(p.host, l.host) && condition.Like(l.path, p.path)
}

// matchHost compares labels. '*' matches one or more labels at the beginning, and one label
// elsewhere.
func matchHost(pattern, host string) bool {
	if rest, ok := strings.CutPrefix(pattern, "*."); ok {
		before, found := strings.CutSuffix(host, "."+rest)
		return found && before != ""
	}
	if pattern == "*" {
		return true
	}
	want, have := strings.Split(pattern, "."), strings.Split(host, ".")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != "*" && want[i] != have[i] {
			return false
		}
	}
	return true
}
