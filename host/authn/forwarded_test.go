package authn

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// TestForwardedTrustsProxiesOnly sends the headers of a proxy from proxies and from other
// peers, repeated, malformed and under similar names.
func TestForwardedTrustsProxiesOnly(t *testing.T) {
	f := Forwarded{
		From: []netip.Prefix{netip.MustParsePrefix("10.0.0.5/32"), netip.MustParsePrefix("2001:db8::/64")},
		User: "X-Forwarded-User", Groups: "X-Forwarded-Groups", Names: Names{Tenant: "acme"},
	}
	const user, groups, proxy = "X-Forwarded-User", "X-Forwarded-Groups", "10.0.0.5:4711"
	for what, c := range map[string]struct {
		from    string
		headers []string
		want    string
		err     error
	}{
		"a user":               {proxy, []string{user, "alice"}, "alice", nil},
		"a user, IPv6":         {"[2001:db8::17]:1", []string{user, "alice"}, "alice", nil},
		"a user, IPv4 in IPv6": {"[::ffff:10.0.0.5]:1", []string{user, "alice"}, "alice", nil},
		"with groups":          {proxy, []string{user, "alice", groups, " dev, ops ,,"}, "alice", nil},
		"another peer":         {"10.0.0.6:4711", []string{user, "alice"}, "", ErrMissing},
		"this machine":         {"127.0.0.1:4711", []string{user, "alice"}, "", ErrMissing},
		"a unix socket":        {"@", []string{user, "alice"}, "", ErrMissing},
		"a peer that names the proxy": {"10.0.0.6:4711",
			[]string{user, "alice", "X-Forwarded-For", "10.0.0.5", "Forwarded", "for=10.0.0.5"}, "", ErrMissing},
		"no header":           {proxy, nil, "", ErrMissing},
		"a similar header":    {proxy, []string{"X_forwarded_user", "alice"}, "", ErrMissing},
		"another header":      {proxy, []string{"X-Remote-User", "alice"}, "", ErrMissing},
		"twice":               {proxy, []string{user, "alice", user, "admin"}, "", ErrForwarded},
		"twice the same":      {proxy, []string{user, "alice", user, "alice"}, "", ErrForwarded},
		"empty":               {proxy, []string{user, ""}, "", ErrForwarded},
		"long":                {proxy, []string{user, strings.Repeat("a", maxSubject+1)}, "", ErrForwarded},
		"a control character": {proxy, []string{user, "alice\x1b[2J"}, "", ErrForwarded},
		"reordered text":      {proxy, []string{user, "alice\u202e"}, "", ErrForwarded},
		"not UTF-8":           {proxy, []string{user, "alice\xff"}, "", ErrForwarded},
		"groups twice":        {proxy, []string{user, "alice", groups, "dev", groups, "admin"}, "", ErrForwarded},
		"too many groups": {proxy, []string{user, "alice", groups, strings.Repeat("g,", maxLabels+1)}, "",
			ErrForwarded},
		"a long group": {proxy, []string{user, "alice", groups, strings.Repeat("g", maxLabel+1)}, "", ErrForwarded},
	} {
		r := newRequest(c.headers...)
		r.RemoteAddr = c.from
		p, err := f.Authenticate(r)
		if p.Subject != c.want || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%s: %+v, %v", what, p, err)
		}
		if what == "with groups" && !slices.Equal(p.Groups, []string{"dev", "ops"}) {
			t.Errorf("groups %q", p.Groups)
		}
	}
}

func TestForwardedTenantHeader(t *testing.T) {
	f := Forwarded{Unix: true, User: "X-Forwarded-User", Tenant: "X-Tenant"}
	for _, c := range []struct {
		tenants []string
		want    string
	}{
		{[]string{"acme"}, "acme"}, {nil, ""}, {[]string{"acme", "other"}, ""}, {[]string{""}, ""},
		{[]string{"local"}, ""}, {[]string{"../acme"}, ""},
	} {
		r := newRequest("X-Forwarded-User", "alice")
		r.RemoteAddr = "@"
		r.Header["X-Tenant"] = c.tenants
		p, err := f.Authenticate(r)
		if p.Tenant != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %+v, %v", c.tenants, p, err)
		}
	}
}

// TestForwardedNames checks a certificate's name that a proxy passes on.
func TestForwardedNames(t *testing.T) {
	f := Forwarded{Unix: true, User: "X-Client-Cert-Cn",
		Names: Names{Allowed: []string{"agent-1"}, Tenants: map[string]string{"agent-1": "acme"}}}
	for name, want := range map[string]string{"agent-1": "acme", "agent-1.internal.evil": "",
		"AGENT-1": "", "agent-1,agent-2": ""} {
		r := &http.Request{RemoteAddr: "@", Header: http.Header{"X-Client-Cert-Cn": {name}}}
		if p, err := f.Authenticate(r); p.Tenant != want || (err == nil) != (want != "") {
			t.Errorf("%q: %+v, %v", name, p, err)
		}
	}
}
