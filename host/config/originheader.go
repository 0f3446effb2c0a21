package config

import (
	"net/netip"
	"strings"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// The Origin and Host headers of browsers keep web pages of other sites from using
// a gateway on this machine. The gateway and the console compare them as text, in package
// httpserver/origin. The mistakes that would make a value match nothing are errors here; what is
// valid is part of the configuration language. The gateway's own origin is allowed
// anyway, and no other one by default; see docs/decisions/0025-no-pages-by-default.md.

var schemeRule = lazyregexp.New(`^[a-z][a-z0-9+.-]*$`)

// originProblem returns what is wrong with an origin, or "" for a valid one. It is pure.
func originProblem(text string) (why, hint string) {
	const form = `write scheme://host or scheme://host:port, such as "https://app.example.com"`
	scheme, rest, found := strings.Cut(text, "://")
	switch {
	case strings.Contains(text, "*"):
		return `must not contain "*": every page could use the gateway`, "list the origins one by one"
	case !found || !schemeRule.MatchString(strings.ToLower(scheme)) || strings.ContainsAny(rest, "/?#@"):
		return "is a scheme, a host and perhaps a port, and nothing else", form
	case text != strings.ToLower(text):
		return "is written in lower case, as browsers send it", ""
	}
	host, port := splitPort(rest)
	switch {
	case host == "" || !isBracketedHost(host) || port != "" && !isPort(port):
		return "is a scheme, a host and perhaps a port, and nothing else", form
	case scheme == "http" && port == "80" || scheme == "https" && port == "443":
		return "does not name the port that its scheme has anyway: browsers leave it out", "remove :" + port
	}
	return "", ""
}

// checkHosts reports what cannot be in a Host header, and returns the others in lower case.
func checkHosts(r language.Reader, name string, hosts []string) (list []string) {
	for i, text := range hosts {
		at := r.ItemAt(name, i)
		host, port := splitPort(text)
		switch {
		case strings.Contains(text, "*"):
			r.ErrorAt(at, "list the names one by one",
				`a host must not contain "*": any name could be made to lead here`)
		case host == "" || !isBracketedHost(host) || port != "" && !isPort(port):
			r.ErrorAt(at, `write a name or an address, such as "mcp.example.com" or "mcp.example.com:8443"`,
				"a host is a name or an address, perhaps with a port")
		default:
			list = append(list, strings.ToLower(text))
		}
	}
	return list
}

// splitPort splits a host with an optional port. An IPv6 address keeps its
// brackets. For a malformed port the host is empty.
func splitPort(text string) (host, port string) {
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.HasSuffix(text, "]") {
		if !portRule.MatchString(text[i+1:]) {
			return "", ""
		}
		return text[:i], text[i+1:]
	}
	return text, ""
}

// isBracketedHost is isHost for hosts with IPv6 addresses in brackets.
func isBracketedHost(text string) bool {
	inner, open := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !open && !closed {
		return isHost(text) && !strings.Contains(text, ":")
	}
	ip, err := netip.ParseAddr(inner)
	return open && closed && err == nil && ip.Is6() && ip.Zone() == ""
}
