package console

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/console/consoletest"
	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/host/fault"
)

// TestReloadShowsItsOutcome: the page of a reload says what changed, or why the configuration
// in effect stays.
func TestReloadShowsItsOutcome(t *testing.T) {
	f := newFake()
	s := newSite(t, f, nil)
	b := s.browser(t).signInByLink()
	for name, c := range map[string]struct {
		failure *control.Failure
		status  int
		want    []string
	}{
		"changes": {nil, http.StatusOK, []string{`role="status"`, "1 server added: new",
			"gateway.http.listen takes effect after a restart", "warning: deprecated"}},
		"an error": {&control.Failure{Error: &fault.Document{Message: "unclosed block", Hint: "close it"},
			Text: "Error: unclosed\n  on junctor.hcl"}, http.StatusUnprocessableEntity,
			[]string{`role="alert"`, "The configuration in effect stays: unclosed block",
				"close it", "on junctor.hcl"}},
	} {
		f.failure = c.failure
		resp, text := b.post("configuration")
		for _, w := range c.want {
			if resp.StatusCode != c.status || !strings.Contains(text, w) {
				t.Errorf("%s: %s, not %q\n%s", name, resp.Status, w, consoletest.Said(text))
			}
		}
	}
	if _, text := b.get("configuration"); strings.Contains(text, "ends your session") {
		t.Error("the session of a link seems to end")
	}
	if _, text := s.browser(t).signIn("token-of-alice").get("configuration"); !strings.Contains(text,
		"ends your session") {
		t.Error(text)
	}
}

// TestReloadThatRemovesTheAdminShowsNothing: the admin whom a reload removes does not
// see the configuration.
func TestReloadThatRemovesTheAdminShowsNothing(t *testing.T) {
	s := newSite(t, newFake(), nil)
	alice := s.browser(t).signIn("token-of-alice")
	token := alice.csrf()
	was := s.console.active.Load().Settings
	s.console.sources.Configuration = reloading{s.fake, func() {
		next := was
		next.Admins = nil
		s.console.Apply(next)
	}}
	resp, text := alice.do(http.MethodPost, alice.base+"configuration", map[string][]string{"csrf": {token}}, nil)
	if resp.StatusCode != http.StatusUnauthorized || strings.Contains(text, "junctor.hcl") {
		t.Errorf("%s\n%s", resp.Status, consoletest.Said(text))
	}
}

// reloading is a configuration whose reload has another effect, too.
type reloading struct {
	*fake
	then func()
}

func (r reloading) Reload(context.Context, string) (*control.Reloaded, *control.Failure) {
	r.then()
	return &control.Reloaded{}, nil
}
