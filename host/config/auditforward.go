package config

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/forward"
)

// forwardEntries are the attributes of the audit block about copies.
var forwardEntries = []language.Entry{
	{Name: "forward", Values: language.TextLists("a list of targets"), Unset: "none", Private: true, Doc: "Where a copy of each row goes: `\"unix:///dev/log\"`, `\"udp://HOST:PORT\"`, `\"tcp://HOST:PORT\"` or `\"tls://HOST:PORT\"` for syslog, `\"https://HOST/PATH\"`, or `\"stderr\"`. It may come from `env()` or `file()`; only schemes and hosts are printed."},
	{Name: "forward_headers", Values: language.TextMaps("a map of texts"), Unset: "none", Private: true, Doc: "Headers of the requests to an `https` target, such as `Authorization`, with `env()` or `file()`. The targets then have one host."},
	{Name: "forward_ca", Values: language.Texts("a path"), Unset: "those of the system", Doc: "Certificates of authorities (PEM) for `tls` and `https` targets, in place of those of the system."},
}

// forwardTargets reads the targets of copies.
func forwardTargets(r blockReader, output string) (targets []string) {
	v, a, set := r.Value("forward", cty.List(cty.String))
	if !set {
		return nil
	}
	v, marks := v.UnmarkDeep()
	for i, e := range v.AsValueSlice() {
		at := language.Locate(a.Expr, []language.Step{{Index: i}})
		if e.IsNull() {
			r.ErrorAt(at, "", "forward[%d] is null", i)
			continue
		}
		text := e.AsString()
		name := text
		if len(marks) > 0 {
			name = forward.Name(text)
			if name != text {
				r.secrets = append(r.secrets, text)
			}
		}
		switch err := forward.Check(text); {
		case err != nil:
			r.ErrorAt(at, `write a target such as "tls://logs.example.com:6514"`, "%q is not a target: %v", name, err)
		case slices.Contains(targets, text):
			r.ErrorAt(at, "", "%q appears twice", name)
		case text == output:
			r.ErrorAt(at, "remove it", "%q is the output already", name)
		default:
			targets = append(targets, text)
		}
	}
	return targets
}

// ownForwardHeaders are the headers that Junctor sets itself.
var ownForwardHeaders = []string{"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection", "User-Agent"}

// forwardHeaders reads the headers for the HTTPS target. Their values are secrets.
func forwardHeaders(r blockReader, targets []string) map[string]string {
	v, a, set := r.Value("forward_headers", cty.Map(cty.String))
	if !set {
		return nil
	}
	v, marks := v.UnmarkDeep()
	headers := map[string]string{}
	for name, e := range v.AsValueMap() {
		at := language.Locate(a.Expr, []language.Step{{Name: name}})
		canonical := http.CanonicalHeaderKey(name)
		value := ""
		if !e.IsNull() {
			value = e.AsString()
		}
		switch {
		case name == "" || strings.ContainsFunc(name, func(c rune) bool { return notInToken(c) || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) }):
			r.ErrorAt(at, "", "%q is not the name of a header", name)
		case slices.Contains(ownForwardHeaders, canonical):
			r.ErrorAt(at, "remove it", "Junctor sets the header %q itself", canonical)
		case value == "" || value != strings.TrimSpace(value) || len(value) > maxToken || strings.ContainsFunc(value, func(c rune) bool { return c != ' ' && notInToken(c) }):
			r.ErrorAt(at, "", "the value of the header %q must be 1 to %d visible ASCII characters, without spaces at the ends", canonical, maxToken)
		default:
			headers[canonical] = value
			r.secrets = append(r.secrets, headerSecrets(value)...)
		}
	}
	if len(marks) == 0 && len(headers) > 0 {
		r.WarnAt(a.Expr.Range(), `keep it in the environment, and write "Bearer ${env("JUNCTOR_AUDIT_TOKEN")}"`, "the values of forward_headers are written in the configuration file")
	}
	checkForwardHosts(r, a, targets)
	return headers
}

// headerSecrets returns a value and, without the name of the scheme before it, its credential.
func headerSecrets(value string) []string {
	if _, credential, both := strings.Cut(value, " "); both {
		return []string{value, credential}
	}
	return []string{value}
}

// checkForwardHosts reports headers for no host, or for several: a credential is for one.
func checkForwardHosts(r blockReader, a *hclsyntax.Attribute, targets []string) {
	var hosts []string
	for _, one := range targets {
		if u, err := url.Parse(one); err == nil && (u.Scheme == "https" || u.Scheme == "http") && !slices.Contains(hosts, u.Host) {
			hosts = append(hosts, u.Host)
		}
	}
	switch {
	case len(hosts) == 0:
		r.ErrorAt(a.Expr.Range(), "add an https target to forward, or remove it", `"forward_headers" is for an https target, and "forward" has none`)
	case len(hosts) > 1:
		r.ErrorAt(a.Expr.Range(), "leave one of the hosts out of forward", `"forward_headers" would be sent to several hosts: %s`, strings.Join(hosts, ", "))
	}
}
