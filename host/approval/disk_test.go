package approval

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
)

// kept returns a store that keeps its entries in a file.
func kept(t *testing.T, path string) *Store {
	t.Helper()
	s := NewStore()
	if err := s.Keep(path, hclog.NewNullLogger()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestApprovalsOutliveAProcess: what waited, was approved, denied or used is the same in the
// next process, for the same principal and rule only.
func TestApprovalsOutliveAProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "approvals", "a.sqlite")
	call := func(subject, arguments string, covers policy.Coverage) *Call {
		c := callBy(subject, arguments)
		c.Principal.Roles, c.Terms.Covers, c.Terms.Rule, c.Terms.Valid = []string{"dev"}, covers, "the rule", time.Hour
		return c
	}
	s := kept(t, path)
	waits, approved, denied, used, standing := call("w", `{"a":1}`, policy.CoversCall),
		call("a", `{"a":1}`, policy.CoversCall), call("d", `{}`, policy.CoversCall), call("u", `{}`, policy.CoversCall),
		call("s", `{}`, policy.CoversTool)
	for _, c := range []*Call{waits, waits, approved, denied, used, standing} {
		if err := s.Confirm(t.Context(), c); !fault.Is(err, fault.ApprovalRequired) {
			t.Fatal(err)
		}
	}
	ids := map[string]string{}
	for _, p := range s.All() {
		ids[p.Call.Principal.Subject] = p.ID
		if subject := p.Call.Principal.Subject; subject != "w" {
			if _, err := s.Answer(p.ID, answerOf("me", subject != "d"), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ok, err := s.Use(used); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.Close()

	s = kept(t, path)
	for _, p := range s.All() {
		want := 1
		if p.ID == ids["w"] {
			want = 2
		}
		if p.Times != want {
			t.Errorf("%s was sent %d times, want %d", p.Call.Principal.Subject, p.Times, want)
		}
	}
	for _, c := range []struct {
		name string
		call *Call
		ok   bool
		code fault.Code // of the error of Use
	}{
		{"what waited", waits, false, ""},
		{"what was approved", approved, true, ""},
		{"that a second time", approved, false, ""},
		{"what was denied", denied, false, fault.ApprovalDenied},
		{"what was used", used, false, ""},
		{"a standing approval", standing, true, ""},
		{"that a second time", call("s", `{"other":1}`, policy.CoversTool), true, ""},
		{"another principal", call("x", `{}`, policy.CoversTool), false, ""},
	} {
		ok, err := s.Use(c.call)
		if ok != c.ok || (c.code == "") != (err == nil) || c.code != "" && !fault.Is(err, c.code) {
			t.Errorf("%s: %v, %v", c.name, ok, err)
		}
	}
	other := call("s", `{}`, policy.CoversTool)
	other.Terms.Rule = "another rule"
	if ok, _ := s.Use(other); ok {
		t.Error("an approval under one rule counts under another")
	}
	if p, err := s.Answer(ids["w"], answerOf("you", true), nil); err != nil || p.Call.Principal.Roles[0] != "dev" ||
		string(p.Call.Arguments) != `{"a":1}` {
		t.Errorf("%+v, %v", p, err)
	}
	s.Close()
	if ok, err := kept(t, path).Use(waits); !ok || err != nil {
		t.Errorf("approved after the restart: %v, %v", ok, err)
	}
}

// TestFilesOfApprovals: an entry that another program changed is none, one file is of one
// process, and what is no such file is an error.
func TestFilesOfApprovals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.sqlite")
	s := kept(t, path)
	_ = s.Confirm(t.Context(), callBy("alice", `{}`))
	if err := NewStore().Keep(path, hclog.NewNullLogger()); err == nil {
		t.Error("two processes keep approvals in one file")
	}
	s.Close()
	db, err := openDisk(path)
	if err != nil {
		t.Fatal(err)
	}
	// Another subject in the same entry, an entry that is no JSON, and a key of another size.
	for _, q := range []string{
		`UPDATE approvals SET entry = replace(CAST(entry AS TEXT), 'alice', 'mallory')`,
		`INSERT INTO approvals VALUES (zeroblob(32), 'x'), (zeroblob(3), '{}'), (randomblob(32), '{"Call":null}')`,
	} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if all := kept(t, path).All(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
	if err := NewStore().Keep(t.TempDir(), hclog.NewNullLogger()); err == nil ||
		!strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
}

// TestApprovalsWithoutADisk: a file that cannot be written any more makes no call fail.
func TestApprovalsWithoutADisk(t *testing.T) {
	s := kept(t, filepath.Join(t.TempDir(), "a.sqlite"))
	if err := s.disk.db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Confirm(context.Background(), callBy("alice", `{}`)); !fault.Is(err, fault.ApprovalRequired) {
		t.Error(err)
	}
	if _, err := s.Answer(waitingID(s), answerOf("me", true), nil); err != nil {
		t.Error(err)
	}
	if ok, err := s.Use(callBy("alice", `{}`)); !ok || err != nil {
		t.Error(ok, err)
	}
}

// TestUsedApprovalsAreWrittenFirst: a call that uses up an approval goes on when the file says
// so: a process that is killed then leaves none that works again.
func TestUsedApprovalsAreWrittenFirst(t *testing.T) {
	s := kept(t, filepath.Join(t.TempDir(), "a.sqlite"))
	waits := callBy("bob", `{}`)
	waits.Terms.Wait = time.Minute
	for name, use := range map[string]func() error{
		"sent again": func() error {
			_ = s.Confirm(t.Context(), callBy("alice", `{}`))
			if _, err := s.Answer(waitingID(s), answerOf("me", true), nil); err != nil {
				return err
			}
			_, err := s.Use(callBy("alice", `{}`))
			return err
		},
		"a call that waits": func() error {
			done := make(chan error, 1)
			go func() { done <- s.Confirm(t.Context(), waits) }()
			for s.Waiting() == 0 {
				runtime.Gosched()
			}
			if _, err := s.Answer(waitingID(s), answerOf("me", true), nil); err != nil {
				return err
			}
			return <-done
		},
	} {
		if err := use(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.disk.mu.Lock()
		left := len(s.disk.changed)
		s.disk.mu.Unlock()
		all, err := s.disk.read()
		if err != nil || left > 0 {
			t.Fatalf("%s: %d changes are not written, %v", name, left, err)
		}
		for _, p := range all {
			if p.State != Used {
				t.Errorf("%s: the file has a call of %s as %s", name, p.Call.Principal.Subject, p.State)
			}
		}
	}
}
