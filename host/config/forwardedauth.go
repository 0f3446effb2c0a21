package config

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/net/http/httpguts"

	"github.com/junctor-mcp/junctor/host/authn"
)

// A ForwardedUser authenticates clients by the headers of a proxy.
type ForwardedUser struct {
	From   []netip.Prefix
	Unix   bool   `json:",omitempty"` // also clients of a unix socket
	User   string // header
	Groups string `json:",omitempty"` // header
	Tenant string `json:",omitempty"` // header
	Names  authn.Names
}

// Authenticator implements ClientAuth.
func (f ForwardedUser) Authenticator(AuthBuild) (authn.Authenticator, error) {
	return authn.Forwarded(f), nil
}

// Clients implements ClientAuth.
func (f ForwardedUser) Clients() AuthClients {
	c := clientsOf(f.Names)
	c.OpenTenants = f.Tenant != ""
	return c
}

// SecretText implements ClientAuth.
func (ForwardedUser) SecretText() string { return "" }

var forwardedForm = form{entries: append([]entry{
	{name: "from", values: textLists("a list of addresses and prefixes, or `\"unix\"`"), required: true,
		doc: "The proxies, or `unix` for the clients of a unix socket. Headers of other peers are ignored."},
	{name: "user", values: texts("a header"), required: true, doc: "The header with the subject, such as `X-Forwarded-User`, or with the name in a certificate."},
	{name: "groups", values: texts("a header"), unset: "none", doc: "The header with groups, separated by commas."},
	{name: "tenant_header", values: texts("a header"), unset: "none", doc: "The header with the tenant, in place of `tenant` and `tenants`."},
}, namesEntries...)}

// fromSocket stands for the clients of a unix socket in "from".
const fromSocket = "unix"

// forwarded reads an auth "forwarded" block.
func (r blockReader) forwarded() ClientAuth {
	f := ForwardedUser{User: r.headerName("user"), Groups: r.headerName("groups"), Tenant: r.headerName("tenant_header")}
	if f.User == "" && !r.isSet("user") {
		r.reportMissing("user", r.head)
	}
	f.From, f.Unix = r.proxiesFrom()
	f.Names = r.admitNames()
	if f.Tenant != "" && (r.isSet("tenant") || r.isSet("tenants")) {
		r.errorAt(r.body.Attributes["tenant_header"].NameRange, "remove one of them", `"tenant_header" excludes "tenant" and "tenants"`)
	}
	return f
}

// proxiesFrom reads the addresses of proxies whose headers name users.
func (r blockReader) proxiesFrom() (list []netip.Prefix, unix bool) {
	items := r.publicStrings("from")
	if len(items) == 0 {
		if !r.isSet("from") {
			r.reportMissing("from", r.head)
		} else if items != nil {
			r.errorAt(r.body.Attributes["from"].Expr.Range(), "list the addresses of the proxies", `"from" is empty, so no client is admitted`)
		}
		return nil, false
	}
	for _, e := range items {
		if e.text == fromSocket {
			unix = true
			continue
		}
		p, ok := r.proxy("from", e)
		if !ok {
			continue
		}
		if p.Addr().IsLoopback() {
			r.warnAt(e.at, "make sure that only the proxy runs on this machine, or let it connect over a unix socket", "every program on this machine can claim to be any user")
		}
		list = append(list, p)
	}
	return list, unix
}

// proxies reads the addresses of proxies whose X-Forwarded-For counts.
func (r blockReader) proxies() (list []netip.Prefix) {
	for _, e := range r.publicStrings("proxies") {
		if p, ok := r.proxy("proxies", e); ok {
			list = append(list, p)
		}
	}
	return list
}

// proxy reads an address or a prefix in a list.
func (r blockReader) proxy(attribute string, e item) (netip.Prefix, bool) {
	p, ok := prefixOf(e.text)
	switch {
	case !ok && attribute == "from":
		r.errorAt(e.at, "", `"from" must list addresses such as "10.0.0.5", prefixes such as "10.0.0.0/28", and %q`, fromSocket)
	case !ok:
		r.errorAt(e.at, "", `%q must list addresses such as "10.0.0.5" and prefixes such as "10.0.0.0/28"`, attribute)
	case p.Bits() == 0:
		r.errorAt(e.at, "list the addresses of the proxies", "every client could send the headers: %q matches all addresses", e.text)
	}
	return p, ok && p.Bits() > 0
}

// prefixOf parses an address or a prefix.
func prefixOf(text string) (netip.Prefix, bool) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	p, err := netip.ParsePrefix(text)
	return p, err == nil && p == p.Masked() && !p.Addr().Is4In6()
}

// otherHeaders are headers that say something else, or that the gateway reads itself.
var otherHeaders = []string{"Authorization", "Mcp-Auth-Token", "Cookie", "Host", "Origin", "Content-Type", "Content-Length", "Accept"}

// headerName reads the name of a header, and returns its canonical form.
func (r blockReader) headerName(attribute string) string {
	text, a, set := r.publicString(attribute)
	if !set {
		return ""
	}
	name := http.CanonicalHeaderKey(text)
	if !httpguts.ValidHeaderFieldName(text) || len(text) > 100 {
		r.errorAt(a.Expr.Range(), "", "%q must be the name of a header, such as \"X-Forwarded-User\"", attribute)
		return ""
	}
	if slices.Contains(otherHeaders, name) || strings.HasPrefix(name, "Mcp-") {
		r.errorAt(a.Expr.Range(), "", "%q cannot be the header %s, which has another meaning", attribute, name)
	}
	r.checkTwice(attribute, a.Expr.Range(), name)
	return name
}

// checkTwice reports two attributes with one header.
func (r blockReader) checkTwice(attribute string, at hcl.Range, name string) {
	for _, other := range []string{"user", "groups", "tenant_header"} {
		if other == attribute {
			return
		}
		if text, _, set := r.publicString(other); set && http.CanonicalHeaderKey(text) == name {
			r.errorAt(at, "", "%q and %q are the same header", other, attribute)
		}
	}
}
