package httpserver

import (
	"errors"
	"net/http"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// get opens the common stream of a session, or takes up one that was cut off.
func (f *Server) get(w http.ResponseWriter, r *http.Request, p authn.Principal) {
	if mcp.Revision(r.Header.Get("Mcp-Protocol-Version")).Modern() {
		notAllowed(w, r, "POST")
		return
	}
	switch {
	case !knownVersion(r.Header):
		refuse(w, r, http.StatusBadRequest, errVersion)
		return
	case !accepted(r.Header).stream:
		refuse(w, r, http.StatusNotAcceptable, errAcceptGet)
		return
	}
	s, ok := f.find(w, r, p, errGone)
	if !ok {
		return
	}
	defer s.Hold()()
	defer streams(r)()
	c := s.Client.(*client)
	follow := &follower{front: f, session: s, events: newEvents(w, f.o.Send)}
	if why, status := follow.from(r.Header, c); why != nil {
		refuse(w, r, status, why)
		return
	}
	taken, release := c.follow(follow.number)
	defer release()
	follow.taken = taken
	if err := follow.run(r.Context()); err != nil {
		f.o.Log.Debug("a stream ended", "stream", follow.number, "error", err)
	}
}

// from decides where a stream begins: where the client was cut off, else with
// what comes from now on, and the first time with what the session began with.
func (f *follower) from(h http.Header, c *client) (*httpError, int) {
	number, at, found, err := lastEvent(h)
	if !found {
		if !c.first() {
			f.at = f.session.Log().Head(sessionstore.Common)
		}
		f.live = true
		return nil, 0
	}
	f.number, f.at, f.back = number, at, f.session.Log().Head(number)
	if err == nil {
		_, err = f.session.Log().Read(number, at, false, 1)
	}
	if _, gap := errors.AsType[*sessionstore.PurgedError](err); gap {
		return errPurged, http.StatusGone
	}
	if errors.Is(err, sessionstore.ErrNoStream) {
		return errEventID, http.StatusBadRequest
	}
	c.first()
	return nil, 0
}
