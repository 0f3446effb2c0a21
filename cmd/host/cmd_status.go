package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/host"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/plugin"
	"github.com/junctor-mcp/junctor/host/upstream"
)

func (e *env) statusVerb() *cobra.Command {
	var offline bool
	cmd := &cobra.Command{
		Use:   "status [SERVER…]",
		Short: "Connect to the servers and show how they are",
		Long: `Connect to each server (none named: to all that are enabled), all at the same time, and show how long it took,
which protocol revision it speaks and what it offers. The exit status is 3, or 6 for a timeout, when one of them
cannot be reached.`,
		ValidArgsFunction: e.completes(completeServers),
		RunE:              func(cmd *cobra.Command, args []string) error { return e.status(cmd.Context(), args, offline) },
	}
	cmd.Flags().BoolVar(&offline, "offline", false, "show what is known without connecting to anything")
	return cmd
}

// serverStatus is the JSON form of a server's status.
type serverStatus struct {
	Server     string          `json:"server"`
	OK         bool            `json:"ok"`
	State      upstream.State  `json:"state"`
	Transport  string          `json:"transport"`
	Plugin     string          `json:"plugin,omitempty"`
	At         string          `json:"at"`
	Latency    int64           `json:"latency_ms,omitempty"`
	Revision   string          `json:"protocol,omitempty"`
	ServerInfo json.RawMessage `json:"server_info,omitempty"`
	PID        int             `json:"pid,omitempty"`
	Tools      *int            `json:"tools,omitempty"`
	Resources  *int            `json:"resources,omitempty"`
	Prompts    *int            `json:"prompts,omitempty"`
	Listed     *time.Time      `json:"listed,omitempty"`
	Notes      []string        `json:"notes,omitempty"`
	Settings   json.RawMessage `json:"settings,omitempty"`
	Error      *errorJSON      `json:"error,omitempty"`

	err error
}

// needsAuth is the state of a server that only lacks credentials.
const needsAuth = upstream.State("needs_auth")

func (e *env) status(ctx context.Context, args []string, offline bool) error {
	app, err := e.load(ctx)
	if err != nil {
		return err
	}
	servers := app.Config().Servers
	if len(args) > 0 {
		if servers, err = wanted(app, args); err != nil {
			return err
		}
	}
	list := make([]*serverStatus, len(servers))
	wait := e.spin("connecting")
	var wg sync.WaitGroup
	for i, s := range servers {
		list[i] = e.initialStatus(app, s)
		if s.Enabled && !offline {
			wg.Go(func() { connect(ctx, app, list[i]) })
		}
	}
	wg.Wait()
	wait.stop()
	for _, st := range list {
		addCounts(app, st)
	}
	return e.printStatus(list)
}

// initialStatus returns the status of a server before a connection.
func (e *env) initialStatus(app *host.App, s *config.Server) *serverStatus {
	st := &serverStatus{Server: s.Name, At: s.At.String(), State: "disabled", OK: true}
	if !s.Enabled {
		return st
	}
	st.State, st.Transport, st.Settings = upstream.Stopped, s.Transport.Kind, s.Transport.Shown
	for _, p := range app.Config().Plugins {
		if d, ok := app.Described(p); ok && p.Name == s.Transport.Plugin {
			st.Plugin = d.Manifest.Name + " " + d.Manifest.Version
		}
	}
	return st
}

// connect connects to a server and measures the time.
func connect(ctx context.Context, app *host.App, st *serverStatus) {
	u := app.Upstreams()[st.Server]
	start := time.Now()
	st.err = u.Connect(ctx)
	st.Latency = time.Since(start).Milliseconds()
	now := u.Status()
	st.OK, st.State, st.Error = st.err == nil, now.State, errorOf(st.err)
	st.Revision, st.ServerInfo = string(now.Revision), now.ServerInfo
	if st.err != nil {
		if fault.Is(st.err, fault.UpstreamLogin) || fault.Is(st.err, fault.UpstreamAuth) {
			st.State = needsAuth
		}
		return
	}
	if err := app.Catalog.Refresh(ctx, st.Server)[st.Server]; err != nil {
		st.OK, st.err, st.Error = false, err, errorOf(err)
	}
	if c, ok := now.Link.(*plugin.Connection); ok {
		if link, err := c.Status(ctx); err == nil {
			st.PID = link.PID
			if link.Dropped > 0 {
				st.Notes = append(st.Notes, notMessages(link.Dropped))
			}
		}
	}
}

// addCounts adds the numbers of items in the catalog.
func addCounts(app *host.App, st *serverStatus) {
	since, known := app.Catalog.Known(st.Server)
	if !known {
		return
	}
	var tools, resources, prompts int
	snapshot := app.Catalog.Snapshot()
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
	for _, n := range snapshot.Notes {
		if n.Server == st.Server {
			st.Notes = append(st.Notes, n.String())
		}
	}
}

func (e *env) printStatus(list []*serverStatus) error {
	var first error
	for _, st := range list {
		if first == nil && st.err != nil {
			first = st.err
		}
	}
	if e.machine() {
		if err := e.printJSON(list); err != nil {
			return err
		}
		return reported(first)
	}
	var rows [][]string
	for _, st := range list {
		took := ""
		if st.Latency > 0 {
			took = fmt.Sprintf("%d ms", st.Latency)
		}
		rows = append(rows, []string{st.Server, string(st.State), st.Transport, st.Plugin, st.Revision, took, offers(st)})
	}
	e.table([]string{"SERVER", "STATE", "TRANSPORT", "PLUGIN", "REVISION", "TOOK", "OFFERS"}, rows)
	for _, st := range list {
		for _, n := range st.Notes {
			e.note(st.Server, n)
		}
		if st.err != nil {
			e.printError(st.err)
		}
	}
	return reported(first)
}

func offers(st *serverStatus) string {
	if st.Tools == nil {
		return "not known yet"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{*st.Tools, "tool"}, {*st.Resources, "resource"}, {*st.Prompts, "prompt"}} {
		if p.n > 0 {
			parts = append(parts, count(p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// notMessages is the note about lines of a server that were not messages.
func notMessages(n uint64) string {
	if n == 1 {
		return "1 line on its standard output was not a message; a server must log to standard error"
	}
	return fmt.Sprintf("%d lines on its standard output were not messages; a server must log to standard error", n)
}
