package config

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/forward"
)

// checkForward reports wrong targets of copies. This file checks the forward attributes of the audit
// block; package host/forward sends the copies.
func (a *Audit) checkForward(r language.Reader) {
	targets := a.Forward
	a.Forward = nil
	for i, text := range targets {
		at, name := r.ItemAt("forward", i), text
		if r.IsMarked("forward") {
			name = forward.Name(text)
		}
		switch err := forward.Check(text); {
		case err != nil:
			r.ErrorAt(at, `write a target such as "tls://logs.example.com:6514"`, "%q is not a target: %v", name, err)
		case slices.Contains(a.Forward, text):
			r.ErrorAt(at, "", "%q appears twice", name)
		case text == a.Output:
			r.ErrorAt(at, "remove it", "%q is the output already", name)
		default:
			a.Forward = append(a.Forward, text)
		}
	}
}

// ownForwardHeaders are the headers that Junctor sets itself.
var ownForwardHeaders = []string{"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection",
	"User-Agent"}

// checkForwardHeaders checks the headers for the HTTPS target. Their values are secrets.
// Audit.Validate calls it after checkForward.
func (a *Audit) checkForwardHeaders(r language.Reader) {
	all := a.ForwardHeaders
	a.ForwardHeaders = map[string]string{}
	for name, value := range all {
		at := r.MemberAt("forward_headers", name)
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case name == "" || strings.ContainsFunc(name, notInHeaderName):
			r.ErrorAt(at, "", "%q is not the name of a header", name)
		case slices.Contains(ownForwardHeaders, canonical):
			r.ErrorAt(at, "remove it", "Junctor sets the header %q itself", canonical)
		case !isHeaderValue(value):
			r.ErrorAt(at, "",
				"the value of the header %q must be 1 to %d visible ASCII characters, without spaces at the ends",
				canonical, inbound.MaxToken)
		default:
			a.ForwardHeaders[canonical] = value
			for _, secret := range headerSecrets(value) {
				r.Host.Conceal(secret)
			}
		}
	}
	at := r.ValueAt("forward_headers", r.Head)
	if !r.IsMarked("forward_headers") && len(a.ForwardHeaders) > 0 {
		r.WarnAt(at, `keep it in the environment, and write "Bearer ${env("JUNCTOR_AUDIT_TOKEN")}"`,
			"the values of forward_headers are written in the configuration file")
	}
	checkForwardHosts(r, at, a.Forward)
}

// notInHeaderName reports whether the name of a header must not contain a rune.
func notInHeaderName(c rune) bool {
	return inbound.NotInToken(c) || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
}

// isHeaderValue reports whether a text can be the value of a header.
func isHeaderValue(text string) bool {
	return text != "" && text == strings.TrimSpace(text) && len(text) <= inbound.MaxToken &&
		!strings.ContainsFunc(text, func(c rune) bool { return c != ' ' && inbound.NotInToken(c) })
}

// headerSecrets returns a value and, without the name of the scheme before it, its credential.
func headerSecrets(value string) []string {
	if _, credential, both := strings.Cut(value, " "); both {
		return []string{value, credential}
	}
	return []string{value}
}

// checkForwardHosts reports headers for no host, or for several: a credential is for one.
func checkForwardHosts(r language.Reader, at hcl.Range, targets []string) {
	var hosts []string
	for _, one := range targets {
		if u, err := url.Parse(one); err == nil && (u.Scheme == "https" || u.Scheme == "http") &&
			!slices.Contains(hosts, u.Host) {
			hosts = append(hosts, u.Host)
		}
	}
	switch {
	case len(hosts) == 0:
		r.ErrorAt(at, "add an https target to forward, or remove it",
			`"forward_headers" is for an https target, and "forward" has none`)
	case len(hosts) > 1:
		r.ErrorAt(at, "leave one of the hosts out of forward",
			`"forward_headers" would be sent to several hosts: %s`, strings.Join(hosts, ", "))
	}
}
