package httpserver

import (
	"net/http"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/sessionstore"
)

// A panickingAuthenticator panics.
type panickingAuthenticator struct{}

func (panickingAuthenticator) Authenticate(*http.Request) (authn.Principal, error) { panic("oops") }

// A panickingObserver panics with each request.
type panickingObserver struct{ gateway.Observer }

func (panickingObserver) Begin(gateway.Beginning) gateway.Observation { panic("oops") }

// holdsNothing reports whether no request, body or byte is counted.
func (h *fixture) holdsNothing() bool {
	return h.inFlight.Used() == 0 && h.memory.Used() == h.sessions.Kept() && h.listening.Used() == 0 &&
		h.slow.Len() == 0
}

// TestPanicCostsOneRequest checks that a client gets an error without details
// after a panic, and that the server keeps no resources.
func TestPanicCostsOneRequest(t *testing.T) {
	h := openFixture(t, nil, newScriptedServer("a", "2025-11-25"))
	modern, legacy := h.newClient(t), h.newClient(t).initialize()
	s, err := h.sessions.Find(legacy.session, authn.Anonymous().Key())
	if err != nil {
		t.Fatal(err)
	}
	whole, c := s.Client.(*sessionClient).Session, s.Client.(*sessionClient)
	// A gateway without a log and a catalog panics even while it reports a
	// panic.
	broken := gateway.New(gateway.Options{}).Resume(gateway.Client{Principal: authn.Anonymous(), Out: closedStream{}},
		whole.State())
	message, header := modernCall(7, "a__echo", `{}`)
	for what, test := range map[string]struct {
		breaks func() (mend func())
		ask    func() (int, string, http.Header, error)
		status int
		says   string
	}{
		"before anything is read": {
			func() func() {
				h.Apply(Settings{Auth: panickingAuthenticator{}})
				return func() { h.Apply(defaults().Settings) }
			},
			func() (int, string, http.Header, error) { return modern.post(message, header...) }, 500,
			`"reason":"internal"`,
		},
		"modern": {
			func() func() { g := h.Server.gateway; h.Server.gateway = nil; return func() { h.Server.gateway = g } },
			func() (int, string, http.Header, error) { return modern.post(message, header...) }, 500,
			`"reason":"internal"`,
		},
		"modern, on a stream": {
			func() func() { g := h.Server.gateway; h.Server.gateway = nil; return func() { h.Server.gateway = g } },
			func() (int, string, http.Header, error) {
				return modern.post(message, append([]string{"Accept", "text/event-stream"}, header...)...)
			}, 500, `"reason":"internal"`,
		},
		"legacy, on a stream": {
			func() func() { c.Session = broken; return func() { c.Session = whole } },
			func() (int, string, http.Header, error) {
				return legacy.post(legacyCall(7, "a__echo", `{}`), "Accept", "text/event-stream")
			}, 500, `"reason":"internal"`,
		},
		"in the gateway, modern": {
			func() func() { h.gateway.Observe(panickingObserver{}); return func() { h.gateway.Observe(nil) } },
			func() (int, string, http.Header, error) { return modern.post(message, header...) }, 200, `"id":7,`,
		},
		"in the gateway, legacy and on a stream": {
			func() func() { h.gateway.Observe(panickingObserver{}); return func() { h.gateway.Observe(nil) } },
			func() (int, string, http.Header, error) {
				return legacy.post(legacyCall(7, "a__echo", `{}`), "Accept", "text/event-stream")
			}, 200, `"id":7,`,
		},
		"a session's handshake": {
			func() func() { h.Server.gateway = nil; g := h.gateway; return func() { h.Server.gateway = g } },
			func() (int, string, http.Header, error) { return modern.post(initializeRequest) }, 500,
			`"reason":"internal"`,
		},
	} {
		t.Run(what, func(t *testing.T) {
			mend := test.breaks()
			status, text, _, err := test.ask()
			mend()
			if err != nil || status != test.status || !strings.Contains(text, test.says) ||
				!strings.Contains(text, "-32603") {
				t.Errorf("%d, %v: %s", status, err, text)
			}
			if strings.Contains(text, "oops") || strings.Contains(text, "nil pointer") ||
				strings.Contains(text, "goroutine") {
				t.Error(text)
			}
			if !h.holdsNothing() {
				t.Error("resources are still counted")
			}
			modern.mustPost(message, header...)
			if text := legacy.mustPost(legacyCall(8, "a__echo", `{}`)); !strings.Contains(text, `"id":8,`) {
				t.Error(text)
			}
		})
	}
	if open := s.Log().Open(); len(open) > 0 {
		t.Errorf("%d requests have no answer", len(open))
	}
	if n := strings.Count(h.log.String(), "panic in a request handler"); n != 5 {
		t.Errorf("the log reports %d panics", n)
	}
	if n := strings.Count(h.log.String(), "recovered from a panic"); n != 2 {
		t.Errorf("the log reports %d panics of the gateway", n)
	}
	s.End(sessionstore.ReasonClosed)
}
