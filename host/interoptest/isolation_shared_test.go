package interoptest

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// An ownNotification is a kind of notifications that are for one principal.
type ownNotification struct {
	kind      string
	dialects  map[string]dialect
	intruders map[string]caller
	// hear returns a stream on which a client gets its own notifications.
	hear func(c *tenantClient, marker string) *httpStream
	// act makes a server send a notification with the marker. It returns the stream on
	// which it arrives; nil: the one of hear.
	act func(c *tenantClient, marker string) *httpStream
}

var (
	otherTenant     = map[string]caller{"another tenant": intruders["another tenant"]}
	loggingDialects = map[string]dialect{"legacy": oldDialect, "modern": {revision: modern, level: "debug"}}
)

// ownNotifications are all kinds. Each client must get its own notification and not that
// of the other.
var ownNotifications = []ownNotification{
	{"update of a resource of a shared server", eras, intruders, hearResource("shared"), touch("shared")},
	{"update of a resource of a tenant's server", eras, intruders, hearResource("own"), touch("own")},
	{"update of the same resource of tenants", eras, otherTenant, hearResources("own"), touch("own")},
	{"update of the same resource of sessions", legacyOnly, intruders, hearResources("alone"), touch("alone")},
	{"log message of a session's server", legacyOnly, intruders, hearLogs("alone"), speak("alone")},
	{"progress with the same token", eras, intruders, hearProgress, countTo},
}

// tenantLogs are the log messages of a connection that one principal alone uses. It is
// tried first, because the owner gets none as soon as another subject is present.
var tenantLogs = ownNotification{"", loggingDialects, otherTenant, hearLogs("own"), speak("own")}

// check lets the owner act before the intruder. The intruder's own notification then
// shows that one for the owner would have arrived.
func (row ownNotification) check(t *testing.T, owner, intruder *tenantClient) {
	t.Helper()
	owners, intruders := owner.ownMarker(), intruder.ownMarker()
	hears, other := row.hear(owner, owners), row.hear(intruder, intruders)
	cmp.Or(row.act(owner, owners), hears).until(owners)
	cmp.Or(row.act(intruder, intruders), other).until(intruders)
	if got := other.soFar(); strings.Contains(got, owners) {
		t.Errorf("%s of %s got what is for %s: %s", intruder.subject, intruder.tenant, owner.subject, got)
	}
	if got := hears.soFar(); strings.Contains(got, intruders) {
		t.Errorf("%s got what is for %s: %s", owner.subject, intruder.subject, got)
	}
}

// ownMarker returns the marker of the client: a resource of gosdk.
func (c *tenantClient) ownMarker() string {
	if c.caller == ownerCaller {
		return "go://resource/one"
	}
	return "go://resource/two"
}

func (s *httpStream) soFar() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text
}

func hearResource(server string) func(c *tenantClient, uri string) *httpStream {
	return func(c *tenantClient, uri string) *httpStream { return c.listen("junctor://" + server + "/" + uri) }
}

// hearResources returns the stream of a client that subscribes to the resources of both.
func hearResources(server string) func(c *tenantClient, uri string) *httpStream {
	return func(c *tenantClient, _ string) *httpStream {
		return c.listen("junctor://"+server+"/go://resource/one", "junctor://"+server+"/go://resource/two")
	}
}

func touch(server string) func(c *tenantClient, uri string) *httpStream {
	return func(c *tenantClient, uri string) *httpStream {
		c.tool(server+"__touch", object{"uri": uri})
		return nil
	}
}

// hearLogs returns the stream of a session, or of a modern call that waits.
func hearLogs(server string) func(c *tenantClient, marker string) *httpStream {
	return func(c *tenantClient, marker string) *httpStream {
		if !c.modern() {
			c.request("logging/setLevel", object{"level": "debug"})
			return c.listen("junctor://alone/" + marker)
		}
		s := c.beginCall(`"logs"`, server+"__wait", object{}, object{"progressToken": "begun"})
		s.until("begun")
		return s
	}
}

// speak makes a server log a text during a call. The message is on the stream of the call.
// The stream of a session gets the update of a resource afterwards.
func speak(server string) func(c *tenantClient, text string) *httpStream {
	return func(c *tenantClient, text string) *httpStream {
		s := c.beginCall(`"speak"`, server+"__speak", object{"level": "error", "text": text}, nil)
		if c.modern() {
			return s
		}
		s.until(text)
		return touch("alone")(c, text)
	}
}

// hearProgress returns the stream of a call that waits, with the token of countTo.
func hearProgress(c *tenantClient, _ string) *httpStream {
	s := c.beginCall(`"same"`, "shared__wait", object{}, object{"progressToken": "same"})
	s.until("notifications/progress")
	return s
}

// countTo calls a tool that reports progress. Its number of steps tells the callers apart.
func countTo(c *tenantClient, marker string) *httpStream {
	c.t.Helper()
	total := fmt.Sprintf(`"total":%d`, 3+len(c.subject))
	s := c.beginCall(`"count"`, "shared__count", object{"steps": 3 + len(c.subject)}, object{"progressToken": "same"})
	s.until("counted to")
	got := s.soFar()
	if n := strings.Count(got, `"total"`); n == 0 || n != strings.Count(got, total) {
		c.t.Errorf("%s got the progress of another call: %s", c.subject, got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += marker + "\n"
	return s
}

func (s *isolationSite) testTenantLogs(t *testing.T) {
	s.eachIntruder(t, "", tenantLogs.intruders, tenantLogs.dialects, tenantLogs.check)
}

// testNotifications tries each kind of notifications.
func (s *isolationSite) testNotifications(t *testing.T) {
	for _, row := range ownNotifications {
		s.eachIntruder(t, row.kind, row.intruders, row.dialects, row.check)
	}
}

// testSharedLogs checks that a message on a connection that two principals use reaches
// none of them. The update of a resource shows that each of them listens.
func (s *isolationSite) testSharedLogs(t *testing.T) {
	s.eachIntruder(t, "", intruders, legacyOnly, func(t *testing.T, owner, intruder *tenantClient) {
		heard := map[*tenantClient]*httpStream{}
		for _, c := range []*tenantClient{owner, intruder} {
			c.tool("shared__echo", object{"text": "x"})
			heard[c] = hearLogs("alone")(c, c.ownMarker())
		}
		secret := rand.Text()
		call := owner.beginCall(`"speak"`, "shared__speak", object{"level": "error", "text": secret}, nil)
		call.until("said")
		for c, stream := range heard {
			touch("alone")(c, c.ownMarker())
			stream.until(c.ownMarker())
			if strings.Contains(stream.soFar()+call.soFar(), secret) {
				t.Errorf("%s of %s got a message of a shared connection: %s", c.subject, c.tenant, stream.soFar())
			}
		}
	})
}

// testListChanges checks that lists of a tenant's own connection are announced to no
// other tenant, and not added to their lists. The same change of a shared server shows
// that the clients listen.
func (s *isolationSite) testListChanges(t *testing.T) {
	for era, d := range eras {
		t.Run(era, func(t *testing.T) {
			owner := s.client(t, ownerCaller, d)
			var streams []*httpStream
			clients := []*tenantClient{owner}
			for _, who := range intruders {
				clients = append(clients, s.client(t, who, d))
			}
			for _, c := range clients {
				streams = append(streams, c.listen())
			}
			secret, known := "secret-"+strings.ToLower(rand.Text()), "known-"+strings.ToLower(rand.Text())
			owner.tool("own__grow", object{"name": secret})
			owner.tool("shared__grow", object{"name": known})
			for i, c := range clients {
				streams[i].until("notifications/tools/list_changed")
				for _, method := range []string{"tools/list", "prompts/list", "resources/list"} {
					if got := c.request(method, nil); !strings.Contains(got, known) || strings.Contains(got, secret) {
						t.Errorf("%s: %s of %s: want %s and not %s: %s",
							method, c.subject, c.tenant, known, secret, got)
					}
				}
				if n := strings.Count(streams[i].soFar(), "notifications/tools/list_changed"); n != 1 {
					t.Errorf("%s of %s got %d notifications of changed tools, want 1", c.subject, c.tenant, n)
				}
			}
		})
	}
}

// testLists checks that lists do not depend on the client that asked for them first: they
// are those of the user who runs Junctor. No request for a list is made with a client's
// credential, and none because a client asks.
func (s *isolationSite) testLists(t *testing.T) {
	methods := []string{"tools/list", "prompts/list", "resources/list"}
	s.eachIntruder(t, "", intruders, eras, func(t *testing.T, owner, intruder *tenantClient) {
		for _, method := range methods {
			got := owner.request(method, nil)
			for _, server := range []string{"team", "person"} {
				if account := owner.account(server); strings.Contains(got, "of-"+account) {
					t.Errorf("%s has items of the account %s: %s", method, account, got)
				}
			}
			if !strings.Contains(got, "of-local") {
				t.Errorf("%s has no items of the local user: %s", method, got)
			}
			if other := intruder.request(method, nil); other != got {
				t.Errorf("%s of %s is\n%s\nand of %s\n%s", method, intruder.subject, other, owner.subject, got)
			}
			if accounts := s.vault.requests(method); slices.ContainsFunc(accounts,
				func(a string) bool { return a != "" && a != "local" }) {
				t.Errorf("%s was sent with the credentials of %v", method, accounts)
			}
		}
	})
}

// account returns the account of the caller at a server.
func (c caller) account(server string) string {
	if server == "person" {
		return c.tenant + "/" + c.subject
	}
	return c.tenant
}

// ownCredentials are the requests that a server answers with the name of the account.
func ownCredentials(server string) map[string]object {
	uri := "junctor://" + server + "/vault://whoami"
	return map[string]object{
		"tools/call":     {"name": server + "__whoami", "arguments": object{}},
		"prompts/get":    {"name": server + "__whoami"},
		"resources/read": {"uri": uri},
		"completion/complete": {"ref": object{"type": "ref/prompt", "name": server + "__whoami"},
			"argument": object{"name": "a", "value": ""}},
	}
}

// testCredentials checks that each request reaches a server with the credential of its
// own tenant, or of its own principal.
func (s *isolationSite) testCredentials(t *testing.T) {
	for _, server := range []string{"team", "person"} {
		for method, params := range ownCredentials(server) {
			s.eachIntruder(t, server+"/"+method, intruders, eras, func(t *testing.T, owner, intruder *tenantClient) {
				for _, c := range []*tenantClient{owner, intruder} {
					if got, want := c.request(method, params), `"read as `+c.account(server)+`"`; !strings.Contains(got,
						want) {
						t.Errorf("%s of %s: want %s: %s", c.subject, c.tenant, want, got)
					}
				}
			})
		}
		s.eachIntruder(t, server+"/subscription", intruders, eras, func(t *testing.T, owner, intruder *tenantClient) {
			for _, c := range []*tenantClient{owner, intruder} {
				c.listen("junctor://" + server + "/vault://whoami")
				if got := s.vault.requests("subscriptions/listen"); !slices.Contains(got, c.account(server)) ||
					slices.Contains(got, "local") {
					t.Errorf("subscribed with the credentials of %v, want %s", got, c.account(server))
				}
			}
		})
	}
}

// testCancellation checks that a client cancels no request of another one with the same
// id: with notifications/cancelled, and by closing its own.
func (s *isolationSite) testCancellation(t *testing.T) {
	asks := map[string]dialect{"legacy": oldDialect.withCapabilities(asksUser)}
	s.eachIntruder(t, "by notification", intruders, asks, func(t *testing.T, owner, intruder *tenantClient) {
		cancelled := owner.beginCall(`"same"`, "shared__wait", object{}, object{"progressToken": "x"})
		cancelled.until("notifications/progress")
		owner.cancelRequest("same")
		cancelled.until("-32800")
		s.cancelled++
		calls := openCalls{}
		question := calls.ask(owner) // of a request with the id "ask"
		intruder.cancelRequest("ask")
		answerQuestion(owner, question)
		calls[question].until("accept alice")
	})
	s.eachIntruder(t, "by closing", intruders, modernOnly, func(t *testing.T, owner, intruder *tenantClient) {
		var streams []*httpStream
		for _, c := range []*tenantClient{owner, intruder} {
			call := c.beginCall(`"same"`, "shared__wait", object{}, object{"progressToken": "x"})
			call.until("notifications/progress")
			streams = append(streams, call)
		}
		before := s.cancelled
		streams[1].cancel()
		s.cancelled++
		reach := object{"number": s.cancelled}
		if got := owner.tool("shared__reach", reach); !strings.Contains(got, fmt.Sprintf(`"text":"%d"`, before+1)) {
			t.Errorf("more than the intruder's request was cancelled: %s", got)
		}
		streams[0].cancel()
		s.cancelled++
		owner.tool("shared__reach", object{"number": s.cancelled})
	})
}

// cancelRequest sends notifications/cancelled.
func (c *tenantClient) cancelRequest(id string) {
	c.t.Helper()
	text := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%q}}`, id)
	if got := c.exchange("POST", c.url, text); !strings.HasPrefix(got, "202 ") {
		c.t.Fatalf("%s could not cancel: %s", c.subject, got)
	}
}

// testLimits checks that a tenant which has used up its calls does not change the answers
// of another tenant.
func (s *isolationSite) testLimits(t *testing.T) {
	owner, intruder := s.client(t, ownerCaller, oldDialect), s.client(t, intruders["another tenant"], oldDialect)
	want := intruder.tool("shared__fail", object{})
	for range 2 {
		owner.tool("shared__fail", object{})
	}
	if got := owner.tool("shared__fail", object{}); !strings.Contains(got, "rate_limited") {
		t.Fatalf("the owner was not limited: %s", got)
	}
	if got := intruder.tool("shared__fail", object{}); got != want {
		t.Errorf("the other tenant got\n%s\nand before\n%s", got, want)
	}
}
