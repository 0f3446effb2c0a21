package mcp

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// internal lists the faults that no client request causes, and those that end
// the command before a client connects.
var internal = []fault.Code{
	fault.Usage, fault.Interrupted, fault.Internal, fault.ConfigMissing, fault.Unformatted, fault.Outdated,
	fault.RegistryUnavailable, fault.RegistryUnknown, fault.RegistryEntry, fault.ConfigInvalid, fault.ConfigExposed,
	fault.ConfigUntrusted,
	fault.ListPartial, fault.ListUnknown, fault.PluginVersion, fault.WrapChanged, fault.WrapTried,
	fault.SecretName, fault.SecretTooLarge, fault.LoginFailed,
	fault.UpstreamUnknown, fault.UpstreamDisabled, fault.Output, fault.ExportFile, fault.ImportFile,
	fault.ListenAddress, fault.ListenTLS, fault.ListenStore, fault.ProcessMissing, fault.ProcessAmbiguous,
	fault.ProcessUnreachable, fault.ProcessRefused, fault.NotReady, fault.ApprovalUnknown, fault.ApprovalRefused,
	fault.StateKey, fault.AuditFile, fault.AuditAltered, fault.AuditUnknown, fault.TestFailed, fault.EditorSession,
	fault.PlanDiffers, fault.PlanFile, fault.PlanBase, fault.ConsoleOff, fault.DoctorErrors, fault.LockFile,
	fault.CallToolError, // the server's own response, which is relayed
}

type wireError struct {
	Code    int
	Message string
	Data    struct {
		Reason, Code, Server string
		Retry                int `json:"retry_after_ms"`
	}
}

func decodeError(t *testing.T, err error, modern bool) (e wireError) {
	t.Helper()
	if err := json.Unmarshal(FaultError(err, modern), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestCodes compares the codes of both eras with the golden table.
func TestCodes(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "%-28s %7s %7s  %s\n", "fault", "legacy", "modern", "data.reason")
	for _, code := range slices.Sorted(maps.Keys(fault.Codes)) {
		err := fault.New(code, "it broke")
		old, now := decodeError(t, err, false), decodeError(t, err, true)
		fmt.Fprintf(&table, "%-28s %7d %7d  %s\n", code, old.Code, now.Code, now.Data.Reason)
		if old.Data != now.Data || old.Data.Code != string(code) || old.Data.Reason == "" || old.Code == 0 ||
			now.Code == 0 {
			t.Errorf("%s: %+v, %+v", code, old, now)
		}
		if _, answered := errorMappings[code]; answered == slices.Contains(internal, code) {
			t.Errorf("%s must be in errorMappings or in internal, not in both", code)
		}
		standard := []int{CodeInvalidParams, CodeMethodNotFound, CodeInternal}
		if now.Code >= -32768 && now.Code <= -32000 && !slices.Contains(standard, now.Code) {
			t.Errorf("%s: modern code %d is reserved by MCP", code, now.Code)
		}
	}
	const golden = "testdata/codes.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || string(want) != table.String() {
		t.Errorf("the table differs from %s (%v):\n%s", golden, err, table.String())
	}
}

// TestCodesUnambiguous checks that each modern code has one reason, and that each
// reason has one code per era.
func TestCodesUnambiguous(t *testing.T) {
	reasons, codes := map[int]string{}, map[string]errorMapping{}
	for code, a := range errorMappings {
		if before, ok := codes[a.reason]; ok && before != a {
			t.Errorf("%s: the reason %q has two mappings", code, a.reason)
		}
		codes[a.reason] = a
		if before, ok := reasons[a.modern]; ok && before != a.reason && a.modern > -31010 && a.modern <= -31000 {
			t.Errorf("%s: %d means %q and %q", code, a.modern, before, a.reason)
		}
		reasons[a.modern] = a.reason
	}
}

func TestFaultError(t *testing.T) {
	err := fault.New(fault.UpstreamExited, "it ended\nwith <words>").WithHint("start it")
	err.Server, err.RetryAfter = "git", 1500*time.Millisecond
	e := decodeError(t, fmt.Errorf("calling: %w", err), true)
	if e.Message != "server \"git\": it ended\nwith <words> (start it)" || e.Data.Server != "git" ||
		e.Data.Retry != 1500 {
		t.Errorf("%+v", e)
	}
	if e := decodeError(t, os.ErrClosed, true); e.Code != CodeInternal || e.Data.Reason != "internal" {
		t.Errorf("%+v", e)
	}
	if text := FaultError(err, true); strings.ContainsAny(string(text), "\r\n") {
		t.Errorf("the error object %s has a line break", text)
	}
}
