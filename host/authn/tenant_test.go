package authn

import (
	"strings"
	"testing"
)

// TestTenantNames checks names that are hostile in paths, in URLs, in keys and for
// people. None is changed to fit.
func TestTenantNames(t *testing.T) {
	for _, name := range []string{"a", "acme", "acme-1", "a_b", "0", strings.Repeat("a", 64),
		"e8b3c2f0-1234-4cde-8f00-0123456789ab"} {
		if got, err := tenantOf(name); got != name || err != nil {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	hostile := []string{
		"", ".", "..", "../acme", "acme/..", "acme/other", `acme\other`, "/acme", "acme/", "a.b", "acme.", "~", "-acme",
		"acme-", "_acme", "acme_", "Acme", "ACME", "acme ", " acme", "acme\n", "acme\x00", "acme\x00other", "%2e%2e",
		"%2Facme", "acme%00", "ａcme", "acmé", "acme\u200b", "acme\u202e", "acme:other", "acme;other", "acme,other", "*",
		"acme*", "con|x", strings.Repeat("a", 65), "аcme", "acme\xff", "${acme}", "'acme'", LocalTenant,
	}
	if len(hostile) < 30 {
		t.Fatal("too few names")
	}
	for _, name := range hostile {
		if got, err := tenantOf(name); err == nil || got != "" {
			t.Errorf("%q is accepted", name)
		}
	}
}
