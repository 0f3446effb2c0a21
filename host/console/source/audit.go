package source

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/audit"
	"github.com/junctor-mcp/junctor/host/console"
)

// An auditLog searches the audit log of a process.
type auditLog struct{ *Process }

// Search implements [console.Audit]. It opens the log for itself and closes it, on the
// goroutine of the request.
func (a auditLog) Search(ctx context.Context, f console.AuditFilter) (page console.AuditPage, err error) {
	file := a.AuditFile()
	if file == "" {
		return page, console.ErrAuditOff
	}
	r, err := audit.OpenReader(file)
	if err != nil {
		return page, err
	}
	defer func() { _ = r.Close() }()
	filter := audit.Filter{
		Since: f.Since, Until: f.Until, Server: f.Server, Item: f.Item, Subject: f.Subject,
		Errors: f.Errors, Denied: f.Denied, Uses: f.Uses, Before: f.Before, Limit: f.Limit + 1,
	}
	if kind := audit.Kind(strings.ReplaceAll(f.What, " ", "_")); slices.Contains(audit.Kinds, kind) {
		filter.Kind = kind
	} else {
		filter.Method = f.What
	}
	err = r.Each(ctx, filter, true, func(row audit.Row) bool {
		if len(page.Rows) == f.Limit {
			page.More = true
			return false
		}
		page.Rows = append(page.Rows, rowOf(row))
		return true
	})
	return page, err
}

// columns are the fields that the table of the page shows. The others are details.
var columns = []string{"seq", "time", "subject", "tenant", "server", "item", "outcome", "code", "rule", "duration_ms"}

// rowOf returns a row for the page.
func rowOf(r audit.Row) console.AuditRow {
	row := console.AuditRow{
		Seq:      r.Seq,
		Time:     r.Time,
		What:     whatOf(r),
		Subject:  r.Subject,
		Tenant:   r.Tenant,
		Server:   cmp.Or(r.Server, r.Plugin),
		Item:     r.Item,
		Outcome:  string(r.Outcome),
		Code:     r.Code,
		Message:  cmp.Or(r.Message, r.Detail),
		Rule:     r.Rule,
		Duration: time.Duration(r.DurationMS * float64(time.Millisecond)),
	}
	for _, f := range audit.Fields() {
		if text := strings.TrimSpace(f.Text(&r)); text != "" && !slices.Contains(columns, f.Name) {
			label := f.Label()
			row.Details = append(row.Details, console.Detail{Name: strings.ToUpper(label[:1]) + label[1:], Value: text})
		}
	}
	return row
}

// whatOf returns the method of a request, or the kind of another event in words.
func whatOf(r audit.Row) string {
	if r.Kind == audit.Request {
		return cmp.Or(r.Method, string(r.Kind))
	}
	return strings.ReplaceAll(string(r.Kind), "_", " ")
}
