package operate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/items"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/cmd/host/verb"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// printProcesses prints the statuses of running processes: everything about a single one,
// else a line for each. names selects servers.
func printProcesses(inv *invocation.Invocation, found []control.Answer, names []string) error {
	var all []*control.Status
	var servers []*control.Server
	var missing error
	for _, r := range found {
		if err := selectServers(r.Status, names); err != nil {
			missing = err
			continue
		}
		all, servers = append(all, r.Status), append(servers, r.Status.Servers...)
	}
	switch {
	case len(all) == 0:
		return missing
	case inv.Machine():
		if err := inv.PrintJSON(StatusJSON{Processes: all}); err != nil {
			return err
		}
	case len(all) == 1:
		printProcess(inv, all[0])
	default:
		printProcessTable(inv, all)
	}
	return terminal.Reported(items.FailureOf(servers))
}

// selectServers leaves the named servers in a status, or all if there are no names.
func selectServers(st *control.Status, names []string) error {
	if len(names) == 0 {
		return nil
	}
	var known []string
	for _, s := range st.Servers {
		known = append(known, s.Server)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return verb.WithSuggestion(fault.New(fault.UpstreamUnknown, "process %s has no server %q",
				st.Instance, name), suggest.Nearest(name, known), "junctor status lists them")
		}
	}
	st.Servers = slices.DeleteFunc(st.Servers,
		func(s *control.Server) bool { return !slices.Contains(names, s.Server) })
	return nil
}

func printProcess(inv *invocation.Invocation, st *control.Status) {
	inv.Printf("process %s: junctor %s, running for %s, serves %s, %s\n", st.Instance, st.Version,
		terminal.Duration(time.Duration(st.Uptime)*time.Second), serves(st), terminal.BytesOf(st.Memory.Resident))
	inv.Printf("configuration: generation %d, read %s ago from %s\n",
		st.Generation.Number, terminal.Since(st.Generation.Loaded), st.Generation.Path)
	if st.Console != "" {
		inv.Printf("console: %s\n", st.Console)
	}
	inv.Printf("sessions: %s; messages in memory: %s of %s\n", sessionsText(st.Sessions),
		terminal.SizeOf(uint64(st.Memory.Messages)), terminal.BytesOf(uint64(st.Memory.MaxMessages)))
	printAudit(inv, st.Audit)
	if slices.ContainsFunc(st.Servers, func(s *control.Server) bool { return s.Transport == items.CliTransport }) {
		inv.Printf("sandbox of wrapped programs: %s\n", st.Sandbox)
	}
	inv.Printf("\n")
	var rows [][]string
	for _, s := range st.Servers {
		used := "-"
		if s.LastUsed != nil {
			used = terminal.Since(*s.LastUsed) + " ago"
		}
		rows = append(rows, []string{
			s.Server, s.StateText(), s.Transport, s.Revision, terminal.Number(s.PID), terminal.Number(s.Connections),
			strconv.FormatUint(s.Calls, 10), strconv.FormatUint(s.Errors, 10),
			terminal.Number(s.InFlight), used, offers(s),
		})
	}
	inv.Table([]string{"SERVER", "STATE", "TRANSPORT", "REVISION", "PID", "CONNECTIONS", "CALLS", "ERRORS", "IN FLIGHT",
		"LAST USED", "OFFERS"}, rows)
	printPlugins(inv, st.Plugins)
	printSessions(inv, st.Sessions)
	printClientUses(inv, st.Clients)
	printLimits(inv, st.Limits)
	if f := st.Generation.Failed; f != nil {
		inv.Printf("\nThe last reload failed %s ago; the configuration before stays in effect.\n", terminal.Since(f.At))
		inv.PrintFault("error", f.Error.Fault())
	}
	printRemarks(inv, st.Servers)
}

// printAudit prints the state of the audit log, if there is one.
func printAudit(inv *invocation.Invocation, a *control.Audit) {
	if a == nil {
		return
	}
	line := "audit log: " + terminal.Safe(cmp.Or(a.File, "lines of the process"))
	if a.Failing {
		line += ", which cannot be written"
	}
	if a.Refusing {
		line += "; requests are refused"
	}
	if a.Failing || a.Refusing {
		line += fmt.Sprintf("; events that wait: %d", a.Backlog)
	}
	if a.Dropped > 0 {
		line += fmt.Sprintf("; events that are missing: %d", a.Dropped)
	}
	if a.CopiesFailing > 0 {
		line += fmt.Sprintf("; targets of forward that fail: %d", a.CopiesFailing)
	}
	if a.CopiesDropped > 0 {
		line += fmt.Sprintf("; rows that are missing in copies: %d", a.CopiesDropped)
	}
	inv.Printf("%s\n", line)
}

func printPlugins(inv *invocation.Invocation, all []control.Plugin) {
	var rows [][]string
	for _, p := range all {
		name := p.Plugin
		if p.Servers != "" {
			name += " for " + p.Servers
		}
		rows = append(rows, []string{name, p.Version, p.State, terminal.Number(p.PID), terminal.BytesOf(p.Memory),
			terminal.Number(p.Connections), terminal.Number(p.Restarts)})
	}
	if len(rows) > 0 {
		inv.Printf("\n")
	}
	inv.Table([]string{"PLUGIN", "VERSION", "STATE", "PID", "MEMORY", "CONNECTIONS", "RESTARTS"}, rows)
}

func printSessions(inv *invocation.Invocation, s control.Sessions) {
	var rows [][]string
	for _, one := range s.List {
		who := one.Subject
		if one.Tenant != "" {
			who += " of " + one.Tenant
		}
		rows = append(rows, []string{one.Client, who, one.Revision, terminal.Since(one.Since),
			terminal.Number(one.InFlight), terminal.Number(one.Subscriptions)})
	}
	if len(rows) > 0 {
		inv.Printf("\n")
	}
	inv.Table([]string{"CLIENT", "PRINCIPAL", "REVISION", "CONNECTED FOR", "IN FLIGHT", "SUBSCRIPTIONS"}, rows)
	if more := s.Count - len(s.List); more > 0 {
		inv.Printf("and %s\n", terminal.Count(more, "more session"))
	}
}

// shownClients is the number of principals that a status shows to a person.
const shownClients = 20

// printClientUses prints what principals use of the limits that clients share.
func printClientUses(inv *invocation.Invocation, all []control.ClientUse) {
	var rows [][]string
	for _, u := range all[:min(len(all), shownClients)] {
		rows = append(rows, []string{
			u.Tenant, u.Subject, u.Method, terminal.Number(int(u.Requests)), terminal.Number(int(u.Streams)),
			terminal.Number(int(u.Sessions)), terminal.Number(int(u.Connections)), terminal.BytesOf(uint64(u.Memory)),
		})
	}
	if len(rows) > 0 {
		inv.Printf("\n")
	}
	inv.Table([]string{"TENANT", "SUBJECT", "METHOD", "REQUESTS", "STREAMS", "SESSIONS", "CONNECTIONS", "MESSAGES"},
		rows)
	if len(all) > shownClients {
		inv.Printf("and more; `junctor status --json` has up to %d\n", control.MaxClients)
	}
}

// printLimits prints the tenants and tools whose limits of calls are in use.
func printLimits(inv *invocation.Invocation, all []control.ToolUse) {
	var rows [][]string
	for _, u := range all {
		rows = append(rows, []string{u.Tenant, u.Server, u.Tool, fmt.Sprintf("%.0f %%", 100*u.Used),
			terminal.Number(u.Running), terminal.Number(u.Waiting)})
	}
	if len(rows) > 0 {
		inv.Printf("\n")
	}
	inv.Table([]string{"TENANT", "SERVER", "TOOL", "LIMIT USED", "RUNNING", "WAITING"}, rows)
}

func printProcessTable(inv *invocation.Invocation, all []*control.Status) {
	var rows [][]string
	for _, st := range all {
		states := map[string]int{}
		for _, s := range st.Servers {
			states[s.State]++
		}
		rows = append(rows, []string{
			st.Instance, st.Version, terminal.Duration(time.Duration(st.Uptime) * time.Second), serves(st),
			strconv.Itoa(st.Generation.Number), fmt.Sprintf("%d of %d ready", states["ready"], len(st.Servers)),
			strconv.Itoa(st.Sessions.Count), terminal.BytesOf(st.Memory.Resident), st.Generation.Path,
		})
	}
	inv.Table([]string{"INSTANCE", "VERSION", "UPTIME", "SERVES", "GENERATION", "SERVERS", "SESSIONS", "MEMORY",
		"CONFIGURATION"}, rows)
	fmt.Fprint(inv.Stderr, "note: choose one with --instance\n")
}

func serves(st *control.Status) string {
	if st.Address != "" {
		return st.Transport + " at " + st.Address
	}
	return st.Transport
}

// sessionsText returns the number of sessions, with those that wait for their clients.
func sessionsText(s control.Sessions) string {
	if s.Stored == 0 {
		return strconv.Itoa(s.Count)
	}
	return fmt.Sprintf("%d, and %d stored ones whose clients have not come back", s.Count, s.Stored)
}
