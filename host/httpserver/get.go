package httpserver

import (
	"errors"
	"net/http"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/httpserver/httpconn"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// get opens the common stream of a session, or resumes a stream. Its goroutine writes the
// stream until it ends.
func (srv *Server) get(w http.ResponseWriter, r *http.Request, p authn.Principal, settings *active) {
	if mcp.Revision(r.Header.Get("Mcp-Protocol-Version")).Modern() {
		notAllowed(w, r, "POST")
		return
	}
	switch {
	case !knownVersion(r.Header):
		writeError(w, r, http.StatusBadRequest, errVersion)
		return
	case !acceptOf(r.Header).stream:
		writeError(w, r, http.StatusNotAcceptable, errAcceptGet)
		return
	}
	s, ok := srv.findSession(w, r, p, settings, errSessionNotFound)
	if !ok {
		return
	}
	defer s.Hold()()
	defer httpconn.MarkStream(r)()
	c := s.Client.(*sessionClient)
	reader := &logReader{server: srv, settings: settings, session: s, events: newEventWriter(w, settings.Send)}
	if why, status := reader.startFrom(r.Header, c); why != nil {
		writeError(w, r, status, why)
		return
	}
	taken, release := c.takeStream(reader.number)
	defer release()
	reader.taken = taken
	ctx, done := srv.register(&clientStream{request: r, principal: p, answers: reader.number != sessionstore.Common},
		settings)
	defer done()
	if err := reader.run(ctx); err != nil {
		srv.log.Debug("stream ended", "stream", reader.number, "error", err)
	}
}

// startFrom sets the position where a stream begins. It is the position that
// Last-Event-ID names, else the current one. The first common stream begins
// with the session. It returns an error and a status to send. get calls it, before the reader
// runs.
func (l *logReader) startFrom(h http.Header, c *sessionClient) (*httpError, int) {
	number, at, found, err := lastEvent(h)
	if !found {
		if !c.firstRead() {
			l.at = l.session.Log().Head(sessionstore.Common)
		}
		l.live = true
		return nil, 0
	}
	l.number, l.at, l.missedUntil = number, at, l.session.Log().Head(number)
	if err == nil {
		_, err = l.session.Log().Read(number, at, false, 1)
	}
	if _, gap := errors.AsType[*sessionstore.PurgedError](err); gap {
		return errPurged, http.StatusGone
	}
	if errors.Is(err, sessionstore.ErrNoStream) {
		return errEventID, http.StatusBadRequest
	}
	c.firstRead()
	return nil, 0
}
