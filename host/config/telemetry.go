package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/junctor-mcp/junctor/host/config/language"
)

// Telemetry is the telemetry block.
type Telemetry struct {
	Metrics *Metrics `json:",omitempty"` // nil: nothing listens
}

// Metrics configures the listener for the metrics of the process.
type Metrics struct {
	Listen string // "host:port", or "unix:" and an absolute path
	Remote bool   `json:",omitempty"` // Listen may be reachable from other machines
	At     Position
}

const defaultMetricsListen = "127.0.0.1:7577"

var (
	telemetryForm = language.Form{Blocks: map[string]language.Shape{"metrics": {Body: &metricsForm, Doc: "The listener for Prometheus, which answers `/metrics`. Without the block nothing listens."}}}

	metricsForm = language.Form{Entries: []language.Entry{
		{Name: "listen", Values: language.Texts("`\"HOST:PORT\"` or `\"unix:PATH\"`"), Unset: language.CodeText(defaultMetricsListen),
			Doc: "Where metrics are served. It cannot be the address of `gateway.http`. A socket belongs to the user alone."},
		{Name: "allow_remote", Values: language.Booleans, Unset: "`false`", Doc: "Allows an address that is not a loopback address. Nothing authenticates a scrape."},
	}}
)

// telemetry reads the telemetry block. All files together hold at most one.
func (l *loader) telemetry(blocks []*hclsyntax.Block, gateway HTTP) (t Telemetry) {
	for i, b := range blocks {
		r := l.openBlock(b, "")
		if i > 0 {
			r.Duplicate(b.TypeRange, blocks[0].TypeRange, "block %q", b.Type)
			continue
		}
		r.Check(&telemetryForm)
		if m, found := r.block("metrics"); found {
			t.Metrics = m.metrics(gateway)
		}
	}
	return t
}

// metrics reads the metrics block.
func (r blockReader) metrics(gateway HTTP) *Metrics {
	r.Check(&metricsForm)
	m := &Metrics{Listen: defaultMetricsListen, Remote: r.Boolean("allow_remote", false), At: startOf(r.Head)}
	at, called := r.ValueAt("listen", r.Head), addressInFile(m.Listen)
	if text, a, set := r.Text("listen"); set {
		listen, err := parseListen(text, r.byName[a.SrcRange.Filename].dir)
		if err != nil {
			r.ErrorAt(at, `write HOST:PORT, such as "127.0.0.1:7577", or unix:PATH`, "%s %v", addressInFile(text), err)
			return m
		}
		m.Listen, called = listen, addressInFile(text)
	}
	switch {
	case gateway.Given && m.Listen == gateway.Listen:
		r.ErrorAt(at, "metrics need an address of their own, which clients of the gateway cannot reach", "%s is the address of gateway.http, too", called)
	case isLocal(m.Listen) && m.Remote:
		r.WarnAt(r.ValueAt("allow_remote", at), `remove "allow_remote"`, `%s is a local address, so "allow_remote" has no effect`, called)
	case isLocal(m.Listen):
	case m.Remote:
		r.WarnAt(at, "let only the monitoring system connect to it, with a firewall",
			"%s is not a loopback address: the names of tenants, servers and tools, and how they are used, can be read without authentication", called)
	default:
		r.ErrorAt(at, fmt.Sprintf("listen on %s, or write allow_remote = true if only the monitoring system can connect", defaultMetricsListen),
			"%s is not a loopback address, and metrics need no authentication", called)
	}
	return m
}
