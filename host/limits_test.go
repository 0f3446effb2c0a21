package host

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/config/inbound"
	"github.com/junctor-mcp/junctor/host/limit"
)

// TestClientele checks that whether there may be several clients goes by who they are, and
// not by how many tokens there are.
func TestClientele(t *testing.T) {
	token := func(tenant, subject string) inbound.Authentication {
		return inbound.Authentication{Kind: "static_token",
			Settings: inbound.StaticToken{Tenant: tenant, Subject: subject}}
	}
	for what, c := range map[string]struct {
		http  config.HTTP
		want  clientKinds
		stdio bool
	}{
		"everybody": {config.HTTP{}, clientKinds{}, false},
		"one": {config.HTTP{Auth: []inbound.Authentication{token("a", "x")}},
			clientKinds{}, false},
		"one with two tokens": {config.HTTP{Auth: []inbound.Authentication{token("a", "x"), token("a", "x")}},
			clientKinds{}, false},
		"two": {config.HTTP{Auth: []inbound.Authentication{token("a", "x"), token("a", "y")}},
			clientKinds{subjects: true}, false},
		"of two tenants": {config.HTTP{Auth: []inbound.Authentication{token("a", "x"), token("b", "x")}},
			clientKinds{tenants: true}, false},
		"TLS": {config.HTTP{TLS: &config.TLS{}}, clientKinds{}, false},
		"certificates": {config.HTTP{TLS: &config.TLS{ClientCA: "ca"}},
			clientKinds{subjects: true}, false},
		"a token, certificates": {
			config.HTTP{TLS: &config.TLS{ClientCA: "ca"}, Auth: []inbound.Authentication{token("a", "x")}},
			clientKinds{},
			false,
		},
		"an identity provider": {config.HTTP{Auth: []inbound.Authentication{{Settings: openAuth{}}}},
			clientKinds{subjects: true}, false},
		"everybody, and stdio": {config.HTTP{}, clientKinds{}, true},
		"one, and stdio": {config.HTTP{Auth: []inbound.Authentication{token("local", "x")}},
			clientKinds{subjects: true}, true},
		"one of another tenant, and stdio": {config.HTTP{Auth: []inbound.Authentication{token("a", "x")}},
			clientKinds{tenants: true}, true},
	} {
		if got := clientKindsOf(c.http, c.stdio); got != c.want {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// An openAuth authenticates any number of principals.
type openAuth struct{ inbound.ClientAuth }

func (openAuth) Clients() inbound.Clients { return inbound.Clients{OpenSubjects: true} }

// TestDefaultShares checks the shares of 100 units.
func TestDefaultShares(t *testing.T) {
	ten, none := 10, 0
	for what, c := range map[string]struct {
		clients           clientKinds
		tenant, principal *int
		least             int
		want              limit.Shares
	}{
		"one client":            {},
		"several of one tenant": {clients: clientKinds{subjects: true}, want: limit.Shares{Principal: 50}},
		"one each of tenants":   {clients: clientKinds{tenants: true}, want: limit.Shares{Tenant: 50}},
		"several of tenants": {clients: clientKinds{tenants: true, subjects: true},
			want: limit.Shares{Tenant: 50, Principal: 25}},
		"at least": {clients: clientKinds{tenants: true, subjects: true}, least: 40,
			want: limit.Shares{Tenant: 50, Principal: 40}},
		"no more than a tenant": {clients: clientKinds{tenants: true, subjects: true}, least: 70,
			want: limit.Shares{Tenant: 50, Principal: 50}},
		"configured": {clients: clientKinds{tenants: true, subjects: true}, tenant: &ten, principal: &none,
			want: limit.Shares{Tenant: 10}},
		"configured for one": {principal: &ten, want: limit.Shares{Principal: 10}},
		"configured in part": {clients: clientKinds{tenants: true, subjects: true}, principal: &ten,
			want: limit.Shares{Tenant: 50, Principal: 10}},
	} {
		if got := c.clients.shares(100, c.least, c.tenant, c.principal); got != c.want {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// TestDocumentedShares compares docs/gateway.md with the limit of connections.
func TestDocumentedShares(t *testing.T) {
	page, err := os.ReadFile("../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("the connections to one server that not all clients share, %d |",
		limit.DefaultConnections); !strings.Contains(string(page), want) {
		t.Errorf("docs/gateway.md does not contain %q", want)
	}
}

// TestApprovalShare: one of several tenants gets half of the calls that wait for an approval.
func TestApprovalShare(t *testing.T) {
	token := func(tenant, subject string) inbound.Authentication {
		return inbound.Authentication{Kind: "static_token",
			Settings: inbound.StaticToken{Tenant: tenant, Subject: subject}}
	}
	for what, c := range map[string]struct {
		auth []inbound.Authentication
		want int64
	}{
		"everybody":              {nil, 0},
		"several of one tenant":  {[]inbound.Authentication{token("a", "x"), token("a", "y")}, 0},
		"several tenants":        {[]inbound.Authentication{token("a", "x"), token("b", "x")}, 500},
		"several of two tenants": {[]inbound.Authentication{token("a", "x"), token("a", "y"), token("b", "x")}, 500},
	} {
		if got := approvalShare(config.HTTP{Auth: c.auth}, false); got != c.want {
			t.Errorf("%s: %d", what, got)
		}
	}
}
