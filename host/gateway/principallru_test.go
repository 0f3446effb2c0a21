package gateway

import (
	"fmt"
	"testing"

	"github.com/junctor-mcp/junctor/host/authn"
)

// TestTenantForgetsItsOwnPrincipals adds many principals of one tenant. Another tenant
// forgets none.
func TestTenantForgetsItsOwnPrincipals(t *testing.T) {
	key := func(tenant string, n int) string {
		return authn.Principal{Tenant: tenant, Subject: fmt.Sprint(n), Method: "jwt"}.Key()
	}
	l := newPrincipalLRU[int](10, 2)
	for n := range 4 {
		l.values(key("quiet", n)).Add("a", n)
	}
	for n := range 100 {
		l.values(key("busy", n)).Add("a", n)
	}
	for n := range 4 {
		if v, ok := l.find(key("quiet", n), "a"); !ok || v != n {
			t.Errorf("principal %d of the other tenant: %d, %t", n, v, ok)
		}
	}
	for n, want := range map[int]bool{93: false, 94: true, 99: true} {
		if _, ok := l.find(key("busy", n), "a"); ok != want {
			t.Errorf("principal %d of the tenant: %t", n, ok)
		}
	}
	for tenant := range 20 {
		l.values(key(fmt.Sprint(tenant), 0))
	}
	if l.principals.Len() != 10 || len(l.tenants) != 10 {
		t.Errorf("%d principals of %d tenants", l.principals.Len(), len(l.tenants))
	}
}
