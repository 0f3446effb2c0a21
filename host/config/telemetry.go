package config

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/config/language"
	"github.com/junctor-mcp/junctor/host/config/source"
)

// Telemetry is the telemetry block.
type Telemetry struct {
	// Nil: nothing listens.
	Metrics *Metrics `hcl:"metrics,block" doc:"The listener for Prometheus, which answers '/metrics'. Without the block nothing listens." json:",omitempty"`
}

// Metrics configures the listener for the metrics of the process.
type Metrics struct {
	// A path is absolute.
	Listen string `hcl:"listen" default:"127.0.0.1:7577" accepts:"'\"HOST:PORT\"' or '\"unix:PATH\"'" doc:"Where metrics are served. It cannot be the address of 'gateway.http'. A socket belongs to the user alone."`
	Remote bool   `hcl:"allow_remote" doc:"Allows an address that is not a loopback address. Nothing authenticates a scrape." json:",omitempty"`
	At     source.Position
}

// Validate implements [language.Validator].
func (m *Metrics) Validate(r language.Reader) { m.At = source.StartOf(r.Head) }

// readTelemetry reads the telemetry block. All files together hold at most one.
func readTelemetry(of *scope, gateway HTTP) (t Telemetry) {
	if r, found := of.only(of.top["telemetry"]); found {
		language.Decode(r.Reader, &t)
		if m, found := r.block("metrics"); found {
			checkMetrics(m, t.Metrics, gateway)
		}
	}
	return t
}

// checkMetrics checks the address of the metrics block.
func checkMetrics(r blockReader, m *Metrics, gateway HTTP) {
	at, called := r.ValueAt("listen", r.Head), addressInFile(m.Listen)
	if text, a, set := r.Text("listen"); set {
		listen, err := parseListen(text, r.of.ev.Files.DirOf(a.SrcRange.Filename))
		if err != nil {
			r.ErrorAt(at, `write HOST:PORT, such as "127.0.0.1:7577", or unix:PATH`, "%s %v", addressInFile(text), err)
			return
		}
		m.Listen, called = listen, addressInFile(text)
	}
	switch {
	case gateway.Given && m.Listen == gateway.Listen:
		r.ErrorAt(at, "metrics need an address of their own, which clients of the gateway cannot reach",
			"%s is the address of gateway.http, too", called)
	case isLocal(m.Listen) && m.Remote:
		r.WarnAt(r.ValueAt("allow_remote", at), `remove "allow_remote"`,
			`%s is a local address, so "allow_remote" has no effect`, called)
	case isLocal(m.Listen):
	case m.Remote:
		r.WarnAt(at, "let only the monitoring system connect to it, with a firewall",
			"%s is not a loopback address: the names of tenants, servers and tools, and how they are used, can be read without authentication",
			called)
	default:
		r.ErrorAt(at,
			fmt.Sprintf("listen on %s, or write allow_remote = true if only the monitoring system can connect",
				language.Defaults[Metrics]().Listen),
			"%s is not a loopback address, and metrics need no authentication", called)
	}
}
