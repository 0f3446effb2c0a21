package console

import (
	"crypto/subtle"
	"errors"
	"mime"
	"net/http"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/httpserver/origin"
)

// contentPolicy is the Content Security Policy of every page. Nothing inline runs, nothing of
// another server is loaded, and no other page may frame this one. This file has the checks that
// every request passes, and the answers to those that fail. A weaker rule is a hole, so tests
// compare them.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// setHeaders sets the headers of every response.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-store")
}

// A refusal is why a request is not answered with its page. It is immutable.
type refusal struct {
	status int
	title  string
	text   string
	allow  string // the methods of the page; empty: the method is not the reason
}

func (e *refusal) Error() string { return e.title }

var (
	errHost = &refusal{status: http.StatusForbidden, title: "Unknown host name",
		text: "The address of this page names a host that the console does not know. Open it at the address that Junctor printed, or add the name to hosts in the console block."}
	errOrigin = &refusal{status: http.StatusForbidden, title: "Request of another page refused",
		text: "This request came from a page of another site. Type the address of the console, or open the link that junctor console prints."}
	errNoPage = &refusal{status: http.StatusNotFound, title: "No such page",
		text: "The console has no page at this address."}
	errNoSession = &refusal{status: http.StatusUnauthorized, title: "Not signed in",
		text: "There is no session for this page in this browser, or it has ended. Sign in again."}
	errForm = &refusal{status: http.StatusForbidden, title: "Form not accepted",
		text: "The form does not belong to this session. Load the page again and repeat what you did."}
	errFormType = &refusal{status: http.StatusUnsupportedMediaType, title: "Form not accepted",
		text: "A form is sent as application/x-www-form-urlencoded."}
	errFormSize = &refusal{status: http.StatusRequestEntityTooLarge, title: "Form too large",
		text: "A form has at most 256 KiB."}
	errRole = &refusal{status: http.StatusForbidden, title: "Not allowed",
		text: "A viewer sees the pages of the console. Only an admin acts."}
	errLink = &refusal{status: http.StatusForbidden, title: "Link not valid",
		text: "The link was used already, or is older than five minutes. Run junctor console for another one."}
	errUser = &refusal{status: http.StatusForbidden, title: "Link of another user",
		text: "Only the user who runs Junctor opens this link."}
	errToken = &refusal{status: http.StatusUnauthorized, title: "Not signed in",
		text: "The token is not accepted, or its subject is neither in admins nor in viewers of the console block."}
	errAttempts = &refusal{status: http.StatusTooManyRequests, title: "Too many attempts",
		text: "Too many sign-ins of your network failed. Wait a minute."}
	errAuthDown = &refusal{status: http.StatusServiceUnavailable, title: "Sign-in not possible now",
		text: "The token cannot be checked at the moment. The log of Junctor says why."}
	errNoAuth = &refusal{status: http.StatusForbidden, title: "No sign-in with a token",
		text: "The configuration has no auth block in gateway.http. Run junctor console for a link."}
	errBusyTries = &refusal{status: http.StatusServiceUnavailable, title: "Too many calls",
		text: "The console makes at most eight calls at a time. Try again when one has ended."}
)

func errMethod(allow string) error {
	return &refusal{status: http.StatusMethodNotAllowed, title: "Method not allowed",
		text: "This address answers " + allow + ".", allow: allow}
}

// checkOrigin refuses a request that another page may have sent. Browsers send a form with
// the origin "null" because of the Referrer-Policy of the page; they then say with
// Sec-Fetch-Site, which no page can set, that the page is of this origin.
func checkOrigin(a *active, r *http.Request) error {
	if a.origin.CheckHost(r) != nil {
		return errHost
	}
	if sent, site := r.Header["Origin"], r.Header["Sec-Fetch-Site"]; len(sent) == 1 && sent[0] == "null" &&
		len(site) == 1 && site[0] == "same-origin" {
		return nil
	}
	switch err := a.origin.Check(r); {
	case errors.Is(err, origin.ErrHost):
		return errHost
	case err != nil:
		return errOrigin
	}
	return nil
}

// parseForm reads the form of a request.
func parseForm(r *http.Request) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/x-www-form-urlencoded" {
		return errFormType
	}
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return errFormSize
		}
		return errForm
	}
	return nil
}

// checkForm reads the form of a request and checks that a page of the session sent it.
func (q *request) checkForm(r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	sent := r.PostForm["csrf"]
	if len(sent) != 1 || subtle.ConstantTimeCompare([]byte(sent[0]), []byte(q.session.csrf)) != 1 {
		return errForm
	}
	return nil
}

// refuse answers a request with the reason why it is refused.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	e, ok := errors.AsType[*refusal](err)
	if !ok {
		s.log.Error("a page of the console failed", "error", err)
		e = &refusal{status: http.StatusInternalServerError, title: "Internal error", text: fault.As(err).Message}
	}
	if e.allow != "" {
		w.Header().Set("Allow", e.allow)
	}
	if e.status == http.StatusForbidden || e.status == http.StatusUnauthorized && r.Method == http.MethodPost {
		s.refusals.Log(hclog.Warn, "console", "the console refused a request",
			"why", e.title, "method", r.Method, "from", r.RemoteAddr)
	}
	a := s.active.Load()
	s.views.write(w, e.status, "refused", front{Title: e.title, Text: e.text, Token: a.Auth != nil, Local: a.local,
		Again: e != errHost && e != errOrigin, Version: s.version})
}
