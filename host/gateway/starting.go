package gateway

import (
	"fmt"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/outcome"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/upstream"
)

const (
	// startReportEvery is how often a client hears how the start of a server goes
	// on that its request waits for.
	startReportEvery = time.Second
	// startProgress is by how much each report increases the progress: so little
	// that what the server reports later is more.
	startProgress = 1e-6
)

// takeProgress makes the progress of the request go to its client. It reports
// whether the client asked for that.
func (r *pendingRequest) takeProgress() bool {
	token := progressToken(r.params)
	if token == nil {
		return false
	}
	r.progress.begin(r.gw, token, func(params []byte) {
		m := sendqueue.Text(mcp.AppendNotification(nil, mcp.NoteProgress, params))
		m.Transient = true
		sent := outcome.OK
		if !r.out.TrySend(m) {
			sent = outcome.Overloaded
		}
		r.gw.count(Progress, "", sent)
	})
	return true
}

// reportStart tells a client that wants progress how the start of a server goes
// on, until stop is called. It does nothing for a server that is ready. The caller must call
// stop, which waits until the goroutine that reports has ended.
func (r *pendingRequest) reportStart(up *upstream.Upstream) (stop func()) {
	if !r.takeProgress() || up.Status().State == upstream.Ready {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(startReportEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-end:
				return
			}
			if s := up.Status(); s.State == upstream.Starting {
				text := mcp.AppendText(nil, startText(up.Name(), s.Start))
				r.startReports++
				r.progress.report(fmt.Appendf(nil, `{"progress":%g,"message":%s}`,
					float64(r.startReports)*startProgress, text))
			}
		}
	}()
	return func() { close(end); <-ended }
}

// startText says how a start goes on. What the server prints stays in the log.
func startText(server string, s upstream.StartStatus) string {
	taken, allowed := s.Taken.Round(time.Second), s.Allowed.Round(time.Second)
	switch {
	case s.Queued:
		return fmt.Sprintf("server %q waits for its turn to start", server)
	case s.Launcher != "":
		return fmt.Sprintf("starting server %q: %s may be installing it (%s of at most %s)",
			server, s.Launcher, taken, allowed)
	}
	return fmt.Sprintf("starting server %q (%s of at most %s)", server, taken, allowed)
}

// reportStartOf is reportStart for the server that a name belongs to by its
// prefix, when nothing is known of what that server has.
func reportStartOf(r *pendingRequest, exposed string) (stop func()) {
	g := r.gw
	server, ok := g.catalog.UnknownByPrefix(exposed, toolLists)
	if !ok || r.generation.upstream(server) == nil {
		return func() {}
	}
	return r.reportStart(r.generation.upstream(server))
}
