//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/control"
)

// TestTenantsInStatus: the status of a server with share = "tenant" has the processes and the
// memory of each tenant, and a connection above the limit is refused with the name of its
// setting.
func TestTenantsInStatus(t *testing.T) {
	t.Parallel()
	s := &gatewaySite{reloadSite: newReloadSite(t),
		servers: "server \"each\" {\n  share = \"tenant\"\n  transport \"stdio\" {\n    command = [\"./demo\"]\n  }\n}\n"}
	tokens := ""
	for _, tenant := range []string{"one", "two", "three"} {
		tokens += fmt.Sprintf(
			"    auth \"static_token\" {\n      token   = %q\n      subject = \"eve\"\n      tenant  = %q\n    }\n",
			strings.Repeat(tenant, 12), tenant,
		)
	}
	s.configure(fmt.Sprintf(
		"    listen = %q\n%s  }\n  limits {\n    connections = 2\n    per_tenant {\n      connections = 0\n    }\n",
		freeAddress(t), tokens,
	))
	s.start("serve", "--http")
	for _, tenant := range []string{"one", "two"} {
		if _, text, err := s.client(strings.Repeat(tenant, 12)).call("each__add"); err != nil ||
			strings.Contains(text, `"error"`) {
			t.Fatalf("%s: %v, %s", tenant, err, text)
		}
	}
	out, errs, _ := s.junctor("status", "each", "--json")
	var all struct {
		Processes []struct{ Servers []control.Server }
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all.Processes) != 1 {
		t.Fatalf("%v: %s%s", err, out, errs)
	}
	for _, one := range all.Processes[0].Servers {
		if one.Server != "each" {
			continue
		}
		var sum uint64
		for i, use := range one.Tenants {
			if use.Tenant != []string{"one", "two"}[i] || use.Connections != 1 || len(use.PIDs) != 1 ||
				use.Memory == 0 || use.State != "ready" || use.Revision == "" {
				t.Errorf("%+v", use)
			}
			sum += use.Memory
		}
		if len(one.Tenants) != 2 || one.Memory != sum || one.Connections != 2 {
			t.Errorf("%+v", one)
		}
	}
	if text, errs, _ := s.junctor("--text", "status", "each"); !strings.Contains(text+errs,
		"tenant two: ready, 1 connection, pid ") {
		t.Error(text, errs)
	}
	if _, text, _ := s.client(strings.Repeat("three", 12)).call("each__add"); !strings.Contains(text,
		"2 connections are open") || !strings.Contains(text, "raise connections in limits") {
		t.Error(text)
	}
}
