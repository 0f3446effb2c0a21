package console

import (
	"time"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// A serverRow is a server as the pages describe it. Templates call its methods. It belongs to
// one request.
type serverRow struct {
	*control.Server
}

// Action returns what an admin can do with the connections of the server: "Start",
// "Restart" or nothing.
func (s serverRow) Action() string {
	switch {
	case s.State == "disabled", s.State == control.Disconnected:
		return ""
	case s.State == control.NotStarted:
		return "Start"
	}
	return "Restart"
}

// Version returns the version that the server says it has.
func (s serverRow) Version() string {
	version, _ := mcp.TextMember(s.ServerInfo, "version")
	return version
}

// Latency returns p50 and p99 of the calls that have ended, or nothing without any.
func (s serverRow) Latency() string {
	if s.P99 == 0 {
		return ""
	}
	return millis(s.P50) + " / " + millis(s.P99)
}

// millis returns a number of milliseconds for people.
func millis(ms float64) string { return shortDuration(time.Duration(ms * float64(time.Millisecond))) }
