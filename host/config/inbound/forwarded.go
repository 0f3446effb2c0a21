package inbound

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/net/http/httpguts"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/config/language"
)

// A ForwardedUser authenticates clients by the headers of a proxy. It does not change after the
// load.
type ForwardedUser struct {
	From   []netip.Prefix
	Unix   bool   `json:",omitempty"` // also clients of a unix socket
	User   string // header
	Groups string `json:",omitempty"` // header
	Tenant string `json:",omitempty"` // header
	Names  authn.Names
}

// Authenticator implements ClientAuth.
func (f ForwardedUser) Authenticator(Build) (authn.Authenticator, error) {
	return authn.Forwarded(f), nil
}

// Vouch implements ClientAuth.
func (f ForwardedUser) Vouch() *Vouch {
	return &Vouch{Issuer: "forwarded", Names: true, Subjects: f.Names.Allowed, Groups: f.Groups != "",
		Given: f.Names.Roles}
}

// Clients implements ClientAuth.
func (f ForwardedUser) Clients() Clients {
	c := clientsOf(f.Names)
	c.OpenTenants = f.Tenant != ""
	return c
}

// SecretText implements ClientAuth.
func (ForwardedUser) SecretText() string { return "" }

// A forwardedBlock is an auth "forwarded" block.
type forwardedBlock struct {
	From   proxies     `hcl:"from" doc:"The proxies, or 'unix' for the clients of a unix socket. Headers of other peers are ignored."`
	User   proxyHeader `hcl:"user" accepts:"a header" doc:"The header with the subject, such as 'X-Forwarded-User', or with the name in a certificate."`
	Groups proxyHeader `hcl:"groups" accepts:"a header" unset:"none" doc:"The header with groups, separated by commas."`
	Tenant proxyHeader `hcl:"tenant_header" accepts:"a header" unset:"none" doc:"The header with the tenant, in place of 'tenant' and 'tenants'."`
	admittedNames
}

// Validate implements [language.Validator].
func (b *forwardedBlock) Validate(r language.Reader) {
	b.admittedNames.Validate(r)
	if b.Tenant != "" && (r.IsSet("tenant") || r.IsSet("tenants")) {
		r.ErrorAt(r.NameAt("tenant_header"), "remove one of them", `"tenant_header" excludes "tenant" and "tenants"`)
	}
}

// fromSocket stands for the clients of a unix socket in "from".
const fromSocket = "unix"

// readForwardedAuth reads an auth "forwarded" block.
func readForwardedAuth(r language.Reader, used RoleUse) ClientAuth {
	var b forwardedBlock
	language.Decode(r, &b)
	return ForwardedUser{
		From:   b.From.addresses,
		Unix:   b.From.unix,
		User:   string(b.User),
		Groups: string(b.Groups),
		Tenant: string(b.Tenant),
		Names:  used.admitNames(r, b.admittedNames),
	}
}

// proxies are the proxies whose headers name users.
type proxies struct {
	addresses []netip.Prefix
	unix      bool // the clients of a unix socket
}

// Values implements [language.Valued].
func (*proxies) Values() language.Values {
	return language.TextLists("a list of addresses and prefixes, or `\"unix\"`")
}

// ReadSetting implements [language.Setting].
func (p *proxies) ReadSetting(r language.Reader, name string) {
	items := r.Texts(name)
	if items != nil && len(items) == 0 {
		r.ErrorAt(r.ValueAt(name, r.Head), "list the addresses of the proxies",
			"%q is empty, so no client is admitted", name)
	}
	for _, e := range items {
		if e.Text == fromSocket {
			p.unix = true
			continue
		}
		one, ok := proxy(r, name, e)
		if !ok {
			continue
		}
		if one.Addr().IsLoopback() {
			r.WarnAt(e.At, "make sure that only the proxy runs on this machine, or let it connect over a unix socket",
				"every program on this machine can claim to be any user")
		}
		p.addresses = append(p.addresses, one)
	}
}

// Prefixes are addresses of proxies.
type Prefixes []netip.Prefix

// ReadSetting implements [language.Setting].
func (l *Prefixes) ReadSetting(r language.Reader, name string) {
	for _, e := range r.Texts(name) {
		if p, ok := proxy(r, name, e); ok {
			*l = append(*l, p)
		}
	}
}

// proxy reads an address or a prefix in a list.
func proxy(r language.Reader, attribute string, e language.Item) (netip.Prefix, bool) {
	p, ok := prefixOf(e.Text)
	switch {
	case !ok && attribute == "from":
		r.ErrorAt(e.At, "",
			`"from" must list addresses such as "10.0.0.5", prefixes such as "10.0.0.0/28", and %q`, fromSocket)
	case !ok:
		r.ErrorAt(e.At, "", `%q must list addresses such as "10.0.0.5" and prefixes such as "10.0.0.0/28"`, attribute)
	case p.Bits() == 0:
		r.ErrorAt(e.At, "list the addresses of the proxies",
			"every client could send the headers: %q matches all addresses", e.Text)
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
var otherHeaders = []string{"Authorization", "Mcp-Auth-Token", "Cookie", "Host", "Origin", "Content-Type",
	"Content-Length", "Accept"}

// A proxyHeader is the canonical name of a header.
type proxyHeader string

// ReadSetting implements [language.Setting].
func (h *proxyHeader) ReadSetting(r language.Reader, attribute string) {
	text, a, set := r.Text(attribute)
	if !set {
		return
	}
	name := http.CanonicalHeaderKey(text)
	if !httpguts.ValidHeaderFieldName(text) || len(text) > 100 {
		r.ErrorAt(a.Expr.Range(), "", "%q must be the name of a header, such as \"X-Forwarded-User\"", attribute)
		return
	}
	if slices.Contains(otherHeaders, name) || strings.HasPrefix(name, "Mcp-") {
		r.ErrorAt(a.Expr.Range(), "", "%q cannot be the header %s, which has another meaning", attribute, name)
	}
	checkTwice(r, attribute, a.Expr.Range(), name)
	*h = proxyHeader(name)
}

// checkTwice reports two attributes with one header.
func checkTwice(r language.Reader, attribute string, at hcl.Range, name string) {
	for _, other := range []string{"user", "groups", "tenant_header"} {
		if other == attribute {
			return
		}
		if text, _, set := r.Text(other); set && http.CanonicalHeaderKey(text) == name {
			r.ErrorAt(at, "", "%q and %q are the same header", other, attribute)
		}
	}
}
