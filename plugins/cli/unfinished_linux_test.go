package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gated is a program with two commands. One of them prints its help only after
// a file called gate exists.
const gated = `#!/bin/sh
case "$*" in
--help) printf 'Usage: gated COMMAND\n\nTo see more: gated COMMAND --help\n\nCommands:\n  fast   Is quick.\n  slow   Takes long.\n\nOptions:\n  -v, --verbose   Say more.\n' ;;
"fast --help") printf 'Usage: gated fast [OPTIONS]\n\nIs quick.\n\nOptions:\n  --now   At once.\n' ;;
"slow --help") while ! test -e %s; do sleep 0.05; done; printf 'Usage: gated slow [OPTIONS]\n\nTakes long.\n\nOptions:\n  --later   Not at once.\n' ;;
*) echo "ran: $*"; exit 3 ;;
esac
`

// A toolList is the part of a tools/list result that these tests need.
type toolList struct {
	Tools []struct{ Name string }
	Meta  struct {
		More *unfinished `json:"junctor/unfinished"`
	} `json:"_meta"`
}

func (h *host) tools(params string) toolList {
	h.t.Helper()
	m := h.ask("tools/list", params)
	var l toolList
	if m.Error != nil || json.Unmarshal(m.Result, &l) != nil {
		h.t.Fatalf("%s %+v", m.Result, m.Error)
	}
	return l
}

// setForTest replaces a variable until the test ends.
func setForTest[T any](t *testing.T, v *T, to T) {
	old := *v
	*v = to
	t.Cleanup(func() { *v = old })
}

// TestUnfinishedListIsFollowedByNotification checks that the list has the known
// tools and says that it is unfinished.
func TestUnfinishedListIsFollowedByNotification(t *testing.T) {
	setForTest(t, &listWait, 20*time.Second)
	setForTest(t, &rounds, []time.Duration{2 * time.Second, time.Minute})
	dir := t.TempDir()
	program, gate := filepath.Join(dir, "gated"), filepath.Join(dir, "gate")
	if err := os.WriteFile(program, fmt.Appendf(nil, gated, gate), 0o755); err != nil {
		t.Fatal(err)
	}
	h := openHost(t, fmt.Sprintf(`{"command":[%q]}`, program))
	h.ask("initialize", `{"protocolVersion":"2025-11-25"}`)
	l := h.tools(`{}`)
	if len(l.Tools) != 1 || l.Tools[0].Name != "fast" || l.Meta.More == nil || l.Meta.More.Known != 2 ||
		l.Meta.More.Total != 3 || l.Meta.More.Ended {
		t.Fatalf("%+v %+v", l, l.Meta.More)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if m := h.receive(); m.Method != noteToolsChanged {
		t.Errorf("%+v", m)
	}
	if l := h.tools(`{}`); len(l.Tools) != 2 || l.Meta.More != nil {
		t.Errorf("%+v", l)
	}
	if c := h.call("slow", `{}`); c.Result.Stdout != "ran: slow\n" {
		t.Errorf("%+v", c)
	}
}

// TestUnfinishedListAfterLastRound checks that the list says that only the next
// start continues, and that a cursor of another list is rejected.
func TestUnfinishedListAfterLastRound(t *testing.T) {
	setForTest(t, &listWait, 20*time.Second)
	setForTest(t, &rounds, []time.Duration{2 * time.Second})
	dir := t.TempDir()
	program := filepath.Join(dir, "gated")
	if err := os.WriteFile(program, fmt.Appendf(nil, gated, filepath.Join(dir, "gate")), 0o755); err != nil {
		t.Fatal(err)
	}
	h := openHost(t, fmt.Sprintf(`{"command":[%q]}`, program))
	for range 2 {
		if l := h.tools(`{}`); len(l.Tools) != 1 || l.Meta.More == nil || !l.Meta.More.Ended {
			t.Errorf("%+v %+v", l, l.Meta.More)
		}
	}
	if m := h.ask("tools/list", `{"cursor":"0.1"}`); m.Error == nil || m.Error.Code != invalidParams {
		t.Errorf("%+v", m)
	}
	if m := h.ask("tools/call", `{"name":"slow","arguments":{}}`); m.Error == nil {
		t.Errorf("a command that was not asked is offered: %s", m.Result)
	}
	// The model is complete nevertheless.
	if m := h.ask("tools/list", `{"_meta":{"junctor/model":true}}`); !strings.Contains(string(m.Result),
		`"short":true`) {
		t.Errorf("%s", m.Result)
	}
}

// TestEmptyListIsUnfinished checks the list of a program that has not answered
// yet.
func TestEmptyListIsUnfinished(t *testing.T) {
	setForTest(t, &listWait, 100*time.Millisecond)
	dir := t.TempDir()
	program := filepath.Join(dir, "mute")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nsleep 100\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	h := openHost(t, fmt.Sprintf(`{"command":[%q]}`, program))
	if l := h.tools(`{}`); len(l.Tools) != 0 || l.Meta.More == nil || l.Meta.More.Total != 0 {
		t.Errorf("%+v", l)
	}
}
