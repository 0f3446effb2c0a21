package console

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
)

const (
	sessionLife = 8 * time.Hour
	maxSessions = 64
)

// A session belongs to one browser. All requests of its browser share it; the fields above mu
// do not change.
type session struct {
	key     string // in the path of its pages
	cookie  [sha256.Size]byte
	csrf    string
	who     authn.Principal
	link    bool // it began with a one-time link
	begun   time.Time
	expires time.Time

	mu    sync.Mutex
	flash flash // guarded by mu; shown on the next page
}

// A flash is a message about the last action.
type flash struct {
	Text   string
	Failed bool
}

// setFlash keeps a message for the next page.
func (s *session) setFlash(f flash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flash = f
}

// takeFlash returns the message and forgets it.
func (s *session) takeFlash() flash {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.flash
	s.flash = flash{}
	return f
}

// role returns what the session may do under the settings in effect.
func (s *session) role(a *active) role {
	if s.link {
		return admin
	}
	return a.roleOf(s.who)
}

// name returns who the session belongs to, for pages and the log.
func (s *session) name() string {
	if s.link {
		return "the user of this machine"
	}
	return s.who.Subject
}

// A sessionTable holds the sessions. Its methods may be called concurrently. The Server has
// one.
type sessionTable struct {
	mu  sync.Mutex
	all map[string]*session // guarded by mu; by key
}

// begin begins a session and returns it with the value of its cookie. With maxSessions
// sessions it ends the oldest one of the principal with most sessions.
func (t *sessionTable) begin(who authn.Principal, link bool) (*session, string) {
	now, secret := time.Now(), rand.Text()
	s := &session{
		key: rand.Text(), cookie: sha256.Sum256([]byte(secret)), csrf: rand.Text(),
		who: who, link: link, begun: now, expires: now.Add(sessionLife),
	}
	if !who.Expires.IsZero() && who.Expires.Before(s.expires) {
		s.expires = who.Expires
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, o := range t.all {
		if !now.Before(o.expires) {
			delete(t.all, key)
		}
	}
	if len(t.all) >= maxSessions {
		delete(t.all, t.excess())
	}
	if t.all == nil {
		t.all = map[string]*session{}
	}
	t.all[s.key] = s
	return s, secret
}

// excess returns the key of the session that ends for a new one. The caller holds mu.
func (t *sessionTable) excess() (key string) {
	count := map[string]int{}
	for _, s := range t.all {
		count[s.who.Key()]++
	}
	var oldest *session
	for _, s := range t.all {
		n := count[s.who.Key()]
		if oldest == nil || n > count[oldest.who.Key()] ||
			n == count[oldest.who.Key()] && s.begun.Before(oldest.begun) {
			oldest = s
		}
	}
	return oldest.key
}

// find returns the session of a request whose path has a key, or nil.
func (t *sessionTable) find(r *http.Request, key string) *session {
	t.mu.Lock()
	s := t.all[key]
	t.mu.Unlock()
	if s == nil || !time.Now().Before(s.expires) {
		return nil
	}
	for _, c := range r.CookiesNamed(cookieName(r)) {
		sum := sha256.Sum256([]byte(c.Value))
		if subtle.ConstantTimeCompare(sum[:], s.cookie[:]) == 1 {
			return s
		}
	}
	return nil
}

// end ends a session.
func (t *sessionTable) end(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, s.key)
}

// endSome ends the sessions that over reports.
func (t *sessionTable) endSome(over func(*session) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, s := range t.all {
		if over(s) {
			delete(t.all, key)
		}
	}
}

// count returns the number of sessions.
func (t *sessionTable) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.all)
}

// cookieName returns the name of the cookie for the connection of a request. With TLS
// browsers refuse a cookie of this name from a connection without.
func cookieName(r *http.Request) string {
	if r.TLS != nil {
		return "__Secure-junctor-console"
	}
	return "junctor-console"
}

// base returns the path of the pages of a session.
func (s *session) base() string { return "/s/" + s.key + "/" }

// setCookie sets the cookie of a session for its pages. An empty value deletes it.
func (s *session) setCookie(w http.ResponseWriter, r *http.Request, value string) {
	c := &http.Cookie{
		Name: cookieName(r), Value: value, Path: s.base(), HttpOnly: true, Secure: r.TLS != nil,
		SameSite: http.SameSiteStrictMode,
		MaxAge:   int(time.Until(s.expires).Seconds()),
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// splitPath returns the key and the page of a path, which is /s/KEY/PAGE.
func splitPath(path string) (key, page string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/s/")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "/")
}
