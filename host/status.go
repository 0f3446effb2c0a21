package host

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/approval"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/upstream"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

// pluginStatusTime is the time for a plugin to describe a connection.
const pluginStatusTime = time.Second

// needsAuth is the state of a server that only lacks credentials.
const needsAuth = "needs_auth"

// Status returns what the process knows about itself. It contacts no server. The
// fields that describe how the process was started are left to the caller. The control socket
// and metrics call it, concurrently.
func (a *App) Status(ctx context.Context) *control.Status {
	return report{a, a.current.Load()}.status(ctx)
}

// A report describes the process and a generation for the status. It is a value. Its methods
// may be called concurrently; they ask plugins, at most for pluginStatusTime each, and no
// server.
type report struct {
	a *App
	g *generation
}

func (r report) status(ctx context.Context) *control.Status {
	a, g := r.a, r.g
	path, err := filepath.Abs(g.Config.Path)
	if err != nil {
		path = g.Config.Path
	}
	return &control.Status{
		Console: r.consoleURL(),
		Memory:  control.Memory{Messages: a.process.messages.Used(), MaxMessages: a.process.messages.Most()},
		Generation: control.Generation{
			Number: g.number,
			Loaded: g.loaded,
			Path:   path,
			Files:  g.Config.Files,
			Policy: g.policyDigest(),
		},
		Servers:  r.serverStatuses(ctx, g.Config.Servers),
		Plugins:  r.pluginStatuses(),
		Sessions: r.sessionStatuses(),
		Limits:   r.limitStatuses(),
		Clients:  r.clientUses(),
		Waiting:  a.process.approvals.Waiting(),
		LogLevel: a.process.opts.Log.GetLevel().String(),
		Audit:    r.auditStatus(),
		Activity: r.activity(),
		Sandbox:  sandbox.Probe(),
		Notices:  r.noticeStatus(),

		Certificates: certificateStatuses(a),
		Issuers:      issuerStatuses(a),
		Logins:       a.logins.states(),
		Refused:      refusedClients(a),
	}
}

// activity returns the numbers that the App knows. The caller knows of reloads.
func (r report) activity() (now control.Activity) {
	now.Suspended = r.a.Gateway.SuspendedCalls()
	now.SchemaHits, now.SchemaMisses = r.a.Gateway.SchemaCache()
	if server := r.a.serving.Load(); server != nil {
		now.Streams = server.Streams()
	}
	return now
}

// shownLimits is the number of limits in a status.
const shownLimits = 20

func (r report) limitStatuses() (all []control.ToolUse) {
	for _, u := range r.a.process.toolLimits.Busiest(shownLimits) {
		u.Tool = r.a.process.redactor.hide(u.Tool)
		all = append(all, control.ToolUse(u))
	}
	return all
}

// ServerStatuses describes servers of the configuration in effect, in the given order.
// It asks their plugins, but contacts no server.
func (a *App) ServerStatuses(ctx context.Context, servers []*config.Server) []*control.Server {
	return report{a, a.current.Load()}.serverStatuses(ctx, servers)
}

func (r report) serverStatuses(ctx context.Context, servers []*config.Server) []*control.Server {
	list := make([]*control.Server, len(servers))
	processes := sync.OnceValue(control.Processes)
	var work sync.WaitGroup
	for i, s := range servers {
		work.Go(func() { list[i] = r.serverStatus(ctx, s, processes) })
	}
	work.Wait()
	return list
}

func (r report) serverStatus(ctx context.Context, s *config.Server, processes func() control.Tree) *control.Server {
	st := &control.Server{Server: s.Name, At: s.At.String(), State: "disabled", OK: true, Required: s.Required}
	u := r.g.upstreams[s.Name]
	if d := r.g.disconnected[s.Name]; d != nil {
		total := r.a.process.usage.Of(s.Name)
		st.State = control.Disconnected
		st.Transport = s.Transport.Kind
		st.Settings = s.Transport.Shown
		st.Calls = total.Requests
		st.Errors = total.Errors
		st.LastUsed = known(total.Last)
		st.Notes = append(st.Notes, fmt.Sprintf(
			"disconnected by an operator at %s; `junctor connect %s` connects it",
			d.since.Format(time.DateTime),
			s.Name,
		))
		return st
	}
	if u == nil {
		return st
	}
	st.Transport, st.Settings = s.Transport.Kind, s.Transport.Shown
	if d, ok := r.g.manifests[r.g.plugin(s.Transport.Plugin).Use]; ok {
		st.Plugin = d.Manifest.Name + " " + d.Manifest.Version
	}
	now := u.Status()
	addUpstream(st, now)
	if now.Link != nil {
		st.Connections = 1
	}
	own := r.a.Gateway.OwnConnections(s.Name)
	if own > 0 && now.State != upstream.Failed { // the connection that all clients share may never be used
		st.State = string(upstream.Ready)
	}
	st.Connections += own
	total := r.a.process.usage.Of(s.Name)
	st.Calls, st.Errors, st.InFlight, st.LastUsed = total.Requests, total.Errors, total.InFlight, known(total.Last)
	st.P50, st.P99 = milliseconds(total.Durations.Quantile(0.5)), milliseconds(total.Durations.Quantile(0.99))
	st.Durations = total.Durations
	if st.State == string(upstream.Stopped) {
		st.State = control.Idle
		if st.Connects == 0 && st.Calls == 0 && st.LastUsed == nil {
			st.State = control.NotStarted
		}
	}
	st.LogLevel = r.a.Gateway.ServerLevel(s.Name)
	addLink(ctx, st, now.Link, processes)
	addTenants(st, tenantUses(ctx, r.a.Gateway.Opens(s.Name), processes), r.a.process.redactor.hide)
	r.addCounts(st)
	r.conceal(st)
	return st
}

// conceal masks secrets in the texts of a status that a server chose, or that quote it.
func (r report) conceal(st *control.Server) {
	hide := r.a.process.redactor.hide
	if st.ServerInfo != nil {
		st.ServerInfo = approval.Mask(st.ServerInfo, hide)
	}
	for i, note := range st.Notes {
		st.Notes[i] = hide(note)
	}
	if st.Error != nil {
		st.Error = st.Error.Masked(hide)
	}
}

// milliseconds returns a duration as a status has it.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// addUpstream adds the state of the connection that all clients share.
func addUpstream(st *control.Server, now upstream.Status) {
	st.State, st.Revision, st.ServerInfo = string(now.State), string(now.Revision), now.ServerInfo
	st.Connects, st.Subscriptions, st.Retry = now.Connects, now.Subscriptions, known(now.Retry)
	switch {
	case now.State == upstream.Starting:
		st.Step = stepOf(now.Start)
	case now.State == upstream.Failed && now.Err != nil:
		st.OK, st.Error = false, fault.As(now.Err).Document()
		if isLoginMissing(now.Err) {
			st.State = needsAuth
		}
	}
}

// stepOf says what a start waits for.
func stepOf(s upstream.StartStatus) string {
	switch {
	case s.Queued:
		return "waiting for other servers to start"
	case s.Launcher != "":
		return fmt.Sprintf(
			"started with %s, which may be installing it, for %s of at most %s",
			s.Launcher,
			s.Taken.Round(time.Second),
			s.Allowed.Round(time.Second),
		)
	}
	return fmt.Sprintf("started, for %s of at most %s", s.Taken.Round(time.Second), s.Allowed.Round(time.Second))
}

// addLink adds what the transport's plugin knows about the connection.
func addLink(ctx context.Context, st *control.Server, link upstream.Link, processes func() control.Tree) {
	c, ok := link.(*plugin.Connection)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pluginStatusTime)
	defer cancel()
	now, err := c.Status(ctx)
	if err != nil {
		return
	}
	if st.PID = now.PID; st.PID > 0 {
		use := processes().UseOf(st.PID)
		st.Memory, st.CPU = use.Memory, use.CPU
	}
	if now.Dropped > 0 {
		st.Notes = append(st.Notes, upstream.NotMessages(now.Dropped, len(commandOf(st.Settings)) > 0 || st.PID > 0))
	}
}

// addCounts adds the numbers of items in the catalog.
func (r report) addCounts(st *control.Server) {
	since, known := r.a.Catalog.Known(st.Server)
	if !known {
		return
	}
	var tools, resources, prompts int
	snapshot := r.a.Catalog.Snapshot()
	for _, t := range snapshot.Tools {
		if t.Server == st.Server {
			tools++
		}
	}
	for _, r := range snapshot.Resources {
		if r.Server == st.Server {
			resources++
		}
	}
	for _, p := range snapshot.Prompts {
		if p.Server == st.Server {
			prompts++
		}
	}
	st.Tools, st.Resources, st.Prompts, st.Listed = &tools, &resources, &prompts, &since
	held, _ := r.a.Catalog.Held(st.Server)
	st.HeldTools = len(held)
	for _, n := range snapshot.Notes {
		if n.Server == st.Server {
			st.Notes = append(st.Notes, n.String())
		}
	}
}

func (r report) pluginStatuses() []control.Plugin {
	list := []control.Plugin{}
	for _, p := range r.a.Supervisor.Status() {
		use := control.UseOf(p.PID)
		st := control.Plugin{
			Plugin:      p.Name,
			Servers:     p.Alone,
			Version:     p.Version,
			State:       string(p.State),
			PID:         p.PID,
			Memory:      use.Memory,
			CPU:         use.CPU,
			Connections: p.Connections,
			Restarts:    max(0, p.Starts-1),
			Retry:       known(p.Retry),
		}
		if p.Err != nil {
			st.Error = fault.As(p.Err).Document().Masked(r.a.process.redactor.hide)
		}
		list = append(list, st)
	}
	return list
}

func (r report) sessionStatuses() control.Sessions {
	all := r.a.Gateway.Sessions()
	s := control.Sessions{Count: len(all), List: []control.Session{}}
	if server := r.a.serving.Load(); server != nil {
		s.Stored = server.StoredSessions()
	}
	for _, one := range all[:min(len(all), control.MaxSessions)] {
		s.List = append(s.List, control.Session{
			Client:        r.a.process.redactor.hide(one.Program),
			Subject:       one.Principal.Subject,
			Tenant:        one.Principal.Tenant,
			Revision:      string(one.Revision),
			Since:         one.Since,
			InFlight:      one.InFlight,
			Subscriptions: one.Subscriptions,
		})
	}
	return s
}

// known returns nil for the zero time.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// policyDigest returns the digest of the rules, or "" without any.
func (g *generation) policyDigest() string {
	if p := g.offered.Policy; p != nil && p.Restricts() {
		return p.Digest()
	}
	return ""
}
