package console

import (
	"net/http"
	"strings"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
)

// maxColumns is the number of principals of a page.
const maxColumns = 12

// A policyView is the content of the page of the policy table. The page policy shows the
// decisions about all tools for some principals.
type policyView struct {
	Query, Server, Who string
	Servers            []string
	Columns            []NamedPrincipal
	Named, All         int // principals that the form selects, and in all
	Rows               []policyRow
	Found              int
	pager
}

// A policyRow has the decisions about a tool, one for each column.
type policyRow struct {
	*catalog.Tool
	Cells []policyCell
}

// A policyCell is a decision about a tool for a principal.
type policyCell struct {
	Who     string
	Verdict string
	Rule    string
	Link    string // to the page that explains it; empty: it would have a secret
}

// showPolicy writes the page. The goroutine of the request runs it; it keeps no state.
func showPolicy(w http.ResponseWriter, r *http.Request, q *request) error {
	get := func(name string) string { return cutBytes(strings.TrimSpace(r.URL.Query().Get(name)), maxQuery) }
	v := policyView{Query: get("q"), Server: get("server"), Who: get("who")}
	for _, p := range q.sources.Policy.Named() {
		v.All++
		if !strings.Contains(strings.ToLower(p.Name), strings.ToLower(v.Who)) {
			continue
		}
		if v.Named++; v.Named <= maxColumns {
			v.Columns = append(v.Columns, p)
		}
	}
	var found []*catalog.Tool
	found, v.Servers = findTools(q.sources.Tools.List(), v.Query, v.Server)
	v.Found, v.pager = len(found), pagerOf(pageNumber(r), len(found))
	for _, t := range found[max(v.From-1, 0):v.To] {
		row := policyRow{Tool: t}
		for i := range v.Columns {
			row.Cells = append(row.Cells, q.cell(t, &v.Columns[i]))
		}
		v.Rows = append(v.Rows, row)
	}
	q.show(w, http.StatusOK, "policy", "Policy table", v)
	return nil
}

// cell returns the decision about a tool for a principal.
func (q *request) cell(t *catalog.Tool, p *NamedPrincipal) policyCell {
	d := q.sources.Policy.Decide(&p.Who, t)
	c := policyCell{Who: p.Name, Verdict: d.Verdict.String(), Rule: d.Rule}
	link := "access" + accessQuery(q.views.names.of(t.Exposed), &p.Who)
	if q.hide(link) == link {
		c.Link = link
	}
	return c
}

// accessQuery returns the query of the form that explains the decision about a tool for a
// principal.
func accessQuery(tool string, who *authn.Principal) string {
	tenant := who.Tenant
	if tenant == authn.DefaultTenant {
		tenant = ""
	}
	roles := strings.Join(who.Roles, ",")
	if who.Method != "" { // the form knows those of a static token
		roles = ""
	}
	return query("tool", tool, "subject", who.Subject, "tenant", tenant, "issuer", who.Issuer, "roles", roles, "groups",
		strings.Join(who.Groups, ","))
}
