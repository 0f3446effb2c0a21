package telemetry

import (
	"slices"

	"github.com/junctor-mcp/junctor/host/control"
)

// maxIssuers bounds the series of issuers, and those of listeners. A configuration has few
// of both.
const maxIssuers = 64

// clients sends the metrics about the way in: certificates, keys of issuers, refusals and
// persons that are asked. It is part of a collection, on its goroutine; see status.go. The
// methods of this file keep no state.
func (s statusSample) clients(st *control.Status) {
	s.certificates(st.Certificates)
	s.issuers(st.Issuers)
	for reason, n := range st.Refused {
		s.counter("junctor_refused_clients_total", n, reason)
	}
	s.gauge("junctor_approvals_waiting", float64(st.Waiting))
	if n := st.Notices; n != nil {
		s.counter("junctor_notices_total", uint64(max(0, n.Sent)), "sent")
		s.counter("junctor_notices_total", uint64(max(0, n.Lost)), "lost")
		s.gauge("junctor_notices_queued", float64(n.Queued))
	}
}

// certificates sends the first end for each listener and kind: while a listener moves, there
// are two.
func (s statusSample) certificates(all []control.Certificate) {
	var sent []control.Certificate
	for _, c := range all {
		i := slices.IndexFunc(sent,
			func(o control.Certificate) bool { return o.Listener == c.Listener && o.Kind == c.Kind })
		switch {
		case i < 0:
			sent = append(sent, c)
		case c.Ends.Before(sent[i].Ends):
			sent[i] = c
		}
	}
	for _, c := range sent {
		s.gauge("junctor_certificate_expiry_timestamp_seconds", float64(c.Ends.Unix()), c.Listener, c.Kind)
		s.gauge("junctor_certificate_last_reload_successful", oneIf(c.Error == ""), c.Listener, c.Kind)
	}
}

func (s statusSample) issuers(all []control.Issuer) {
	for _, i := range all[:min(len(all), maxIssuers)] {
		s.gauge("junctor_issuer_keys_usable", oneIf(i.Usable), i.Source)
		s.gauge("junctor_issuer_keys_last_read_successful", oneIf(i.Error == ""), i.Source)
		if i.Read != nil {
			s.gauge("junctor_issuer_keys_read_timestamp_seconds", float64(i.Read.Unix()), i.Source)
		}
	}
}

func (s statusSample) logins(all []control.Login) {
	for _, l := range all {
		if l.State != "unknown" {
			s.gauge("junctor_login_ready", oneIf(l.State == "ready"), l.Server)
		}
		if l.Ends != nil {
			s.gauge("junctor_login_end_timestamp_seconds", float64(l.Ends.Unix()), l.Server)
		}
	}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
