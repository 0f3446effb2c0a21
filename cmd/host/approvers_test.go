//go:build unix

package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// TestTwoPeopleApprove has a call approved by two people whom a relay names, with a restart
// between them.
func TestTwoPeopleApprove(t *testing.T) {
	t.Parallel()
	s := &gatewaySite{reloadSite: newReloadSite(t), servers: `policy {
  confirm {
    tools          = ["*"]
    valid          = "10m"
    count          = 2
    reason_pattern = "CHG-[0-9]+"
    approver {
      subjects = ["carol", "dave", "local"]
      issuer   = "relay"
    }
  }
}
audit {
  redact = ["steady/*"]
}
`}
	s.configure(fmt.Sprintf("    listen = %q\n", freeAddress(t)))
	s.start("serve", "--http")
	call := func(want string) {
		t.Helper()
		if _, text, err := s.client("").call("steady__add"); err != nil || !strings.Contains(text, want) {
			t.Errorf("%v, %s", err, text)
		}
	}
	answer := func(want int, text string, args ...string) {
		t.Helper()
		id := s.waitingApprovals()["steady__add"]
		if out, errs, status := s.junctor(append([]string{"--text", "approvals", args[0], id},
			args[1:]...)...); status != want || !strings.Contains(out+errs, text) {
			t.Errorf("%q: %d, %s%s", args, status, out, errs)
		}
	}
	call(`2 of subject \"carol\" of issuer \"relay\" or`)
	answer(0, "shown to those who may approve", "show")
	answer(5, "you are no approver", "approve", "--reason", "CHG-1")
	answer(5, "you are no approver", "approve", "--by", "eve", "--reason", "CHG-1")
	answer(5, "needs a reason", "approve", "--by", "carol")
	answer(5, "needs a reason", "approve", "--by", "carol", "--reason", "soon")
	answer(0, "approved by 1 of 2 people", "approve", "--by", "carol", "--reason", "CHG-1")
	call("needs an approval")
	s.restart()
	answer(0, "carol, through the user who runs junctor: CHG-1", "show")
	answer(5, "already", "approve", "--by", "carol", "--reason", "CHG-1")
	answer(0, "approved: tool add", "approve", "--by", "dave", "--reason", "CHG-2")
	if _, text, err := s.client("").call("steady__add"); err != nil || strings.Contains(text, "needs an approval") {
		t.Errorf("the approved call: %v, %s", err, text)
	}
	call("needs an approval")
	answer(0, "denied", "deny", "--reason", "not on a Saturday")
	call("was not approved: not on a Saturday")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.awaitExit() // all rows are written
	out, errs, _ := s.junctor("audit", "search", "--json")
	for _, want := range []string{`"detail": "given, 1 of 2: CHG-1"`, `"detail": "given, 2 of 2: CHG-2"`,
		`"by": "dave, through the user who runs junctor"`, `"detail": "denied: not on a Saturday"`,
		`"detail": "answer refused"`, `"by": "eve, through the user who runs junctor"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no row has %s: %s%s", want, out, errs)
		}
	}
}

// TestWaitingCallIsDecidedAgain reloads while a call waits for its approval: what the new
// policy denies is not called although it is approved, and a stricter rule asks again.
func TestWaitingCallIsDecidedAgain(t *testing.T) {
	t.Parallel()
	const confirm = "  confirm {\n    tools = [\"*\"]\n    wait = \"1m\"\n%s  }\n"
	for name, c := range map[string]struct{ policy, want string }{
		"denied":      {"  subject \"local\" {\n    tenant = \"local\"\n    deny {}\n  }\n", "unknown tool"},
		"more people": {fmt.Sprintf(confirm, "    count = 2\n"), "changed while it waited"},
		"allowed":     {"", `"result"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &gatewaySite{reloadSite: newReloadSite(t),
				servers: "policy {\n  default = \"allow\"\n" + fmt.Sprintf(confirm, "") + "}\n"}
			listen := fmt.Sprintf("    listen = %q\n", freeAddress(t))
			s.configure(listen)
			s.start("serve", "--http")
			answered := make(chan string, 1)
			go func() {
				_, text, err := s.client("").call("steady__add")
				answered <- fmt.Sprint(text, err)
			}()
			id := ""
			eventually.True(t, "the call waits for an approval", func() bool {
				id = s.waitingApprovals()["steady__add"]
				return id != ""
			})
			s.servers = "policy {\n  default = \"allow\"\n" + c.policy + "}\n"
			s.reload(listen)
			if out, errs, status := s.junctor("approvals", "approve", id); status != 0 {
				t.Fatal(out, errs)
			}
			if got := <-answered; !strings.Contains(got, c.want) {
				t.Error(got)
			}
		})
	}
}
