package console

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/event"
)

// eventGroups are the first words of the types of events. A new group of types in package event
// belongs here, too.
var eventGroups = []string{"process", "reload", "server", "plugin", "session", "tools", "approval", "login"}

// An eventsView is the content of the page of events.
type eventsView struct {
	Group, Server   string
	Groups, Servers []string
	Rows            []eventRow
	Found           int
	pager
}

// An eventRow is an event for people.
type eventRow struct {
	Time    time.Time
	Type    string
	About   string // a server or a plugin; may be empty
	Who     string
	Bad     bool
	Details []Detail
}

// showEvents writes the page. The goroutine of the request runs it; it keeps no state.
func showEvents(w http.ResponseWriter, r *http.Request, q *request) error {
	get := r.URL.Query().Get
	v := eventsView{Group: get("type"), Server: get("server"), Groups: eventGroups}
	for _, s := range q.sources.Process.Status(r.Context()).Servers {
		v.Servers = append(v.Servers, s.Server)
	}
	found := slices.DeleteFunc(q.sources.Journal.Events(), func(e event.Event) bool {
		return v.Group != "" && !strings.HasPrefix(string(e.Type), v.Group+".") ||
			v.Server != "" && e.Server != v.Server
	})
	v.Found, v.pager = len(found), pagerOf(pageNumber(r), len(found))
	for _, e := range found[max(v.From-1, 0):v.To] {
		v.Rows = append(v.Rows, eventRowOf(e))
	}
	q.show(w, http.StatusOK, "events", "Events", v)
	return nil
}

// badEvents are the types of events that tell of a failure.
var badEvents = []event.Type{event.ReloadFailed, event.ServerFailed, event.ServerNeedsAuth, event.PluginCrashed,
	event.PluginQuarantined}

// eventRowOf returns an event for the page.
func eventRowOf(e event.Event) eventRow {
	row := eventRow{Time: e.Time, Type: string(e.Type), About: cmp.Or(e.Server, e.Plugin),
		Bad: slices.Contains(badEvents, e.Type) || e.Error != ""}
	if p := e.Principal; p != nil {
		row.Who = cmp.Or(p.Subject, "tenant "+p.Tenant)
	}
	add := func(name, value string) {
		if value != "" {
			row.Details = append(row.Details, Detail{name, value})
		}
	}
	add("error", e.Error)
	add(cmp.Or(e.Kind, "item"), e.Item)
	add("approval", strings.TrimSpace(e.Approval+" "+e.State))
	add("by", e.Decided)
	add("rule", e.Rule)
	add("client", e.Client)
	for _, list := range []struct {
		name string
		all  []string
	}{{"added", e.Added}, {"changed", e.Changed}, {"removed", e.Removed}, {"held back", e.Held}} {
		add(list.name, strings.Join(list.all, ", "))
	}
	if e.Omitted > 0 {
		add("before it", fmt.Sprintf("%s of sessions left out", plural(e.Omitted, "event")))
	}
	return row
}
