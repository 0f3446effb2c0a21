package doctor

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/control"
)

// TestProcessesNameWhatIsLost compares the findings about clients of a running process.
func TestProcessesNameWhatIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		status   control.Status
		severity Severity
		message  string // a part; empty: nothing is found
	}{
		"a fresh gateway": {control.Status{Refused: map[string]uint64{"no_credential": 500, "expired": 3},
			Issuers: []control.Issuer{{Usable: true}, {}}}, "", ""},
		"refused clients": {control.Status{Refused: map[string]uint64{"expired": 30, "origin": 40, "audience": 2}},
			Warning, "has refused requests of clients since it started: 40 origin, 30 expired"},
		"approvals":    {control.Status{Waiting: 2}, Warning, "has 2 calls that wait for an approval"},
		"lost notices": {control.Status{Notices: &control.Notices{Lost: 3}}, Warning, "has lost 3 notices"},
		"an audit log that fails": {control.Status{Audit: &control.Audit{File: "a.db", Failing: true, Backlog: 9}},
			Error, "cannot write its audit log: 9 events wait"},
		"lost events": {control.Status{Audit: &control.Audit{Dropped: 4}}, Error,
			"has not recorded 4 events"},
		"targets that fail": {control.Status{Audit: &control.Audit{CopiesFailing: 2}}, Error,
			"cannot send copies of its audit log to 2 targets"},
		"lost copies": {control.Status{Audit: &control.Audit{CopiesDropped: 8000}}, Warning,
			"has lost 8000 rows in copies"},
		"keys that are old": {
			control.Status{Issuers: []control.Issuer{{Source: "idp", Usable: true, Error: "refused"}}},
			Warning, "cannot read the keys of idp again: refused",
		},
		"keys that are missing": {control.Status{Issuers: []control.Issuer{{Source: "idp", Error: "refused"}}}, Error,
			"refuses all tokens of idp"},
		"a certificate's failure": {control.Status{
			Certificates: []control.Certificate{{Listener: "gateway", Kind: "cert", File: "gw.pem", Error: "no PEM"}},
		}, Error, "the one that gw.pem has now cannot be used: no PEM"},
	} {
		found := ofProcess(&c.status, "")
		if c.message == "" {
			if len(found) > 0 {
				t.Errorf("%s: %+v", name, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Severity != c.severity || !strings.Contains(found[0].Message, c.message) ||
			found[0].Remedy == "" {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestLogins compares the findings about logins.
func TestLogins(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		state LoginState
		want  Severity
	}{
		"missing":       {LoginState{State: "needs_login"}, Error},
		"expired":       {LoginState{State: "ready", Expires: now.Add(-time.Second)}, Error},
		"ends soon":     {LoginState{State: "ready", Ends: now.Add(time.Hour)}, Warning},
		"ends later":    {LoginState{State: "ready", Ends: now.Add(48 * time.Hour)}, ""},
		"renews itself": {LoginState{State: "ready", Expires: now.Add(time.Minute)}, ""},
		"unknown":       {LoginState{State: "unknown"}, ""},
	} {
		found := Logins([]Login{
			{Server: "far", State: func(context.Context) (LoginState, error) { return c.state, nil }},
		})[0].Run(t.Context())
		switch {
		case c.want == "" && len(found) > 0, c.want != "" && (len(found) != 1 || found[0].Severity != c.want):
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// TestShortCertificatesEndLater does not warn of a certificate of a few days before its last
// fifth.
func TestShortCertificatesEndLater(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		begins, ends time.Duration
		want         Severity
	}{
		"a year, ends soon": {-8000 * time.Hour, 48 * time.Hour, Warning},
		"a week, is new":    {-time.Hour, 160 * time.Hour, ""},
		"a week, is old":    {-150 * time.Hour, 18 * time.Hour, Warning},
		"not valid yet":     {time.Hour, 8000 * time.Hour, Error},
		"ended":             {-8000 * time.Hour, -time.Hour, Error},
	} {
		found := certificate(Certificate{Listener: "gateway", Read: func() (CertificateTimes, error) {
			return CertificateTimes{Cert: "gw.pem", Begins: now.Add(c.begins), Ends: now.Add(c.ends)}, nil
		}}, now)
		switch {
		case c.want == "" && len(found) > 0, c.want != "" && (len(found) != 1 || found[0].Severity != c.want):
			t.Errorf("%s: %+v", name, found)
		}
	}
}
