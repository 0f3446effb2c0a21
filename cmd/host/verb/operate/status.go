// Package operate has the verbs for running processes: their state, logs, events and audit log,
// and changes of them.
//
// Each verb has a file: a function named after the verb, which makes the command and its flags for
// the table in root.go, a struct with the arguments and flags, and functions that do the work.
// examined.go, examined_exports.go and examined_gateway.go collect what doctor examines, and
// support.go packs it. auditcheck.go and auditrows.go are parts of audit, and process.go prints
// processes for status.
//
// A verb is run once in a process, on the main goroutine, so the structs of options need no lock.
// Scripts read the flags and the JSON that a verb prints: a renamed member breaks them. docs/cli.md
// and golden files show both.
package operate

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/processes"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
)

// statusOptions are the arguments and flags of status.
type statusOptions struct {
	inv              *invocation.Invocation
	servers          []string
	offline, connect bool
	instance         string
}

// Status returns the verb status.
func Status(inv *invocation.Invocation) *cobra.Command {
	o := &statusOptions{inv: inv}
	cmd := &cobra.Command{
		Use:   "status [SERVER…]",
		Short: "Show how a running junctor serve and its servers are",
		Long: `Ask the running process that serves this configuration: how long it runs, which configuration is in effect,
and the state of its servers, plugins and sessions. If several processes serve it, list them; --instance chooses one.

If none is running, or with --connect, connect to each server from here (none named: to all that are enabled), all
at the same time, and show how long it took, which protocol revision it speaks and what it offers.

The exit status is 3, or 6 for a timeout, when a server cannot be reached.`,
		Example: `  junctor status
  junctor status --connect github
  junctor status --instance 4711 --json`,
		ValidArgsFunction: inv.Completes(items.CompleteServers),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.servers = args
			return o.run(cmd.Context())
		},
	}
	processes.Flag(inv, cmd, &o.instance)
	cmd.Flags().BoolVar(&o.connect, "connect", false, "connect to the servers from here, also if a process serves them")
	cmd.Flags().BoolVar(&o.offline, "offline", false, "show what is known without connecting to anything")
	cmd.MarkFlagsMutuallyExclusive("instance", "connect", "offline")
	return cmd
}

// StatusJSON is the JSON form of status.
type StatusJSON struct {
	Processes []*control.Status `json:"processes"`
	// Servers are the servers as seen from here. They are absent if a process answered.
	Servers []*control.Server `json:"servers,omitempty"`
}

func (o *statusOptions) run(ctx context.Context) error {
	inv := o.inv
	if !o.connect && !o.offline {
		found, _, err := processes.Find(ctx, inv, o.instance)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			return printProcesses(inv, found, o.servers)
		}
	}
	app, err := inv.Load(ctx, invocation.Needs{})
	if err != nil {
		return err
	}
	inv.WarnNoServers(app)
	servers := app.Config().Servers
	if len(o.servers) > 0 {
		if servers, err = items.Wanted(app, o.servers); err != nil {
			return err
		}
	}
	if o.offline {
		return printServers(inv, app.ServerStatuses(ctx, servers))
	}
	if !o.connect && !inv.Machine() {
		inv.Remark("no running process answered for this configuration; connecting from here")
	}
	return printServers(inv, items.ConnectAll(ctx, inv, app, servers))
}

func printServers(inv *invocation.Invocation, list []*control.Server) error {
	if inv.Machine() {
		if err := inv.PrintJSON(StatusJSON{Processes: []*control.Status{}, Servers: list}); err != nil {
			return err
		}
		return terminal.Reported(items.FailureOf(list))
	}
	var rows [][]string
	for _, st := range list {
		took := ""
		if st.Latency > 0 {
			took = fmt.Sprintf("%d ms", st.Latency)
		}
		rows = append(rows, []string{st.Server, st.StateText(), st.Transport, st.Plugin, st.Revision, took, offers(st)})
	}
	inv.Table([]string{"SERVER", "STATE", "TRANSPORT", "PLUGIN", "REVISION", "TOOK", "OFFERS"}, rows)
	printRemarks(inv, list)
	return terminal.Reported(items.FailureOf(list))
}

// notesShown is the number of notes about one server that printRemarks prints.
const notesShown = 5

// printRemarks prints the notes and errors of servers.
func printRemarks(inv *invocation.Invocation, list []*control.Server) {
	for _, st := range list {
		if len(list) == 1 { // asked for by name
			for _, use := range st.Tenants {
				inv.Note(st.Server, tenantText(use))
			}
		}
		for _, n := range st.Notes[:min(len(st.Notes), notesShown)] {
			inv.Note(st.Server, n)
		}
		if more := len(st.Notes) - notesShown; more > 0 {
			inv.Note(st.Server, fmt.Sprintf("%d more; `junctor status --json` has all of them", more))
		}
		if st.Error != nil {
			inv.PrintFault("error", fault.In(st.Server, st.Error.Fault()))
		}
	}
}

// tenantText describes what a server has for one tenant.
func tenantText(use control.TenantUse) string {
	text := fmt.Sprintf("tenant %s: %s, %s", use.Tenant, use.State, terminal.Count(use.Connections, "connection"))
	for i, pid := range use.PIDs {
		text += [2]string{", pid ", " "}[min(i, 1)] + strconv.Itoa(pid)
	}
	if use.Memory > 0 {
		text += ", " + terminal.SizeOf(use.Memory)
	}
	if use.Error != nil {
		text += ": " + use.Error.Message
	}
	return text
}

func offers(st *control.Server) string {
	if st.Tools == nil {
		return "not known yet"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{*st.Tools, "tool"}, {*st.Resources, "resource"}, {*st.Prompts, "prompt"}} {
		if p.n > 0 {
			parts = append(parts, terminal.Count(p.n, p.what))
		}
		if p.what == "tool" && st.HeldTools > 0 {
			parts = append(parts, fmt.Sprintf("%d held back", st.HeldTools))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
