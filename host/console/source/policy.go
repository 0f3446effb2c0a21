package source

import (
	"cmp"
	"net/netip"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/config"
	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/policy/check"
)

// The rules explain the policy in effect.
type rules struct{ *Process }

// Principal implements [console.Policy].
func (p rules) Principal(subject, tenant string) authn.Principal {
	return check.PrincipalNamed(p.Config(), subject, tenant)
}

// Explain implements [console.Policy].
func (p rules) Explain(u console.Use) (x policy.Explanation, err error) {
	q := policy.Query{Principal: &u.Who, Item: policy.Item{Server: u.Tool.Server, Kind: policy.Tool, Name: u.Tool.Name}}
	if _, err := netip.ParseAddr(u.Address); u.Address != "" && err != nil {
		return x, fault.New(fault.Usage, "the address is no address such as 10.0.0.7")
	}
	if u.Time != "" {
		if q.Time, err = config.ParseRequestTime(u.Time, p.Config().Policy.Zone); err != nil {
			return x, fault.New(fault.Usage, "the time: %s", err)
		}
	}
	q.Request = describedRequest{
		address: u.Address,
		client:  u.Client,
		time:    q.Time,
		local:   u.Who.Method == authn.Local().Method,
	}
	return p.Gateway.Explain(q, u.Tool, u.Args), nil
}

// A describedRequest is a request that a person describes. Of the command line all is known. It
// is a value.
type describedRequest struct {
	address, client string
	time            time.Time
	local           bool
}

// Address implements [condition.Request].
func (r describedRequest) Address() string { return cmp.Or(r.address, "local") }

// Client implements [condition.Request].
func (r describedRequest) Client() string { return r.client }

// Knows implements [condition.Sketch].
func (r describedRequest) Knows(member string) bool {
	switch member {
	case "address":
		return r.local || r.address != ""
	case "client":
		return r.local || r.client != ""
	}
	return r.local || !r.time.IsZero()
}

// Named implements [console.Policy].
func (p rules) Named() (all []console.NamedPrincipal) {
	for _, one := range check.NamedPrincipals(p.Config()) {
		all = append(all, console.NamedPrincipal{Name: strings.TrimPrefix(one.String(), "subject "), Who: one.Who})
	}
	return all
}

// Decide implements [console.Policy].
func (p rules) Decide(who *authn.Principal, t *catalog.Tool) policy.Decision {
	q := policy.Query{Principal: who, Item: policy.Item{Server: t.Server, Kind: policy.Tool, Name: t.Name}}
	q.AnyRequest = who.Method != authn.Local().Method // the command line is here, and its time is now
	return p.Gateway.Explain(q, t, nil).Decision
}
