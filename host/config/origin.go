package config

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// What a browser says about the page that asks, and about the name that led
// here, keeps a foreign page from using a gateway on this machine. Both are
// compared as text, so what no browser sends is refused here rather than never
// matched.

// defaultOrigins are pages of this machine.
var defaultOrigins = []string{"http://localhost", "http://127.0.0.1"}

// origins reads which pages may ask.
func (s blockReader) origins() []string {
	items := s.texts("origins")
	if items == nil {
		return slices.Clone(defaultOrigins)
	}
	list := []string{}
	for _, e := range items {
		if why, hint := misorigin(e.text); why != "" {
			s.wrong(e.at, hint, "an origin %s", why)
		}
		list = append(list, e.text)
	}
	return list
}

var schemeRule = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)

// misorigin says what is wrong with an origin, if anything is.
func misorigin(text string) (why, hint string) {
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

// hosts reads what the Host header may say.
func (s blockReader) hosts() []string {
	var list []string
	for _, e := range s.texts("hosts") {
		host, port := splitPort(e.text)
		switch {
		case strings.Contains(e.text, "*"):
			s.wrong(e.at, "list the names one by one", `a host must not contain "*": any name could be made to lead here`)
		case host == "" || !isBracketedHost(host) || port != "" && !isPort(port):
			s.wrong(e.at, `write a name or an address, such as "mcp.example.com" or "mcp.example.com:8443"`, "a host is a name or an address, perhaps with a port")
		default:
			list = append(list, strings.ToLower(e.text))
		}
	}
	return list
}

// splitPort divides what may end in a port. An address of IPv6 keeps its
// brackets. What cannot be divided comes back with an empty host.
func splitPort(text string) (host, port string) {
	if i := strings.LastIndexByte(text, ':'); i >= 0 && !strings.HasSuffix(text, "]") {
		if !portRule.MatchString(text[i+1:]) {
			return "", ""
		}
		return text[:i], text[i+1:]
	}
	return text, ""
}

// isBracketedHost is isHost where an address of IPv6 stands in brackets.
func isBracketedHost(text string) bool {
	inner, open := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !open && !closed {
		return isHost(text) && !strings.Contains(text, ":")
	}
	ip, err := netip.ParseAddr(inner)
	return open && closed && err == nil && ip.Is6() && ip.Zone() == ""
}
