//go:build unix

package main

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/junctor-mcp/junctor/host/control"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

const (
	eveToken = "eve-0123456789abcdef"
	zoeToken = "zoe-0123456789abcdef"
)

// sharesSite starts a gateway for ann, bob and eve of one tenant and zoe of another,
// with the blocks of limits. Its server "held" answers when there is a file "go".
func sharesSite(t *testing.T, limits string) (s *gatewaySite, configure func(limits string)) {
	t.Helper()
	s = &gatewaySite{reloadSite: newReloadSite(t)}
	s.put("held.sh", holdingServer)
	content := fmt.Sprintf("    listen = %q\n", freeAddress(t))
	for subject, token := range map[string]string{"ann": annToken, "bob": bobToken, "eve": eveToken} {
		content += strings.Replace(tokenBlock(subject, token), "      subject",
			"      tenant  = \"acme\"\n      subject", 1)
	}
	content += strings.Replace(tokenBlock("zoe", zoeToken), "      subject",
		"      tenant  = \"zoo\"\n      subject", 1)
	configure = func(limits string) {
		s.put("junctor.hcl", "server \"held\" {\n  share = \"global\"\n  transport \"stdio\" {\n    command = [\"sh\", \"held.sh\"]\n  }\n}\ngateway {\n  limits {\n"+
			limits+"  }\n  http {\n"+content+"  }\n}\n")
	}
	configure(limits)
	s.start("serve", "--http")
	return s, configure
}

// hold makes calls that do not end before there is a file "go". It returns when the
// server has all of them, and a function that waits for their ends.
func (s *gatewaySite) hold(token string, calls int) (wait func()) {
	s.t.Helper()
	before := s.called()
	wait = s.callHeld(token, calls)
	s.awaitCalled(before + calls)
	return wait
}

// called returns the number of calls that the server got.
func (s *gatewaySite) called() int {
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(s.path), "called-*"))
	return len(files)
}

// awaitCalled waits until the server has got so many calls.
func (s *gatewaySite) awaitCalled(n int) {
	s.t.Helper()
	eventually.NoError(s.t, func() error {
		if got := s.called(); got < n {
			return fmt.Errorf("%d of %d calls arrived", got, n)
		}
		return nil
	})
}

// callHeld makes calls that do not end before there is a file "go". It returns a function
// that waits for their ends.
func (s *gatewaySite) callHeld(token string, calls int) (wait func()) {
	results := make(chan error, calls)
	for range calls {
		c := s.client(token)
		go func() {
			status, text, err := c.call("held__hold")
			if err == nil && (status != http.StatusOK || !strings.Contains(text, "released")) {
				err = fmt.Errorf("%d: %s", status, text)
			}
			results <- err
		}()
	}
	return func() {
		s.t.Helper()
		for range cap(results) {
			if err := <-results; err != nil {
				s.t.Errorf("a call in progress: %v", err)
			}
		}
	}
}

// refused expects that a call is refused because of a share.
func (c *gatewayClient) refused(what, want string) {
	c.t.Helper()
	status, text, err := c.call("held__hold")
	if err != nil || status != http.StatusTooManyRequests || !strings.Contains(text, `"reason":"share"`) ||
		!strings.Contains(text, want) {
		c.t.Errorf("%s: %d, %v: %s", what, status, err, text)
	}
}

// TestSharesOfTenantsAndPrincipals uses the shares of a principal and of a tenant, looks
// at the status, and changes the shares by a reload.
func TestSharesOfTenantsAndPrincipals(t *testing.T) {
	t.Parallel()
	s, configure := sharesSite(t, "    per_tenant {\n      requests = 3\n    }\n    per_principal {\n      requests = 2\n      sessions = 1\n    }\n")
	wait := []func(){s.hold(annToken, 2)}
	s.client(annToken).refused("ann's third call",
		"one client may use 2 of the 500 of max_in_flight; the share is requests in limits { per_principal }")
	wait = append(wait, s.hold(bobToken, 1))
	s.client(eveToken).refused("the tenant's fourth call",
		"the clients of one tenant may use 3 of the 500 of max_in_flight")
	wait = append(wait, s.hold(zoeToken, 2))
	ann := s.client(annToken)
	ann.session = "" // initialize is a request too, and she has none left
	if status, text, err := ann.post(legacyInitialize); err != nil || status != http.StatusTooManyRequests {
		t.Errorf("initialize: %d, %v: %s", status, err, text)
	}
	s.expectUse(map[string]control.ClientUse{
		"ann": {Tenant: "acme", Subject: "ann", Method: "static_token", Requests: 2},
		"bob": {Tenant: "acme", Subject: "bob", Method: "static_token", Requests: 1},
		"zoe": {Tenant: "zoo", Subject: "zoe", Method: "static_token", Requests: 2},
	})
	configure("    per_tenant {\n      requests = 0\n    }\n    per_principal {\n      requests = 3\n      sessions = 1\n    }\n")
	s.hangup("reloaded the configuration")
	wait = append(wait, s.hold(annToken, 1), s.hold(eveToken, 3))
	s.client(annToken).refused("ann's fourth call", "one client may use 3 of the 500")
	s.put("go", "")
	for _, w := range wait {
		w()
	}
	ann.initialize()
	if status, text, err := s.client(annToken).post(legacyInitialize); err != nil ||
		status != http.StatusTooManyRequests ||
		!strings.Contains(text, "session limit reached: one client may use 1 of the 1000 of sessions.max") {
		t.Errorf("a second session: %d, %v: %s", status, err, text)
	}
	s.client(bobToken).initialize()
	s.expectUse(map[string]control.ClientUse{
		"ann": {Tenant: "acme", Subject: "ann", Method: "static_token", Sessions: 1},
		"bob": {Tenant: "acme", Subject: "bob", Method: "static_token", Sessions: 1},
	})
	if text, _, _ := s.junctor("status", "--text"); !strings.Contains(text, "SUBJECT") ||
		!strings.Contains(text, "static_token") {
		t.Error(text)
	}
}

// expectUse compares what principals use according to the status, without the
// connections and the memory.
func (s *gatewaySite) expectUse(want map[string]control.ClientUse) {
	s.t.Helper()
	got := map[string]control.ClientUse{}
	for _, u := range s.status().Clients {
		u.Connections, u.Memory = 0, 0
		if u != (control.ClientUse{Tenant: u.Tenant, Subject: u.Subject, Method: u.Method}) {
			got[u.Subject] = u
		}
	}
	for subject, u := range want {
		if got[subject] != u {
			s.t.Errorf("%s uses %+v, want %+v", subject, got[subject], u)
		}
		delete(got, subject)
	}
	if len(got) > 0 {
		s.t.Errorf("others use %+v", got)
	}
}
