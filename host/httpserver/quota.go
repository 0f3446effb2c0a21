package httpserver

import (
	"fmt"
	"net/http"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/limit"
)

// A requestQuota is a quota and the errors for requests above it.
type requestQuota struct {
	*limit.Quota
	shared bool       // counts the units of each principal
	full   *httpError // all principals together use the quota
	share  *httpError // one principal uses its half
}

// newRequestQuota returns a quota of max units. The errors contain the kind of the
// limit and the configuration attribute that sets it.
func newRequestQuota(of *limit.Quota, max int, kind, attribute string) requestQuota {
	q := requestQuota{Quota: of, shared: of.Each() > 0}
	q.full = &httpError{code: -32000, message: fmt.Sprintf("%s limit reached: %s is %d", kind, attribute, max), reason: "overloaded", modern: -31011}
	q.share = &httpError{code: codeTooManyRequests, message: fmt.Sprintf("%s limit reached: one client may use at most half of %s (%d of %d)", kind, attribute, q.Each(), max),
		reason: "share", modern: -31010}
	return q
}

// key returns the key of a principal in the quota. It is empty if the quota has
// no limit per key. A unit is released with the requestQuota that it was taken from.
func (q requestQuota) key(p authn.Principal) string {
	if !q.shared {
		return ""
	}
	return p.Key()
}

// acquire takes one unit for a principal, or returns the error to send.
func (q requestQuota) acquire(p authn.Principal) *httpError {
	return q.errorFor(q.Acquire(q.key(p), 1))
}

// release returns the unit of a principal.
func (q requestQuota) release(p authn.Principal) { q.Release(q.key(p), 1) }

// errorFor converts an error of the quota.
func (q requestQuota) errorFor(err error) *httpError {
	switch err {
	case nil:
		return nil
	case limit.ErrQuotaShare:
		return q.share
	}
	return q.full
}

// acquire takes a unit of a quota for a request. If there is none, it answers the
// request and reports false.
func (srv *Server) acquire(w http.ResponseWriter, r *http.Request, p authn.Principal, q requestQuota) bool {
	err := q.acquire(p)
	if err != nil {
		writeRetryable(w, r, err.retryStatus(), time.Second, err)
	}
	return err == nil
}
