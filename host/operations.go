package host

import (
	"context"
	"maps"
	"time"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// Restart closes all connections to a server, which ends its processes, and connects again.
// Calls in progress fail. It ends the wait after earlier failures, also that of the plugin's
// process. The error is the one of the new connection. by is the operator, for the audit log.
// The functions of this file are for operators: the control socket and the console call them,
// concurrently. They block until the server has answered.
func (a *App) Restart(ctx context.Context, server, by string) (err error) {
	s, err := a.current.Load().enabledServer(server)
	if err != nil {
		return err
	}
	begun := time.Now()
	defer func() { a.process.record.noteRestart(begun, s.Name, by, err) }()
	a.process.opts.Log.Info("restarting a server, as an operator asks", "server", s.Name)
	u := a.Gateway.Restart(s.Name)
	if u == nil { // removed by a reload
		_, err := a.current.Load().enabledServer(server)
		return err
	}
	endWait(a, s)
	err = u.Connect(ctx)
	a.process.events.Add(a.process.record.withError(event.Event{Type: event.ServerRestarted, Server: s.Name}, err))
	if err == nil && u.Status().State == upstream.Ready {
		err = a.Catalog.Refresh(ctx, s.Name)[s.Name]
	}
	return err
}

// endWait ends the backoff or quarantine of the plugin process that a server uses.
func endWait(a *App, s *config.Server) {
	plugin.EndWait(a.Supervisor, a.current.Load().pluginSpec(s.Transport.Plugin, s.Name), s.Name)
}

// A disconnection says that an operator has disconnected a server until the process ends, or
// until it is connected again. It is immutable. The generation has it, and each reload hands it
// on.
type disconnection struct {
	since time.Time
	names map[string]string // of the tools and prompts that clients knew, to the server's own
}

// Disconnect leaves a server out of all lists and closes its connections when its calls in
// flight have ended. A reload does not bring it back. by is the operator, for the audit log.
func Disconnect(a *App, server, by string) (err error) {
	begun := time.Now()
	a.reloading.Lock()
	defer a.reloading.Unlock()
	g := a.current.Load()
	switch {
	case a.stopped:
		return errShutdown()
	case g.disconnected[server] != nil:
		return nil
	}
	s, err := a.current.Load().enabledServer(server)
	if err != nil {
		return err
	}
	set := maps.Clone(g.disconnected)
	set[s.Name] = &disconnection{since: begun, names: namesOf(a, s.Name)}
	setDisconnected(a, set)
	a.process.opts.Log.Info("disconnected a server, as an operator asks", "server", s.Name)
	a.process.record.noteConnection(audit.Disconnect, begun, s.Name, by, nil)
	a.process.events.Add(event.Event{Type: event.ServerDisconnected, Server: s.Name})
	return nil
}

// Connect ends what Disconnect did, and connects a server, or does nothing if it is connected.
// The error is the one of the connection. by is the operator, for the audit log.
func Connect(ctx context.Context, a *App, server, by string) (err error) {
	begun := time.Now()
	if err := endDisconnection(a, server); err != nil {
		return err
	}
	s, err := a.current.Load().enabledServer(server)
	if err != nil {
		return err
	}
	u := a.Upstreams()[s.Name]
	if u == nil { // a reload has removed it
		return errShutdown()
	}
	a.process.opts.Log.Info("connecting a server, as an operator asks", "server", s.Name)
	endWait(a, s)
	if err = u.Connect(ctx); err == nil && u.Status().State == upstream.Ready {
		err = a.Catalog.Refresh(ctx, s.Name)[s.Name]
	}
	a.process.record.noteConnection(audit.Connect, begun, s.Name, by, err)
	a.process.events.Add(a.process.record.withError(event.Event{Type: event.ServerConnected, Server: s.Name}, err))
	return err
}

// endDisconnection makes a server part of the configuration in effect again.
func endDisconnection(a *App, server string) error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	switch {
	case a.stopped:
		return errShutdown()
	case a.current.Load().disconnected[server] == nil:
		return nil
	}
	set := maps.Clone(a.current.Load().disconnected)
	delete(set, server)
	setDisconnected(a, set)
	return nil
}

// setDisconnected makes a generation of the same configuration the one in effect, without the
// servers of a set. The caller holds reloading.
func setDisconnected(a *App, set map[string]*disconnection) {
	before := a.current.Load()
	next := &generation{
		opts:      before.opts,
		Config:    before.Config,
		number:    before.number,
		loaded:    before.loaded,
		reviewed:  before.reviewed,
		mask:      before.mask,
		manifests: before.manifests,
		secrets:   before.secrets,
		http:      before.http,
	}
	connector{a.process, next}.build(before, set)
	a.apply(next)
	closeReplaced(a, before, next)
}

// namesOf returns the names by which clients know the tools and prompts of a server, with the
// server's own names.
func namesOf(a *App, server string) map[string]string {
	names := map[string]string{}
	snapshot := a.Catalog.Snapshot()
	for _, t := range snapshot.Tools {
		if t.Server == server {
			names[t.Exposed] = t.Name
		}
	}
	for _, p := range snapshot.Prompts {
		if p.Server == server {
			names[p.Exposed] = p.Name
		}
	}
	return names
}

// disconnectedFor describes a disconnected server to the gateway.
func disconnectedFor(s *config.Server, d *disconnection) gateway.Disconnected {
	return gateway.Disconnected{Prefix: s.Prefix, Names: d.names}
}

// errDisconnected is the error of what needs a server that is disconnected.
func errDisconnected(s *config.Server) error {
	return &fault.Error{
		Code:    fault.UpstreamDisconnected,
		Message: "an operator has disconnected the server",
		Server:  s.Name,
		At:      s.At.String(),
		Hint:    "run `junctor connect " + s.Name + "`",
	}
}
