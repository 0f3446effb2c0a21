package config

import (
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"
)

// TestGatewayPage: the limits that docs/gateway.md has are the ones there are.
func TestGatewayPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| ([0-9][^|]*) \\|").FindAllStringSubmatch(string(text), -1) {
		said[row[1]] = row[2]
	}
	h := loadGood(t, "gateway {\n  http {\n    per_ip {\n    }\n  }\n}\n").Gateway.HTTP
	for name, is := range map[string]any{
		"max_in_flight": h.MaxInFlight, "sessions.max": h.Sessions.Max, "sessions.events": h.Sessions.Events,
		"per_ip.rate": h.PerIP.Rate, "per_ip.burst": h.PerIP.Burst, "per_ip.connections": h.PerIP.Connections, "max_body": fmt.Sprintf("%d MiB", h.MaxBody>>20),
		"sessions.idle": h.Sessions.Idle, "sessions.life": h.Sessions.Life,
		"timeouts.header": h.Timeouts.Header, "timeouts.body": h.Timeouts.Body, "timeouts.send": h.Timeouts.Send,
		"timeouts.keepalive": h.Timeouts.Keepalive, "timeouts.drain": h.Timeouts.Drain,
	} {
		got := said[name]
		delete(said, name)
		if d, ok := is.(time.Duration); ok {
			if written, err := time.ParseDuration(got); err == nil && written == d {
				continue
			}
		} else if got == fmt.Sprint(is) {
			continue
		}
		t.Errorf("%s is %v, the page says %q", name, is, got)
	}
	for name := range said {
		t.Errorf("the page has a limit %q that nobody knows", name)
	}
}
