package console

import (
	"net/http"

	"github.com/junctor-mcp/junctor/host/control"
)

// A request is for a page of a session. The goroutine of the HTTP request owns it.
type request struct {
	*Server
	active  *active
	session *session
	role    role
	name    string
	page    page
}

// A page of a session. show answers GET, act answers a form.
type page struct {
	title string
	show  func(w http.ResponseWriter, r *http.Request, q *request) error
	act   func(w http.ResponseWriter, r *http.Request, q *request) error
	needs role // for act
	sees  role // approver opens the page to approvers, too; the zero value: viewers and admins alone see it
}

// pages are all pages by their names in the path. Only init writes it. A new page is a line
// there, a template in pages/, and perhaps an entry of navigation.
var pages map[string]page

func init() {
	pages = map[string]page{
		"servers":  {title: "Servers", show: showServers},
		"server":   {title: "Server", show: showServer},
		"restart":  {act: restartServer, needs: admin},
		"accept":   {act: acceptTools, needs: admin},
		"tools":    {title: "Tools", show: showTools},
		"tool":     {title: "Tool", show: showTool, act: tryTool, needs: admin},
		"items":    {title: "Resources and prompts", show: showItems},
		"item":     {title: "Resource or prompt", show: showItem, act: readItem, needs: admin},
		"access":   {title: "Who may use it", show: showAccess, act: explainAccess, needs: viewer},
		"policy":   {title: "Policy table", show: showPolicy},
		"sessions": {title: "Sessions", show: showSessions},
		"approvals": {title: "Approvals", show: showApprovals, act: answerApproval, needs: approver,
			sees: approver},
		"logins":        {title: "Logins", show: showLogins, act: beginLogin, needs: admin},
		"plugins":       {title: "Plugins", show: showPlugins, act: acceptProgram, needs: admin},
		"limits":        {title: "Limits", show: showLimits},
		"audit":         {title: "Audit log", show: showAudit},
		"log":           {title: "Log", show: showLog},
		"events":        {title: "Events", show: showEvents},
		"configuration": {title: "Configuration", show: showConfiguration, act: reloadConfiguration, needs: admin},
		"charts":        {title: "Charts", show: showCharts},
		"sign-out":      {act: signOut, needs: approver},
	}
}

// shownTo reports whether a role sees the page.
func (p page) shownTo(r role) bool { return r >= viewer || p.sees != outsider && r >= p.sees }

// A link is an entry of the navigation.
type link struct {
	Page, Title string
	Current     bool
	Count       int // of what waits; 0 is not shown
}

// navigation lists the pages that every page links to.
var navigation = []string{"servers", "tools", "items", "access", "policy", "sessions", "approvals", "logins", "plugins",
	"limits", "charts", "log", "events", "audit", "configuration"}

// parents are the entries of the navigation for the pages that are not in it.
var parents = map[string]string{"server": "servers", "tool": "tools", "item": "items"}

// A view is the content of a page of a session.
type view struct {
	Title   string
	Links   []link
	CSRF    string
	Admin   bool
	Role    string
	Name    string // of the person
	Flash   flash
	Version string
	Data    any
}

// show writes a page.
func (q *request) show(w http.ResponseWriter, status int, template, title string, data any) {
	v := view{
		Title: title, CSRF: q.session.csrf, Admin: q.role >= admin, Role: q.role.String(), Name: q.session.name(),
		Flash: q.session.takeFlash(), Version: q.version, Data: data,
	}
	current := q.name
	if parent, ok := parents[q.name]; ok {
		current = parent
	}
	for _, name := range navigation {
		if !pages[name].shownTo(q.role) {
			continue
		}
		l := link{Page: name, Title: pages[name].title, Current: name == current}
		if name == "approvals" {
			l.Count = waiting(q.approvals())
		}
		v.Links = append(v.Links, l)
	}
	q.views.write(w, status, template, v)
}

// waiting counts the calls that wait for an answer.
func waiting(all []control.Approval) (n int) {
	for _, a := range all {
		if a.State == "waiting" {
			n++
		}
	}
	return n
}

// done sends the browser to a page after an action, which shows what came of it.
func (q *request) done(w http.ResponseWriter, r *http.Request, page string, f flash) error {
	q.session.setFlash(f)
	http.Redirect(w, r, q.session.base()+page, http.StatusSeeOther)
	return nil
}
