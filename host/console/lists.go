package console

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/control"
)

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

// An auditView is the content of the page of the audit log.
type auditView struct {
	Off                         bool
	Server, Item, Subject, Kind string
	Since                       string
	Errors, Denied              bool
	Page                        AuditPage
	Older                       int64 // the rows before this one are on the next page; 0: there are none
	Wrong                       string
	Newer                       bool // this is not the first page
}

// sinces are the times that the audit log is searched for.
var sinces = map[string]time.Duration{"": 0, "1h": time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour, "30d": 30 * 24 * time.Hour}

func showAudit(w http.ResponseWriter, r *http.Request, q *request) error {
	get := func(name string) string { return cutBytes(strings.TrimSpace(r.URL.Query().Get(name)), maxName) }
	v := auditView{
		Off: q.sources.Audit == nil, Server: get("server"), Item: get("item"), Subject: get("subject"), Kind: get("kind"), Since: get("since"),
		Errors: get("errors") != "", Denied: get("denied") != "",
	}
	if !v.Off {
		f := AuditFilter{Server: v.Server, Item: v.Item, Subject: v.Subject, Kind: v.Kind, Errors: v.Errors, Denied: v.Denied, Before: sequence(get("before")), Limit: pageSize}
		if span := sinces[v.Since]; span > 0 {
			f.Since = time.Now().Add(-span)
		}
		page, err := q.sources.Audit.Search(r.Context(), f)
		switch {
		case errors.Is(err, ErrAuditOff):
			v.Off = true
		case err != nil:
			v.Wrong = failure(err).Text
		}
		v.Page, v.Newer = page, f.Before > 0
		if page.More && len(page.Rows) > 0 {
			v.Older = page.Rows[len(page.Rows)-1].Seq
		}
	}
	q.show(w, http.StatusOK, "audit", "Audit log", v)
	return nil
}

// sequence reads a sequence number; 0 if it is none.
func sequence(text string) (n int64) {
	if len(text) > 18 {
		return 0
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int64(c-'0')
	}
	return n
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
		all = append(all, cost{Server: server, Tools: len(list), Tokens: catalog.Cost(list), Largest: largest.Exposed, LargestTokens: largest.Tokens()})
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
