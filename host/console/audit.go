package console

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// An auditView is the content of the page of the audit log.
type auditView struct {
	Off                         bool
	Server, Item, Subject, What string
	Since, Show                 string
	Page                        AuditPage
	Older                       int64 // the rows before this one are on the next page; 0: there are none
	Wrong                       string
	Newer                       bool // this is not the first page
}

// sinces are the times that the audit log is searched for.
var sinces = map[string]time.Duration{"": 0, "1h": time.Hour, "24h": 24 * time.Hour,
	"7d": 7 * 24 * time.Hour, "30d": 30 * 24 * time.Hour}

// filter returns the filter of the form.
func (v *auditView) filter() AuditFilter {
	f := AuditFilter{Server: v.Server, Item: v.Item, Subject: v.Subject, What: v.What, Limit: pageSize}
	switch v.Show {
	case "failures":
		f.Errors = true
	case "denied":
		f.Denied = true
	case "all":
	default: // the method that a person asks for is shown
		f.Uses = v.What == ""
	}
	if span := sinces[v.Since]; span > 0 {
		f.Since = time.Now().Add(-span)
	}
	return f
}

// showAudit writes the page of the rows that the form selects. The goroutine of the request
// runs it, and waits for the search. It keeps no state.
func showAudit(w http.ResponseWriter, r *http.Request, q *request) error {
	get := func(name string) string { return cutBytes(strings.TrimSpace(r.URL.Query().Get(name)), maxName) }
	v := auditView{
		Off: q.sources.Audit == nil, Server: get("server"), Item: get("item"), Subject: get("subject"),
		What: get("what"), Since: get("since"), Show: get("show"),
	}
	if !v.Off {
		f := v.filter()
		f.Before = sequence(get("before"))
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
