//go:build unix

package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
)

// audited writes an audit block into the configuration and loads it.
func (a *reloadedApp) audited(t *testing.T, block string) error {
	t.Helper()
	a.write(t, 0, false)
	text, err := os.ReadFile(a.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.path, append(text, block...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, diags, err := a.Reload(t.Context(), nil, "a test")
	if err == nil {
		err = diags.Err()
	}
	return err
}

// events returns the rows of a file as KIND OUTCOME.
func events(t *testing.T, path string) (all []string, rows []audit.Row) {
	t.Helper()
	r, err := audit.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Each(t.Context(), audit.Filter{}, false, func(row audit.Row) bool {
		all, rows = append(all, strings.TrimSpace(string(row.Kind)+" "+string(row.Outcome))), append(rows, row)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return all, rows
}

// TestAuditRecordsOtherEvents reloads, starts and kills a plugin, and approves and denies.
func TestAuditRecordsOtherEvents(t *testing.T) {
	a := loadApp(t)
	defer a.Stop()
	dir := filepath.Dir(a.path)
	if err := a.audited(t, "audit {\n  sync = \"full\"\n}\n"); err != nil {
		t.Fatal(err)
	}
	if err := a.OpenAudit(true); err != nil {
		t.Fatal(err)
	}
	a.connect(t)
	processes := a.Supervisor.Status()
	if len(processes) == 0 {
		t.Fatal("no plugin runs")
	}
	process, err := os.FindProcess(processes[0].PID)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	carol := approval.Person{Name: "carol", Operator: true}
	for i, approve := range []bool{true, false} {
		c := &approval.Call{
			Principal: authn.Principal{Subject: "alice", Tenant: "one"},
			Item:      policy.Item{Server: "other", Kind: policy.Tool, Name: "add"},
			Arguments: fmt.Appendf(nil, `{"a":%d}`, i),
			Terms:     policy.Approval{Valid: time.Minute, Covers: policy.CoversCall}, Rule: "confirm at f.hcl:1:1",
		}
		if err := a.process.approvals.Confirm(t.Context(), c); !fault.Is(err, fault.ApprovalRequired) {
			t.Fatal(err)
		}
		if _, err := a.Approvals().Answer(a.Approvals().Calls(carol, true)[0].ID,
			approval.Answer{Person: carol, Approve: approve}); err != nil {
			t.Fatal(err)
		}
	}
	a.write(t, 0, true)
	if _, _, err := a.Reload(t.Context(), nil, "a test"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "data", "audit.db")
	var got []string
	var rows []audit.Row
	deadline := time.Now().Add(20 * time.Second)
	for _, want := range []string{"reload ok", "plugin_start ok", "plugin_crash error", "approval ok",
		"approval approval_denied", "reload error"} {
		for got, rows = events(t, path); !slices.Contains(got, want); got, rows = events(t, path) {
			if time.Now().After(deadline) {
				t.Fatalf("no %q in %q", want, got)
			}
			<-time.After(20 * time.Millisecond)
		}
	}
	for _, r := range rows {
		switch {
		case r.Kind == audit.Approval && (r.By != "carol" || r.Subject != "alice" || r.Item != "add" || r.Rule == "" ||
			r.ArgumentsDigest == "" || r.Arguments != nil),
			r.Kind == audit.Reload && r.Outcome == audit.OK && !strings.HasPrefix(r.Detail, "generation "),
			r.Kind == audit.PluginCrash && (r.Plugin != "stdio" || r.Code == "" || r.Message == ""),
			r.Kind == audit.Reload && r.Outcome == audit.Failed && r.Code != "config.invalid":
			t.Errorf("%+v", r)
		}
	}
}

// TestReloadChangesAudit moves the log, refuses a block that cannot be used, and ends it.
func TestReloadChangesAudit(t *testing.T) {
	a := loadApp(t)
	defer a.Stop()
	dir := filepath.Dir(a.path)
	block := func(file string) string { return fmt.Sprintf("audit {\n  file = %q\n  sync = \"full\"\n}\n", file) }
	if err := a.audited(t, block("logs/one.db")); err != nil {
		t.Fatal(err)
	}
	if err := a.OpenAudit(true); err != nil {
		t.Fatal(err)
	}
	if err := a.audited(t, block("logs/two.db")); err != nil {
		t.Fatal(err)
	}
	generation := a.current.Load().number
	for _, bad := range []string{block("plugins/three.db"), "audit {\n  output = \"stdout\"\n}\n", block("logs")} {
		if err := a.audited(t, bad); err == nil || a.current.Load().number != generation {
			t.Errorf("%s was accepted: %v", bad, err)
		}
	}
	if err := a.audited(t, ""); err != nil {
		t.Fatal(err)
	}
	if recording, _ := a.process.audit.Begin(); recording {
		t.Error("the block is gone, and requests are recorded")
	}
	for file, want := range map[string]int{"one.db": 1, "two.db": 4} {
		if got, _ := events(t, filepath.Join(dir, "logs", file)); len(got) < want {
			t.Errorf("%s has %q", file, got)
		}
	}
}
