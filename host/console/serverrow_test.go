package console

import (
	"testing"

	"github.com/junctor-mcp/junctor/host/control"
)

// TestActionOfServers: a server without any connection so far is started, and only a disabled
// or disconnected one has no action.
func TestActionOfServers(t *testing.T) {
	want := map[string]string{"disabled": "", control.Disconnected: "", control.NotStarted: "Start"}
	for _, state := range control.ServerStates {
		action, other := want[state]
		if !other {
			action = "Restart"
		}
		if got := (serverRow{&control.Server{State: state}}).Action(); got != action {
			t.Errorf("%s: %q, want %q", state, got, action)
		}
	}
}

// TestVersionOfServers reads the version from what the server says about itself.
func TestVersionOfServers(t *testing.T) {
	for info, want := range map[string]string{
		``: "", `{}`: "", `null`: "", `[]`: "", `{"version":1}`: "", `{"name":"a","version":"1.2.3"}`: "1.2.3",
		`{"version":{"version":"1"}}`: "",
	} {
		if got := (serverRow{&control.Server{ServerInfo: []byte(info)}}).Version(); got != want {
			t.Errorf("%s: %q", info, got)
		}
	}
}
