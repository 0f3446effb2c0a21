package telemetry

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/junctor-mcp/junctor/host/control"
)

// statusTime bounds one collection of the status.
const statusTime = 5 * time.Second

// States of plugins and servers, each of which has a series of 0 or 1.
var (
	pluginStates = []string{"stopped", "starting", "ready", "backoff", "quarantined"}
)

// A statusCollector makes metrics of the status that `junctor status` shows. The registry calls
// it for each scrape, perhaps concurrently; it keeps no state.
type statusCollector struct {
	version string
	status  func(context.Context) *control.Status
	labels  *labels
	descs   map[string]*prometheus.Desc
}

// A statusMetric describes a metric of a statusCollector.
type statusMetric struct {
	name, help string
	labels     []string
}

var statusMetrics = []statusMetric{
	{"mcp_sessions_active", "Sessions that clients can go on with, also stored ones.", nil},
	{"junctor_sessions_stored", "Stored sessions whose clients have sent nothing since the process started.", nil},
	{"mcp_sse_subscribers", "Streams that are open for messages to clients.", nil},
	{"mcp_cache_hits_total", "Lookups that a cache answered.", []string{"cache"}},
	{"mcp_cache_misses_total", "Lookups that a cache did not answer.", []string{"cache"}},

	{"junctor_build_info", "Always 1; the labels say what runs.", []string{"version", "go_version"}},
	{"junctor_suspended_calls", "Calls that wait for their client to answer a question of the server.", nil},
	{"junctor_message_memory_bytes", "Memory that is held for messages.", nil},
	{"junctor_message_memory_limit_bytes", "Limit of the memory for messages; 0 without one.", nil},

	{"junctor_audit_backlog", "Events of the audit log that are not written yet.", nil},
	{"junctor_audit_dropped_total", "Events that were not recorded since the process started.", nil},
	{"junctor_audit_failing", "1 if the last attempt to write the audit log failed.", nil},
	{"junctor_audit_copies_dropped_total", "Rows that targets of forward did not get since the process started.", nil},
	{"junctor_audit_copies_failing", "Targets of forward whose last attempt failed.", nil},

	{"junctor_certificate_expiry_timestamp_seconds",
		"When a certificate of a listener ends: its own (cert), or the last authority of clients (client_ca).",
		[]string{"listener", "kind"}},
	{"junctor_certificate_last_reload_successful",
		"0 if the files of a certificate have changed and cannot be used: the certificate before stays in use.",
		[]string{"listener", "kind"}},
	{"junctor_issuer_keys_usable",
		"1 if tokens of an issuer can be verified. Clients with its tokens get 503 otherwise.", []string{"issuer"}},
	{"junctor_issuer_keys_last_read_successful",
		"0 if the last attempt to read the keys of an issuer failed.", []string{"issuer"}},
	{"junctor_issuer_keys_read_timestamp_seconds",
		"When the keys of an issuer were read that are in use.", []string{"issuer"}},
	{"junctor_refused_clients_total",
		"Requests of clients that were refused before they were read, by reason.", []string{"reason"}},
	{"junctor_approvals_waiting", "Calls that wait for an approval.", nil},
	{"junctor_notices_total", "Notices of the notify block that were sent or lost.", []string{"result"}},
	{"junctor_notices_queued", "Notices that are not sent yet.", nil},
	{"junctor_login_ready",
		"1 if the login at a server works, 0 if a person must log in. It is checked every half hour.",
		[]string{"server"}},
	{"junctor_login_end_timestamp_seconds",
		"When a person must log in at a server again, if the login is not renewed by itself.", []string{"server"}},

	{"junctor_config_generation", "Number of the configuration in effect; 1 for the first one.", nil},
	{"junctor_config_loaded_timestamp_seconds", "When the configuration in effect was read.", nil},
	{"junctor_config_reloads_total", "Reloads since the process started.", []string{"result"}},
	{"junctor_config_last_reload_successful", "1 unless the last reload failed.", nil},

	{"junctor_server_state", "1 for the state that the server is in, 0 for the others.", []string{"server", "state"}},
	{"junctor_server_connections", "Open connections to a server.", []string{"server"}},
	{"junctor_server_connects_total",
		"Connections that were made to a server, without those that clients do not share.",
		[]string{"server"}},
	{"junctor_server_requests_total",
		"Requests that were meant for a server, also those that it could not be started for.", []string{"server"}},
	{"junctor_server_errors_total",
		"Requests for a server that failed, or whose tool reported an error.", []string{"server"}},
	{"junctor_server_in_flight", "Requests for a server in progress.", []string{"server"}},
	{"junctor_server_memory_bytes", "Resident memory of the process of a server.", []string{"server"}},
	{"junctor_server_tools_held",
		"Tools of a server that are held back, because their definitions were not accepted.", []string{"server"}},
	{"junctor_server_tools", "Tools of a server, if its list is known.", []string{"server"}},

	{"junctor_plugin_state",
		"1 for the state that the plugin's process is in, 0 for the others.", []string{"plugin", "servers", "state"}},
	{"junctor_plugin_restarts_total",
		"Starts of the plugin's process after the first one.", []string{"plugin", "servers"}},
	{"junctor_plugin_memory_bytes", "Resident memory of the plugin's process.", []string{"plugin", "servers"}},
	{"junctor_plugin_connections", "Connections that the plugin's process holds.", []string{"plugin", "servers"}},

	{"junctor_limit_used_ratio", "Share of a limit of calls that is in use, for the 20 limits that are used most.",
		[]string{"tenant", "server", "tool"}},
	{"junctor_limit_running", "Calls in progress under a limit of calls.", []string{"tenant", "server", "tool"}},
	{"junctor_limit_waiting", "Calls that wait under a limit of calls.", []string{"tenant", "server", "tool"}},
}

func newStatusCollector(version string, status func(context.Context) *control.Status, l *labels) *statusCollector {
	c := &statusCollector{version: version, status: status, labels: l, descs: map[string]*prometheus.Desc{}}
	for _, m := range statusMetrics {
		c.descs[m.name] = prometheus.NewDesc(m.name, m.help, m.labels, nil)
	}
	return c
}

// Describe implements [prometheus.Collector].
func (c *statusCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *statusCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statusTime)
	defer cancel()
	s := statusSample{c, to}
	st := c.status(ctx)
	s.gauge("junctor_build_info", 1, c.version, runtime.Version())
	s.gauge("mcp_sessions_active", float64(st.Sessions.Count+st.Sessions.Stored))
	s.gauge("junctor_sessions_stored", float64(st.Sessions.Stored))
	s.gauge("junctor_message_memory_bytes", float64(st.Memory.Messages))
	s.gauge("junctor_message_memory_limit_bytes", float64(st.Memory.MaxMessages))
	s.activity(&st.Activity)
	if st.Audit != nil {
		s.audit(st.Audit)
	}
	s.generation(&st.Generation)
	for _, server := range st.Servers {
		s.server(server)
	}
	for _, p := range mergedPlugins(st.Plugins) {
		s.plugin(&p)
	}
	s.limits(st.Limits)
	s.clients(st)
	s.logins(st.Logins)
}

// A statusSample is one collection. One goroutine uses it.
type statusSample struct {
	*statusCollector
	to chan<- prometheus.Metric
}

func (s statusSample) gauge(name string, value float64, labels ...string) {
	s.to <- prometheus.MustNewConstMetric(s.descs[name], prometheus.GaugeValue, value, labels...)
}

func (s statusSample) counter(name string, value uint64, labels ...string) {
	s.to <- prometheus.MustNewConstMetric(s.descs[name], prometheus.CounterValue, float64(value), labels...)
}

// states sends a series for each state.
func (s statusSample) states(name string, all []string, now string, labels ...string) {
	for _, state := range all {
		value := 0.0
		if state == now {
			value = 1
		}
		s.gauge(name, value, append(labels[:len(labels):len(labels)], state)...)
	}
}

func (s statusSample) activity(a *control.Activity) {
	s.gauge("mcp_sse_subscribers", float64(a.Streams))
	s.gauge("junctor_suspended_calls", float64(a.Suspended))
	s.counter("mcp_cache_hits_total", a.SchemaHits, "schema")
	s.counter("mcp_cache_misses_total", a.SchemaMisses, "schema")
	s.counter("junctor_config_reloads_total", a.Reloads, "ok")
	s.counter("junctor_config_reloads_total", a.FailedReloads, "failed")
}

func (s statusSample) audit(a *control.Audit) {
	s.gauge("junctor_audit_backlog", float64(a.Backlog))
	s.counter("junctor_audit_dropped_total", uint64(max(0, a.Dropped)))
	failing := 0.0
	if a.Failing {
		failing = 1
	}
	s.gauge("junctor_audit_failing", failing)
	s.counter("junctor_audit_copies_dropped_total", uint64(max(0, a.CopiesDropped)))
	s.gauge("junctor_audit_copies_failing", float64(a.CopiesFailing))
}

func (s statusSample) generation(g *control.Generation) {
	s.gauge("junctor_config_generation", float64(g.Number))
	s.gauge("junctor_config_loaded_timestamp_seconds", float64(g.Loaded.UnixMilli())/1000)
	successful := 1.0
	if g.Failed != nil {
		successful = 0
	}
	s.gauge("junctor_config_last_reload_successful", successful)
}

func (s statusSample) server(st *control.Server) {
	s.states("junctor_server_state", control.ServerStates, st.State, st.Server)
	s.gauge("junctor_server_connections", float64(st.Connections), st.Server)
	s.counter("junctor_server_connects_total", uint64(st.Connects), st.Server)
	s.counter("junctor_server_requests_total", st.Calls, st.Server)
	s.counter("junctor_server_errors_total", st.Errors, st.Server)
	s.gauge("junctor_server_in_flight", float64(st.InFlight), st.Server)
	s.gauge("junctor_server_memory_bytes", float64(st.Memory), st.Server)
	if st.Tools != nil {
		s.gauge("junctor_server_tools", float64(*st.Tools), st.Server)
		s.gauge("junctor_server_tools_held", float64(st.HeldTools), st.Server)
	}
}

func (s statusSample) plugin(p *control.Plugin) {
	s.states("junctor_plugin_state", pluginStates, p.State, p.Plugin, p.Servers)
	s.counter("junctor_plugin_restarts_total", uint64(p.Restarts), p.Plugin, p.Servers)
	s.gauge("junctor_plugin_memory_bytes", float64(p.Memory), p.Plugin, p.Servers)
	s.gauge("junctor_plugin_connections", float64(p.Connections), p.Plugin, p.Servers)
}

// mergedPlugins returns the processes with one for each series. After a reload a plugin may
// have an old process besides the new one.
func mergedPlugins(all []control.Plugin) (merged []control.Plugin) {
	for _, p := range all {
		i := slices.IndexFunc(merged,
			func(m control.Plugin) bool { return m.Plugin == p.Plugin && m.Servers == p.Servers })
		if i < 0 {
			merged = append(merged, p)
			continue
		}
		m := &merged[i]
		m.Restarts, m.Memory, m.Connections = max(m.Restarts, p.Restarts), m.Memory+p.Memory, m.Connections+
			p.Connections
		if m.State == "stopped" {
			m.State = p.State
		}
	}
	return merged
}

// limits sends the limits in use. Those whose labels are the same are added, and of their
// shares the largest counts.
func (s statusSample) limits(uses []control.ToolUse) {
	type key struct{ tenant, server, tool string }
	sums := map[key]control.ToolUse{}
	for _, u := range uses {
		k := key{s.labels.tenant(u.Tenant), u.Server, u.Tool}
		sum := sums[k]
		sums[k] = control.ToolUse{Used: max(sum.Used, u.Used), Running: sum.Running + u.Running,
			Waiting: sum.Waiting + u.Waiting}
	}
	for k, u := range sums {
		s.gauge("junctor_limit_used_ratio", u.Used, k.tenant, k.server, k.tool)
		s.gauge("junctor_limit_running", float64(u.Running), k.tenant, k.server, k.tool)
		s.gauge("junctor_limit_waiting", float64(u.Waiting), k.tenant, k.server, k.tool)
	}
}
