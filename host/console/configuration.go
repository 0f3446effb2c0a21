package console

import (
	"net/http"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/control"
)

// A configurationView is the content of the page of the configuration.
type configurationView struct {
	Generation control.Generation
	Configured
	Reloads  int  // that succeeded
	Again    bool // a reload ends this session
	Reloaded *reloaded
}

// A reloaded is the outcome of a reload.
type reloaded struct {
	Failed bool
	Lines  []string
	Hint   string
	Text   string // diagnostics
}

// showConfiguration writes the page. The goroutine of the request runs it; it keeps no state.
func showConfiguration(w http.ResponseWriter, r *http.Request, q *request) error {
	q.showConfigurationView(w, r, http.StatusOK, nil)
	return nil
}

func (q *request) showConfigurationView(w http.ResponseWriter, r *http.Request, status int, done *reloaded) {
	now := q.sources.Process.Status(r.Context()).Generation
	v := configurationView{
		Generation: now, Reloads: now.Number - 1, Configured: q.sources.Configuration.Configured(),
		Again: !q.session.link, Reloaded: done,
	}
	q.show(w, status, "configuration", "Configuration", v)
}

// reloadConfiguration reads the configuration again. The page shows the outcome itself: the
// reload may have ended the session. It waits for the reload, for at most ReloadTime.
func reloadConfiguration(w http.ResponseWriter, r *http.Request, q *request) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(ReloadTime + sendTime))
	q.log.Info("the configuration is reloaded from the console", "by", q.session.name())
	changed, failed := q.sources.Configuration.Reload(r.Context(), q.session.name()+", in the console")
	if q.role = q.session.role(q.Server.active.Load()); q.role == outsider {
		return errNoSession
	}
	status, done := http.StatusOK, &reloaded{}
	switch {
	case failed != nil:
		status = http.StatusUnprocessableEntity
		done.Failed, done.Text = true, failed.Text
		done.Lines = []string{"The configuration in effect stays: " + failed.Error.Message}
		done.Hint = failed.Error.Hint
	case changed != nil:
		done.Lines, done.Text = changeLines(changed), changed.Text
	default:
		done.Lines = []string{"The reload takes longer than a minute and goes on. Load this page again."}
	}
	q.showConfigurationView(w, r, status, done)
	return nil
}

// ReloadTime bounds the time that a page waits for a reload.
const ReloadTime = time.Minute

// changeLines says what a reload changed.
func changeLines(r *control.Reloaded) (lines []string) {
	for _, part := range []struct {
		what  string
		names []string
	}{{"added", r.Added}, {"changed", r.Changed}, {"removed", r.Removed}} {
		if len(part.names) > 0 {
			lines = append(lines, plural(len(part.names), "server")+" "+part.what+": "+strings.Join(part.names, ", "))
		}
	}
	if lines == nil {
		lines = []string{"No server has changed."}
	}
	for _, p := range r.Restart {
		lines = append(lines, p.Setting+" takes effect after a restart: "+p.Effect)
	}
	return lines
}
