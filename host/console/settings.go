package console

import (
	"net"
	"slices"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/httpserver/origin"
	"github.com/junctor-mcp/junctor/host/loopback"
	"github.com/junctor-mcp/junctor/host/policy"
)

// Settings are what a reload can change. They are immutable. The functions may be called
// concurrently.
type Settings struct {
	// Admins and Viewers are subjects and groups of principals. A viewer sees the pages, an
	// admin also acts. Roles of credentials have no effect here.
	Admins, Viewers []policy.Holder
	// Approver reports whether the policy names a principal as an approver, who sees the calls
	// that they may answer; nil: it names none.
	Approver func(authn.Principal) bool
	// Barred reports whether the policy denies a principal everything; nil: there is none.
	Barred func(authn.Principal) bool
	// Auth authenticates people with credentials. Nil: only the one-time link signs in.
	Auth authn.Authenticator
	// Address is the address of the listener.
	Address net.Addr
	// Hosts are allowed Host headers besides the address itself.
	Hosts []string
}

// A role says what a person may do.
type role int

const (
	outsider role = iota
	approver
	viewer
	admin
)

func (r role) String() string { return [...]string{"", "approver", "viewer", "admin"}[r] }

// active is the settings in effect. It is immutable. Only Apply and New make one.
type active struct {
	Settings
	origin origin.Policy
	local  bool // only this machine reaches the listener
}

func activate(s Settings) *active {
	at := origin.AddressOf(s.Address)
	tcp, ok := s.Address.(*net.TCPAddr)
	return &active{
		Settings: s, origin: origin.Policy{Address: &at, Hosts: s.Hosts},
		local: ok && loopback.Is(tcp.IP.String()),
	}
}

// roleOf returns the role of an authenticated principal. A client without a credential
// has none, whatever its subject.
func (a *active) roleOf(p authn.Principal) role {
	named := func(h policy.Holder) bool { return h.NamedBy(&p) }
	switch {
	case p.Method == "" || p.Method == authn.Anonymous().Method || p.Method == authn.Local().Method:
		return outsider
	case a.Barred != nil && a.Barred(p):
		return outsider
	case slices.ContainsFunc(a.Admins, named):
		return admin
	case slices.ContainsFunc(a.Viewers, named):
		return viewer
	case a.Approver != nil && a.Approver(p):
		return approver
	}
	return outsider
}
