package authn

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Forwarded authenticates clients by the headers of a proxy in front of the gateway that
// has authenticated them. It ignores the headers of other peers. It is immutable and may be
// used concurrently. Package config/inbound makes it.
type Forwarded struct {
	From   []netip.Prefix // addresses of the proxies
	Unix   bool           // also trust clients of a unix socket
	User   string         // header with the name of the user or of the client's certificate
	Groups string         // header with groups, separated by commas; empty: none
	Tenant string         // header with the tenant; empty: Names has it
	Names  Names
}

var _ Authenticator = Forwarded{}

// ErrForwarded means that a proxy sent headers that name no user.
var ErrForwarded = errors.New("the headers of the proxy name no user")

// Authenticate returns the principal that a proxy names.
func (f Forwarded) Authenticate(r *http.Request) (Principal, error) {
	users := r.Header[f.User]
	if len(users) == 0 {
		return Principal{}, fmt.Errorf("%w: the header %s is absent", ErrMissing, f.User)
	}
	if !f.trusts(r.RemoteAddr) {
		return Principal{}, fmt.Errorf("%w: the header %s of a client that is no proxy is ignored", ErrMissing, f.User)
	}
	p, err := f.principal(r.Header, users)
	if err != nil {
		return Principal{}, fmt.Errorf("%w: %w", ErrForwarded, err)
	}
	return p, nil
}

// principal reads the headers. Each may be present once, because a proxy that adds one
// may have left that of the client in front of it.
func (f Forwarded) principal(h http.Header, users []string) (p Principal, err error) {
	if len(users) > 1 {
		return p, fmt.Errorf("there are %d headers %s", len(users), f.User)
	}
	names := f.Names
	if f.Tenant != "" {
		values := h[f.Tenant]
		if len(values) != 1 {
			return p, fmt.Errorf("there are %d headers %s", len(values), f.Tenant)
		}
		if names.Tenant, err = tenantOf(values[0]); err != nil {
			return p, err
		}
	}
	if p, err = names.principal("forwarded", users[0]); err != nil {
		return p, err
	}
	p.Groups, err = f.groups(h)
	return p, err
}

func (f Forwarded) groups(h http.Header) (all []string, err error) {
	if f.Groups == "" {
		return nil, nil
	}
	values := h[f.Groups]
	if len(values) > 1 {
		return nil, fmt.Errorf("there are %d headers %s", len(values), f.Groups)
	}
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			part = strings.TrimSpace(part)
			switch {
			case part == "":
			case !plainText(part, maxLabel):
				return nil, fmt.Errorf("the header %s has a group longer than %d bytes or with control characters",
					f.Groups, maxLabel)
			case len(all) == maxLabels:
				return nil, fmt.Errorf("the header %s has more than %d groups", f.Groups, maxLabels)
			default:
				all = append(all, part)
			}
		}
	}
	return all, nil
}

// trusts reports whether a peer is a proxy. remote is the address of the connection.
func (f Forwarded) trusts(remote string) bool {
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return f.Unix // a unix socket has no address
	}
	addr := from.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(f.From, func(p netip.Prefix) bool { return p.Contains(addr) })
}
