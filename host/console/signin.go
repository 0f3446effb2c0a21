package console

import (
	"errors"
	"net"
	"net/http"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/authn"
)

// A front is the content of the pages without a session. The functions of this file begin and
// end sessions; they are the only pages without one.
type front struct {
	Title   string
	Text    string
	Token   bool // a token signs in
	Local   bool // a one-time link signs in
	Again   bool // offer to sign in
	Version string
}

// front answers with the page to sign in at. A request with a credential in its headers or
// with a client certificate begins a session. The goroutine of the request runs it and the
// functions below.
func (s *Server) front(w http.ResponseWriter, r *http.Request, a *active) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return errMethod("GET, HEAD")
	}
	if a.Auth != nil && r.Method == http.MethodGet {
		who, err := s.identify(r, a)
		switch {
		case err == nil:
			return s.begin(w, r, a, who)
		case !errors.Is(err, authn.ErrMissing):
			return err
		}
	}
	s.views.write(w, http.StatusOK, "signin",
		front{Title: "Sign in", Token: a.Auth != nil, Local: a.local, Version: s.version})
	return nil
}

// identify returns the principal of a request with a credential. The error is
// [authn.ErrMissing] without a credential, or a refusal.
func (s *Server) identify(r *http.Request, a *active) (authn.Principal, error) {
	if !s.attempts.allow(r.RemoteAddr) {
		return authn.Principal{}, errAttempts
	}
	who, err := a.Auth.Authenticate(r)
	if errors.Is(err, authn.ErrMissing) {
		return who, authn.ErrMissing
	}
	if _, down := errors.AsType[*authn.UnavailableError](err); down {
		s.refusals.Log(hclog.Warn, "console", "the console cannot check a credential", "error", err)
		return who, errAuthDown
	}
	if err == nil && a.roleOf(who) == outsider {
		err = errors.New("the subject is neither in admins nor in viewers, and no approver")
	}
	if err != nil {
		s.attempts.fail(r.RemoteAddr)
		s.refused(r.RemoteAddr, err.Error())
		s.refusals.Log(hclog.Warn, "console", "a sign-in to the console was refused",
			"why", err, "subject", who.Subject, "from", r.RemoteAddr)
		return who, errToken
	}
	return who, nil
}

// login signs in with the token of a form.
func (s *Server) login(w http.ResponseWriter, r *http.Request, a *active) error {
	switch {
	case r.Method != http.MethodPost:
		return errMethod("POST")
	case a.Auth == nil:
		return errNoAuth
	}
	if err := parseForm(r); err != nil {
		return err
	}
	asked := r.Clone(r.Context())
	asked.Header, asked.TLS = http.Header{"Authorization": {"Bearer " + r.PostForm.Get("token")}}, nil
	who, err := s.identify(asked, a)
	if errors.Is(err, authn.ErrMissing) {
		err = errToken
	}
	if err != nil {
		return err
	}
	return s.begin(w, r, a, who)
}

// open signs in with a one-time link.
func (s *Server) open(w http.ResponseWriter, r *http.Request, a *active) error {
	switch {
	case r.Method != http.MethodGet: // a HEAD request of a preview does not use the link
		return errMethod("GET")
	case s.ofAnotherUser(r): // the link stays for its user
		return errUser
	case !a.local || !s.links.use(r.URL.Query().Get("key")):
		return errLink
	}
	one, cookie := s.sessions.begin(authn.Local(), true)
	s.enter(w, r, one, cookie, admin)
	return nil
}

// ofAnotherUser reports whether another user of this machine sent a request. Such a user
// can see the link on the command line of a browser that starts.
func (s *Server) ofAnotherUser(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && s.foreign(r.RemoteAddr, local.String())
}

// begin begins the session of a principal.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, a *active, who authn.Principal) error {
	one, cookie := s.sessions.begin(who, false)
	s.enter(w, r, one, cookie, a.roleOf(who))
	return nil
}

// enter sends the browser to the first page of a session.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, one *session, cookie string, as role) {
	s.log.Info("signed in to the console", "subject", one.who.Subject, "tenant", one.who.Tenant,
		"method", one.who.Method, "role", as.String(), "from", r.RemoteAddr)
	one.setCookie(w, r, cookie)
	first := "servers"
	if as < viewer {
		first = "approvals"
	}
	http.Redirect(w, r, one.base()+first, http.StatusSeeOther)
}

// signOut ends the session.
func signOut(w http.ResponseWriter, r *http.Request, q *request) error {
	q.sessions.end(q.session)
	q.session.setCookie(w, r, "")
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}
