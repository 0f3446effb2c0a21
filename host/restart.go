package host

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/host/event"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// Restart closes all connections to a server, which ends its processes, and connects again.
// Calls in progress fail. It ends the wait after earlier failures. The error is the one of
// the new connection. by is the operator, for the audit log.
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
	err = u.Connect(ctx)
	a.process.events.Add(a.process.record.withError(event.Event{Type: event.ServerRestarted, Server: s.Name}, err))
	if err == nil && u.Status().State == upstream.Ready {
		err = a.Catalog.Refresh(ctx, s.Name)[s.Name]
	}
	return err
}
