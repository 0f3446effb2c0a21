package console

import (
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/control"
)

// TestServersThatWereNeverUsedAreNotStarted: only a server without any connection so far is
// not started, and only a disabled one has no action.
func TestServersThatWereNeverUsedAreNotStarted(t *testing.T) {
	for name, c := range map[string]struct {
		server        control.Server
		shown, action string
	}{
		"never used":                        {control.Server{State: "stopped"}, "not started", "Start"},
		"with lists of the cache":           {control.Server{State: "stopped", Tools: new(3)}, "not started", "Start"},
		"stopped when idle":                 {control.Server{State: "stopped", Connects: 1}, "stopped", "Restart"},
		"called on connections of sessions": {control.Server{State: "stopped", Calls: 1}, "stopped", "Restart"},
		"used without a call":               {control.Server{State: "stopped", LastUsed: new(time.Now())}, "stopped", "Restart"},
		"ready":                             {control.Server{State: "ready"}, "ready", "Restart"},
		"failed at the first try":           {control.Server{State: "failed"}, "failed", "Restart"},
		"needs a login":                     {control.Server{State: "needs_auth"}, "needs_auth", "Restart"},
		"disabled":                          {control.Server{State: "disabled"}, "disabled", ""},
	} {
		row := serverRow{&c.server}
		if row.Shown() != c.shown || row.Action() != c.action {
			t.Errorf("%s: %q, %q", name, row.Shown(), row.Action())
		}
	}
}

// TestVersionOfServers reads the version from what the server says about itself.
func TestVersionOfServers(t *testing.T) {
	for info, want := range map[string]string{
		``: "", `{}`: "", `null`: "", `[]`: "", `{"version":1}`: "", `{"name":"a","version":"1.2.3"}`: "1.2.3", `{"version":{"version":"1"}}`: "",
	} {
		if got := (serverRow{&control.Server{ServerInfo: []byte(info)}}).Version(); got != want {
			t.Errorf("%s: %q", info, got)
		}
	}
}
