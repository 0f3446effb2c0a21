package console

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/control"
)

// showSessions writes the page of the sessions. This file has the pages that only show a list,
// and that of the charts. The goroutine of the request runs their functions, which keep no
// state.
func showSessions(w http.ResponseWriter, r *http.Request, q *request) error {
	q.show(w, http.StatusOK, "sessions", "Sessions", struct {
		*control.Status
		Console int
	}{q.sources.Process.Status(r.Context()), q.sessions.count()})
	return nil
}

func showLimits(w http.ResponseWriter, r *http.Request, q *request) error {
	q.show(w, http.StatusOK, "limits", "Limits", q.sources.Process.Status(r.Context()))
	return nil
}

func showPlugins(w http.ResponseWriter, r *http.Request, q *request) error {
	q.show(w, http.StatusOK, "plugins", "Plugins", struct {
		Programs  []Program
		Processes []control.Plugin
	}{q.sources.Programs.Programs(), q.sources.Process.Status(r.Context()).Plugins})
	return nil
}

func showLogins(w http.ResponseWriter, r *http.Request, q *request) error {
	q.show(w, http.StatusOK, "logins", "Logins", q.sources.Logins.Logins(r.Context()))
	return nil
}

func beginLogin(w http.ResponseWriter, r *http.Request, q *request) error {
	server := r.PostForm.Get("server")
	if _, err := q.sources.Logins.Begin(r.Context(), server); err != nil {
		return q.done(w, r, "logins", failure(err))
	}
	q.log.Info("a login begins in the console", "server", server, "by", q.session.name())
	return q.done(w, r, "logins", flash{Text: "The login to " + server + " has begun. Open the page in its row."})
}

// A chartsView is the content of the page of charts.
type chartsView struct {
	Server  string
	Servers []string
	Charts  []chart
	Periods []period
	Costs   []cost
	Tokens  int
}

// A cost is what the tool list of a server uses of a model's context.
type cost struct {
	Server        string
	Tools, Tokens int
	Share         float64 // of all
	Largest       string  // tool
	LargestTokens int
}

func showCharts(w http.ResponseWriter, r *http.Request, q *request) error {
	v := chartsView{Server: r.URL.Query().Get("server"), Servers: q.history.names()}
	if v.Server != "" && !slices.Contains(v.Servers, v.Server) {
		return errNoPage
	}
	samples := q.history.of(v.Server)
	v.Charts, v.Periods = charts(samples), periods(samples)
	v.Costs, v.Tokens = costs(q.sources.Tools.List())
	q.show(w, http.StatusOK, "charts", "Charts", v)
	return nil
}

// costs returns the cost of the tool list of each server, the largest first, and the sum.
func costs(tools []*catalog.Tool) (all []cost, total int) {
	by := map[string][]*catalog.Tool{}
	for _, t := range tools {
		by[t.Server] = append(by[t.Server], t)
	}
	for server, list := range by {
		largest := slices.MaxFunc(list, func(a, b *catalog.Tool) int { return cmp.Compare(a.Tokens(), b.Tokens()) })
		all = append(all, cost{Server: server, Tools: len(list), Tokens: catalog.Cost(list), Largest: largest.Exposed,
			LargestTokens: largest.Tokens()})
	}
	slices.SortFunc(all, func(a, b cost) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), strings.Compare(a.Server, b.Server))
	})
	for _, c := range all {
		total += c.Tokens
	}
	for i := range all {
		all[i].Share = float64(all[i].Tokens) / float64(max(total, 1))
	}
	return all, total
}
