package httpserver

import (
	"fmt"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/limit"
)

// A requestQuota is a quota and the errors for requests above it. It is immutable but for the
// Quota, which may be used concurrently. A unit that acquire took must be released once.
type requestQuota struct {
	*limit.Quota
	full      *httpError // all clients together use the quota
	tenant    *httpError // a tenant uses its share
	principal *httpError // a principal uses its share
}

// newRequestQuota returns a quota of max units. The errors contain the kind of the limit,
// the attribute that sets it, and the one that sets the shares.
func newRequestQuota(of *limit.Quota, max int, shares limit.Shares, kind, attribute, share string) requestQuota {
	above := func(who, block string, most int64) *httpError {
		return &httpError{code: codeTooManyRequests,
			message: fmt.Sprintf("%s limit reached: %s may use %d of the %d of %s; the share is %s in limits { %s }",
				kind, who, most, max, attribute, share, block),
			reason: "share", modern: -31010}
	}
	return requestQuota{
		Quota: of,
		full: &httpError{code: -32000, message: fmt.Sprintf("%s limit reached: %s is %d", kind, attribute, max),
			reason: "overloaded", modern: -31011},
		tenant:    above("the clients of one tenant", "per_tenant", shares.Tenant),
		principal: above("one client", "per_principal", shares.Principal),
	}
}

// acquire takes one unit for a principal, or returns the error to send.
func (q requestQuota) acquire(p authn.Principal) *httpError {
	return q.errorFor(q.Acquire(p.Owner(), 1))
}

// release returns the unit of a principal.
func (q requestQuota) release(p authn.Principal) { q.Release(p.Owner(), 1) }

// errorFor converts an error of the quota.
func (q requestQuota) errorFor(err error) *httpError {
	switch err {
	case nil:
		return nil
	case limit.ErrTenantShare:
		return q.tenant
	case limit.ErrPrincipalShare:
		return q.principal
	}
	return q.full
}
