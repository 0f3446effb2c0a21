package operate

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
)

// TestSupportBundleNamesNoTenant: the tenants of a server are in a bundle without their names and
// errors, and the status that they come from keeps both.
func TestSupportBundleNamesNoTenant(t *testing.T) {
	all := []control.TenantUse{{Tenant: "acme", Connections: 2, State: "failed",
		Error: &fault.Document{Message: "acme is gone"}}}
	got := namelessTenants(all)
	if len(got) != 1 || got[0].Tenant != "…" || got[0].Error != nil || got[0].Connections != 2 ||
		got[0].State != "failed" {
		t.Errorf("%+v", got)
	}
	if all[0].Tenant != "acme" || all[0].Error == nil || namelessTenants(nil) != nil {
		t.Errorf("%+v", all)
	}
}
