package console

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
)

// The limits of requests.
const (
	MaxHeader = 16 << 10 // bytes; for the HTTP server
	maxBusy   = 64       // requests at a time
	sendTime  = 30 * time.Second
)

// Options configure a [Server]. They do not change after New. Functions may be called
// concurrently.
type Options struct {
	Sources  Sources
	Settings Settings // those at the start; see Server.Apply
	Log      hclog.Logger
	Hide     func(string) string // masks secrets in a text; nil: there are none
	Version  string              // of Junctor
	// Foreign reports whether another user of this machine is at the other end of a
	// connection; nil: that is not known.
	Foreign func(remote, local string) bool
	// Refused takes note of a sign-in that was refused, with the address of the client;
	// nil: nothing does.
	Refused func(remote, why string)
}

// A Server serves the pages. Its methods may be called concurrently. The fields are set by New;
// active is replaced by Apply, and the others have locks of their own. busy and trying hold a
// token for each request in progress. Package host makes one when the console is first served,
// and it lasts as long as the process.
type Server struct {
	sources  Sources
	log      hclog.Logger
	refusals *limit.Lines // log of refused requests, which anything that connects can cause
	hide     func(string) string
	foreign  func(remote, local string) bool
	refused  func(remote, why string)
	version  string
	views    *views
	active   atomic.Pointer[active]
	sessions sessionTable
	links    links
	attempts attempts
	history  history
	arriving arriving
	busy     chan struct{}
	trying   chan struct{}
}

// New returns a Server. Run keeps its charts up to date.
func New(o Options) *Server {
	if o.Hide == nil {
		o.Hide = func(text string) string { return text }
	}
	if o.Foreign == nil {
		o.Foreign = func(string, string) bool { return false }
	}
	if o.Refused == nil {
		o.Refused = func(string, string) {}
	}
	s := &Server{
		sources: o.Sources, log: o.Log, hide: o.Hide, foreign: o.Foreign, refused: o.Refused, version: o.Version,
		refusals: limit.NewLines(o.Log, "listener"), busy: make(chan struct{}, maxBusy),
		trying: make(chan struct{}, maxTrying),
	}
	s.views = newViews(o.Hide)
	s.active.Store(activate(o.Settings))
	return s
}

// Run fills the charts until ctx ends. It blocks; package host gives it a goroutine. It is
// called once.
func (s *Server) Run(ctx context.Context) {
	defer s.refusals.Close()
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		s.history.sample(time.Now(), s.sources.Traffic.Totals())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Apply makes settings the ones in effect. It ends the sessions that began with a
// credential: the credential may not be accepted any longer. Where other machines reach
// the listener it also ends those that began with a link.
func (s *Server) Apply(next Settings) {
	a := activate(next)
	s.active.Store(a)
	s.sessions.endSome(func(one *session) bool { return !one.link || !a.local })
	if !a.local {
		s.links.clear()
	}
}

// Link returns the path of a new one-time link and when it ends. ok is false if other
// machines reach the listener: there a person signs in with a credential.
func (s *Server) Link() (path string, end time.Time, ok bool) {
	if !s.active.Load().local {
		return "", end, false
	}
	secret, end := s.links.add()
	return linkPath + secret, end, true
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	s.receive(w, r)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(sendTime)) // not supported in some tests
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "The console is busy. Try again in a second.", http.StatusServiceUnavailable)
		return
	}
	if err := s.serve(w, r); err != nil {
		s.refuse(w, r, err)
	}
}

// serve answers a request, or returns why it is refused.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) (err error) {
	defer fault.Recover(&err, s.log, "", "serving the console")
	a := s.active.Load()
	if err := checkOrigin(a, r); err != nil {
		return err
	}
	switch r.URL.Path {
	case "/":
		return s.front(w, r, a)
	case "/login":
		return s.login(w, r, a)
	case "/open":
		return s.open(w, r, a)
	case scriptPath, stylePath, iconPath:
		return serveAsset(w, r)
	}
	key, name, ok := splitPath(r.URL.Path)
	if !ok {
		return errNoPage
	}
	one := s.sessions.find(r, key)
	if one == nil {
		return errNoSession
	}
	page, ok := pages[name]
	if !ok {
		return errNoPage
	}
	return s.servePage(w, r, &request{Server: s, active: a, session: one, role: one.role(a), name: name, page: page})
}

// servePage answers the request for a page of a session.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request, q *request) error {
	if q.role == outsider { // the configuration has changed
		s.sessions.end(q.session)
		return errNoSession
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if q.page.show == nil {
			return errMethod("POST")
		}
		if !q.page.shownTo(q.role) {
			return errRole
		}
		return q.page.show(w, r, q)
	case http.MethodPost:
		if q.page.act == nil {
			return errMethod("GET, HEAD")
		}
		if err := q.checkForm(r); err != nil {
			return err
		}
		if q.role < q.page.needs {
			return errRole
		}
		return q.page.act(w, r, q)
	}
	return errMethod("GET, HEAD, POST")
}
