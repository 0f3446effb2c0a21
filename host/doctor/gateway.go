package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/control"
)

// A Certificate is the tls block of a listener.
type Certificate struct {
	Listener string // gateway or console
	At       string
	// Read reads the files, and returns when the certificate of the listener begins and ends,
	// and when the last authority of clients ends: zero without one.
	Read func() (CertificateTimes, error)
}

// CertificateTimes says how long the files of a listener are valid.
type CertificateTimes struct {
	Cert, ClientCA              string // files
	Begins, Ends, AuthorityEnds time.Time
}

// Certificates returns a check of the certificates of the listeners: whether the files can
// be used, and whether they end soon.
func Certificates(all []Certificate) Check {
	return Check{"certificates", func(context.Context) (found []Finding) {
		for _, c := range all {
			for _, f := range certificate(c, time.Now()) {
				f.At = c.At
				found = append(found, f)
			}
		}
		return found
	}}
}

func certificate(c Certificate, now time.Time) (found []Finding) {
	t, err := c.Read()
	if err != nil {
		return []Finding{{Severity: Error,
			Message: fmt.Sprintf("the certificate of the %s cannot be used: %s", c.Listener, err),
			Remedy:  "write a certificate and its key in PEM to the files of the tls block; a running process uses the ones before until it ends"}}
	}
	if !t.AuthorityEnds.IsZero() {
		found = append(found, ends(fmt.Sprintf("the authority of clients of the %s, %s,", c.Listener, t.ClientCA),
			"add the next authority to the file of client_ca; it is read without a restart", time.Time{},
			t.AuthorityEnds, now)...)
	}
	return append(found, ends(fmt.Sprintf("the certificate of the %s, %s,", c.Listener, t.Cert),
		"renew "+t.Cert+" and its key; they are read without a restart", t.Begins, t.Ends, now)...)
}

// ends reports a certificate that has ended or ends soon. Short certificates are renewed
// later; a zero begin is that of a long one.
func ends(subject, remedy string, begins, end, now time.Time) []Finding {
	left := end.Sub(now)
	switch {
	case left <= 0:
		return []Finding{{Severity: Error,
			Message: fmt.Sprintf("%s ended on %s: no client can connect", subject, day(end)), Remedy: remedy}}
	case begins.After(now):
		return []Finding{{Severity: Error,
			Message: fmt.Sprintf("%s is not valid before %s", subject, begins.UTC().Format(time.DateTime)),
			Remedy:  "run `date` and correct the clock if it is wrong; otherwise " + remedy}}
	case left > certificateSoon, !begins.IsZero() && left > end.Sub(begins)/5:
		return nil
	}
	return []Finding{{Severity: Warning, Message: fmt.Sprintf("%s ends on %s", subject, day(end)), Remedy: remedy}}
}

// An Issuer is a source of keys that verify tokens of clients.
type Issuer struct {
	Source string
	At     string
	Check  func(ctx context.Context) error
}

// Issuers returns a check for each source of keys: whether they can be read.
func Issuers(all []Issuer) []Check {
	var checks []Check
	for _, i := range all {
		checks = append(checks, Check{"issuers", func(ctx context.Context) []Finding {
			err := i.Check(ctx)
			if err == nil {
				return nil
			}
			return []Finding{{
				Severity: Error,
				Message: fmt.Sprintf("the keys of %s cannot be read, so its tokens cannot be verified: %s",
					i.Source, err), At: i.At,
				Remedy: "check the URL and the network; clients get 503 once known keys are 24 hours old",
			}}
		}})
	}
	return checks
}

// manyRefused is the number of refused requests that is reported. Clients that log in are
// refused once, without a credential.
const manyRefused = 20

// ofClients reports what keeps clients of a running process away, or soon will.
func ofClients(s *control.Status, add func(severity Severity, remedy, format string, args ...any)) {
	for _, c := range s.Certificates {
		if c.Error != "" && c.Kind == "cert" {
			add(Error, "correct the files of the tls block of the "+c.Listener+"; they are read without a restart",
				"uses the certificate before, which ends on %s: the one that %s has now cannot be used: %s",
				day(c.Ends), c.File, c.Error)
		}
	}
	for _, i := range s.Issuers {
		switch {
		case !i.Usable && i.Error != "":
			add(Error, "check the URL and the network of the gateway",
				"refuses all tokens of %s, because its keys cannot be read: %s", i.Source, i.Error)
		case i.Error != "":
			add(Warning, "check the URL and the network of the gateway; known keys are used for 24 hours",
				"cannot read the keys of %s again: %s", i.Source, i.Error)
		}
	}
	ofAudit(s.Audit, add)
	if s.Waiting > 0 {
		add(Warning, "run `junctor approvals`", "has %d calls that wait for an approval", s.Waiting)
	}
	if n := s.Notices; n != nil && n.Lost > 0 {
		add(Warning, "start the receiver of the notify block, or correct the block",
			"has lost %d notices since it started", n.Lost)
	}
	if text := refusals(s.Refused); text != "" {
		add(Warning,
			"run `junctor logs --instance "+s.Instance+
				"`, which has the addresses; docs/monitoring.md explains the reasons",
			"has refused requests of clients since it started: %s", text)
	}
}

// ofAudit reports an audit log that is not complete, and copies of it that are not.
func ofAudit(a *control.Audit, add func(severity Severity, remedy, format string, args ...any)) {
	if a == nil {
		return
	}
	if a.Failing || a.Refusing {
		add(Error, "make space on the disk of "+a.File+", and run `junctor audit verify`",
			"cannot write its audit log: %d events wait", a.Backlog)
	}
	if a.Dropped > 0 {
		add(Error, "make space on the disk of the audit log; the row \"loss\" says which time is missing",
			"has not recorded %d events since it started", a.Dropped)
	}
	const remedy = "check the receivers of forward in the audit block; `junctor logs` has the error of each, and `junctor audit export --after` has the rows"
	if a.CopiesFailing > 0 {
		add(Error, remedy, "cannot send copies of its audit log to %d targets", a.CopiesFailing)
	}
	if a.CopiesDropped > 0 {
		add(Warning, remedy, "has lost %d rows in copies of its audit log since it started", a.CopiesDropped)
	}
}

// refusals lists the reasons of many refusals, most frequent first. Requests without a
// credential are usual.
func refusals(by map[string]uint64) string {
	var all []string
	for _, reason := range slices.SortedFunc(maps.Keys(by),
		func(a, b string) int { return int(min(by[b], 1<<30)) - int(min(by[a], 1<<30)) }) {
		if by[reason] >= manyRefused && reason != "no_credential" {
			all = append(all, fmt.Sprintf("%d %s", by[reason], reason))
		}
	}
	return strings.Join(all, ", ")
}
