package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// printProcesses prints the statuses of running processes: everything about a single one,
// else a line for each. names selects servers.
func (e *env) printProcesses(found []control.Answer, names []string) error {
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
	case e.machine():
		if err := e.printJSON(statusJSON{Processes: all}); err != nil {
			return err
		}
	case len(all) == 1:
		e.printProcess(all[0])
	default:
		e.printProcessTable(all)
	}
	return reported(failureOf(servers))
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
			return withSuggestion(fault.New(fault.UpstreamUnknown, "process %s has no server %q", st.Instance, name), suggest.Nearest(name, known), "junctor status lists them")
		}
	}
	st.Servers = slices.DeleteFunc(st.Servers, func(s *control.Server) bool { return !slices.Contains(names, s.Server) })
	return nil
}

func (e *env) printProcess(st *control.Status) {
	e.printf("process %s: junctor %s, running for %s, serves %s, %s\n", st.Instance, st.Version, duration(time.Duration(st.Uptime)*time.Second), serves(st), bytesOf(st.Memory.Resident))
	e.printf("configuration: generation %d, read %s ago from %s\n", st.Generation.Number, since(st.Generation.Loaded), st.Generation.Path)
	if st.Console != "" {
		e.printf("console: %s\n", st.Console)
	}
	e.printf("sessions: %s; messages in memory: %s of %s\n", sessionsText(st.Sessions), sizeOf(uint64(st.Memory.Messages)), bytesOf(uint64(st.Memory.MaxMessages)))
	e.printAudit(st.Audit)
	if slices.ContainsFunc(st.Servers, func(s *control.Server) bool { return s.Transport == cliTransport }) {
		e.printf("sandbox of wrapped programs: %s\n", st.Sandbox)
	}
	e.printf("\n")
	var rows [][]string
	for _, s := range st.Servers {
		used := "-"
		if s.LastUsed != nil {
			used = since(*s.LastUsed) + " ago"
		}
		rows = append(rows, []string{
			s.Server, s.StateText(), s.Transport, s.Revision, number(s.PID), number(s.Connections), strconv.FormatUint(s.Calls, 10), strconv.FormatUint(s.Errors, 10),
			number(s.InFlight), used, offers(s),
		})
	}
	e.table([]string{"SERVER", "STATE", "TRANSPORT", "REVISION", "PID", "CONNECTIONS", "CALLS", "ERRORS", "IN FLIGHT", "LAST USED", "OFFERS"}, rows)
	e.printPlugins(st.Plugins)
	e.printSessions(st.Sessions)
	e.printClientUses(st.Clients)
	e.printLimits(st.Limits)
	if f := st.Generation.Failed; f != nil {
		e.printf("\nThe last reload failed %s ago; the configuration before stays in effect.\n", since(f.At))
		e.printFault("error", f.Error.Fault())
	}
	e.printRemarks(st.Servers)
}

// printAudit prints the state of the audit log, if there is one.
func (e *env) printAudit(a *control.Audit) {
	if a == nil {
		return
	}
	line := "audit log: " + safe(cmp.Or(a.File, "lines of the process"))
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
	e.printf("%s\n", line)
}

func (e *env) printPlugins(all []control.Plugin) {
	var rows [][]string
	for _, p := range all {
		name := p.Plugin
		if p.Servers != "" {
			name += " for " + p.Servers
		}
		rows = append(rows, []string{name, p.Version, p.State, number(p.PID), bytesOf(p.Memory), number(p.Connections), number(p.Restarts)})
	}
	if len(rows) > 0 {
		e.printf("\n")
	}
	e.table([]string{"PLUGIN", "VERSION", "STATE", "PID", "MEMORY", "CONNECTIONS", "RESTARTS"}, rows)
}

func (e *env) printSessions(s control.Sessions) {
	var rows [][]string
	for _, one := range s.List {
		who := one.Subject
		if one.Tenant != "" {
			who += " of " + one.Tenant
		}
		rows = append(rows, []string{one.Client, who, one.Revision, since(one.Since), number(one.InFlight), number(one.Subscriptions)})
	}
	if len(rows) > 0 {
		e.printf("\n")
	}
	e.table([]string{"CLIENT", "PRINCIPAL", "REVISION", "CONNECTED FOR", "IN FLIGHT", "SUBSCRIPTIONS"}, rows)
	if more := s.Count - len(s.List); more > 0 {
		e.printf("and %s\n", count(more, "more session"))
	}
}

// shownClients is the number of principals that a status shows to a person.
const shownClients = 20

// printClientUses prints what principals use of the limits that clients share.
func (e *env) printClientUses(all []control.ClientUse) {
	var rows [][]string
	for _, u := range all[:min(len(all), shownClients)] {
		rows = append(rows, []string{
			u.Tenant, u.Subject, u.Method, number(int(u.Requests)), number(int(u.Streams)), number(int(u.Sessions)), number(int(u.Connections)), bytesOf(uint64(u.Memory)),
		})
	}
	if len(rows) > 0 {
		e.printf("\n")
	}
	e.table([]string{"TENANT", "SUBJECT", "METHOD", "REQUESTS", "STREAMS", "SESSIONS", "CONNECTIONS", "MESSAGES"}, rows)
	if len(all) > shownClients {
		e.printf("and more; `junctor status --json` has up to %d\n", control.MaxClients)
	}
}

// printLimits prints the tenants and tools whose limits of calls are in use.
func (e *env) printLimits(all []control.ToolUse) {
	var rows [][]string
	for _, u := range all {
		rows = append(rows, []string{u.Tenant, u.Server, u.Tool, fmt.Sprintf("%.0f %%", 100*u.Used), number(u.Running), number(u.Waiting)})
	}
	if len(rows) > 0 {
		e.printf("\n")
	}
	e.table([]string{"TENANT", "SERVER", "TOOL", "LIMIT USED", "RUNNING", "WAITING"}, rows)
}

func (e *env) printProcessTable(all []*control.Status) {
	var rows [][]string
	for _, st := range all {
		states := map[string]int{}
		for _, s := range st.Servers {
			states[s.State]++
		}
		rows = append(rows, []string{
			st.Instance, st.Version, duration(time.Duration(st.Uptime) * time.Second), serves(st), strconv.Itoa(st.Generation.Number),
			fmt.Sprintf("%d of %d ready", states["ready"], len(st.Servers)), strconv.Itoa(st.Sessions.Count), bytesOf(st.Memory.Resident), st.Generation.Path,
		})
	}
	e.table([]string{"INSTANCE", "VERSION", "UPTIME", "SERVES", "GENERATION", "SERVERS", "SESSIONS", "MEMORY", "CONFIGURATION"}, rows)
	fmt.Fprint(e.stderr, "note: choose one with --instance\n")
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
