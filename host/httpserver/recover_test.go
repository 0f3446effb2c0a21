package httpserver

import (
	"net/http"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// A clumsy authenticator makes a mistake.
type clumsy struct{}

func (clumsy) Authenticate(*http.Request) (authn.Principal, error) { panic("oops") }

// free reports whether nothing is counted any longer.
func (h *fixture) free() bool {
	return h.inFlight.Load() == 0 && h.budget.Used() == h.sessions.Kept() && h.listening.Load() == 0 && len(h.overdue.since) == 0
}

// TestPanic: a mistake of ours costs a request, whose client is told so, and not
// what.
func TestPanic(t *testing.T) {
	h := openFixture(t, nil, newPerformer("a", "2025-11-25"))
	modern, legacy := h.visit(t), h.visit(t).greet()
	s, err := h.sessions.Find(legacy.session, authn.Anonymous().Key())
	if err != nil {
		t.Fatal(err)
	}
	whole, c := s.Client.(*client).Session, s.Client.(*client)
	// A gateway without a log and a catalog makes a mistake even over a mistake.
	broken := gateway.New(gateway.Options{}).Resume(gateway.Client{Principal: authn.Anonymous(), Out: nowhere{}}, whole.State())
	message, header := modernCall(7, "a__echo", `{}`)
	for what, test := range map[string]struct {
		breaks func() (mend func())
		ask    func() (int, string, http.Header, error)
		status int
		says   string
	}{
		"before anything is read": {
			func() func() { h.o.Auth = clumsy{}; return func() { h.o.Auth = nil } },
			func() (int, string, http.Header, error) { return modern.post(message, header...) }, 500, `"reason":"internal"`,
		},
		"modern": {
			func() func() { g := h.o.Gateway; h.o.Gateway = nil; return func() { h.o.Gateway = g } },
			func() (int, string, http.Header, error) { return modern.post(message, header...) }, 200, `"id":7,`,
		},
		"modern, on a stream": {
			func() func() { g := h.o.Gateway; h.o.Gateway = nil; return func() { h.o.Gateway = g } },
			func() (int, string, http.Header, error) {
				return modern.post(message, append([]string{"Accept", "text/event-stream"}, header...)...)
			}, 200, `"id":7,`,
		},
		"legacy, on a stream": {
			func() func() { c.Session = broken; return func() { c.Session = whole } },
			func() (int, string, http.Header, error) {
				return legacy.post(legacyCall(7, "a__echo", `{}`), "Accept", "text/event-stream")
			}, 200, `"id":7,`,
		},
		"a session's handshake": {
			func() func() { h.o.Gateway = nil; g := h.gateway; return func() { h.o.Gateway = g } },
			func() (int, string, http.Header, error) { return modern.post(greeting) }, 500, `"reason":"internal"`,
		},
	} {
		t.Run(what, func(t *testing.T) {
			mend := test.breaks()
			status, text, _, err := test.ask()
			mend()
			if err != nil || status != test.status || !strings.Contains(text, test.says) || !strings.Contains(text, "-32603") {
				t.Errorf("%d, %v: %s", status, err, text)
			}
			if strings.Contains(text, "oops") || strings.Contains(text, "nil pointer") || strings.Contains(text, "goroutine") {
				t.Error(text)
			}
			if !h.free() {
				t.Error("something is still counted")
			}
			modern.must(message, header...)
			if text := legacy.must(legacyCall(8, "a__echo", `{}`)); !strings.Contains(text, `"id":8,`) {
				t.Error(text)
			}
		})
	}
	if open := s.Log().Open(); len(open) > 0 {
		t.Errorf("%d requests will never be answered", len(open))
	}
	if n := strings.Count(h.log.String(), "a request panicked"); n != 5 {
		t.Errorf("the log says it %d times", n)
	}
	s.End(sessionstore.ReasonClosed)
}
