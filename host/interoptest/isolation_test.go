package interoptest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// A keptThing is a kind of things that the gateway keeps for one principal, and that
// have an id which another principal may send.
type keptThing struct {
	kind string
	// dialects are those of the clients; nil: both eras.
	dialects map[string]dialect
	// make makes one for its owner and returns its id.
	make func(owner *tenantClient) (id string)
	// try sends a request with the id and returns the response.
	try func(c *tenantClient, id string) string
	// outcome returns what the owner's request led to, if the response does not say so.
	outcome func(owner *tenantClient, id string) string
	// works is a part of the response, or of the outcome, that only the owner gets.
	works string
	// once says that the owner's second request gets the answer for an unknown id.
	once bool
}

var (
	legacyOnly = map[string]dialect{"legacy": oldDialect}
	modernOnly = map[string]dialect{"modern": newDialect}
	asksUser   = object{"elicitation": object{}}
	tasking    = map[string]dialect{
		"modern": newDialect.withCapabilities(object{"extensions": object{"io.modelcontextprotocol/tasks": object{}}}),
	}
)

// sessionThings are the kinds of things of a transport. What the owner does is in make,
// what the intruder tries is in try. The intruder must get the bytes that it gets for an id
// that never existed.
func sessionThings() []keptThing {
	return []keptThing{
		{kind: "request in a session", dialects: legacyOnly, make: (*tenantClient).begin, works: `"result":{}`,
			try: inSession((*tenantClient).ping)},
		{kind: "notification in a session", dialects: legacyOnly, make: (*tenantClient).begin, works: "202 ",
			try: inSession(func(c *tenantClient) string {
				return c.exchange("POST", c.url, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
			})},
		{kind: "stream of a session", dialects: legacyOnly, make: (*tenantClient).begin, works: "200 OK",
			try: inSession(func(c *tenantClient) string {
				return c.opening("GET", c.url, "", "Accept", "text/event-stream")
			})},
		{kind: "resumed stream of a session", dialects: legacyOnly, make: (*tenantClient).begin, works: "id: 0-0",
			try: inSession(func(c *tenantClient) string {
				return c.opening("GET", c.url, "", "Accept", "text/event-stream", "Last-Event-Id", "0-0")
			})},
		{kind: "end of a session", dialects: legacyOnly, make: (*tenantClient).begin, works: "204 ", once: true,
			try: inSession(func(c *tenantClient) string {
				return c.exchange("DELETE", c.url, "")
			})},
		{kind: "event id", dialects: legacyOnly, make: makeEvent, works: "200 OK",
			try: func(c *tenantClient, id string) string {
				return c.opening("GET", c.url, "", "Accept", "text/event-stream", "Last-Event-Id", id)
			}},
		{kind: "message endpoint of HTTP+SSE", dialects: legacyOnly, make: makeEndpoint, works: "202 ",
			try: func(c *tenantClient, id string) string {
				return c.exchange("POST", strings.TrimSuffix(c.url, "/mcp")+"/messages?sessionId="+id,
					`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			}},
	}
}

// requestThings are the kinds of things that begin with a request.
func requestThings() []keptThing {
	calls := openCalls{}
	return []keptThing{
		{kind: "resource that a result links to", make: makeLink, works: "read as ",
			try: func(c *tenantClient, id string) string {
				return c.request("resources/read", object{"uri": "vault://secret/" + id})
			}},
		{kind: "subscription to a linked resource", dialects: legacyOnly, make: makeLink, works: `"result":{}`,
			try: func(c *tenantClient, id string) string {
				return c.request("resources/subscribe", object{"uri": "vault://secret/" + id})
			}},
		{kind: "state of a task", dialects: tasking, make: makeTask, works: `"status":"working"`,
			try: aboutTask("tasks/get", object{})},
		{kind: "answer to a task", dialects: tasking, make: makeTask, works: `"done":true`,
			try: aboutTask("tasks/update", object{"inputResponses": object{}})},
		{kind: "end of a task", dialects: tasking, make: makeTask, works: `"done":true`,
			try: aboutTask("tasks/cancel", object{})},
		{kind: "notifications of a task", dialects: tasking, make: makeTask, works: `"taskIds":[`, try: listenToTask},
		{kind: "suspended call", dialects: map[string]dialect{"modern": newDialect.withCapabilities(asksUser)},
			make: makeSuspendedCall, works: "accept red", once: true, try: continueCall},
		{kind: "state of a modern server",
			dialects: map[string]dialect{"modern": newDialect.withCapabilities(asksUser)},
			make:     makeState("vault__ask"), works: "read as ", once: true, try: continueWithState("vault__ask")},
		{
			kind: "question to a client", dialects: map[string]dialect{"legacy": oldDialect.withCapabilities(asksUser)},
			make: calls.ask, try: answerQuestion, outcome: calls.answer, works: "accept alice",
		},
	}
}

// TestPrincipalsAreIsolated tries every kind of things that the gateway keeps or shares
// from another tenant, and from another subject of the same tenant.
func TestPrincipalsAreIsolated(t *testing.T) {
	s := newIsolationSite(t)
	t.Run("logs of a tenant's connection", s.testTenantLogs)
	t.Run("things", s.testKeptThings)
	t.Run("cancellation", s.testCancellation)
	t.Run("notifications", s.testNotifications)
	t.Run("logs of a shared connection", s.testSharedLogs)
	t.Run("list changes", s.testListChanges)
	t.Run("lists", s.testLists)
	t.Run("credentials", s.testCredentials)
	t.Run("limits", s.testLimits)
}

// testKeptThings tries each kind of things that have ids.
func (s *isolationSite) testKeptThings(t *testing.T) {
	for _, row := range append(sessionThings(), requestThings()...) {
		if row.dialects == nil {
			row.dialects = eras
		}
		s.eachIntruder(t, row.kind, intruders, row.dialects, row.check)
	}
}

// eachIntruder runs a subtest for each intruder and dialect.
func (s *isolationSite) eachIntruder(t *testing.T, kind string, callers map[string]caller, dialects map[string]dialect,
	check func(t *testing.T, owner, intruder *tenantClient)) {
	t.Helper()
	for from, who := range callers {
		for era, d := range dialects {
			t.Run(kind+"/from "+from+"/"+era, func(t *testing.T) {
				check(t, s.client(t, ownerCaller, d), s.client(t, who, d))
			})
		}
	}
}

// check tries one kind. The owner's request comes first: without its success the
// comparison would show nothing.
func (row keptThing) check(t *testing.T, owner, intruder *tenantClient) {
	t.Helper()
	first := row.make(owner)
	row.expectOwned(t, owner, first)
	id := row.make(owner)
	unknown := neverExisted(id)
	got := row.try(intruder, id)
	want := strings.ReplaceAll(row.try(intruder, unknown), unknown, id)
	if got != want {
		t.Errorf("%s of %s got\n%s\nfor an id of %s, and\n%s\nfor one that never existed",
			intruder.subject, intruder.tenant, got, owner.subject, want)
	}
	for _, secret := range []string{owner.subject, row.works} {
		if row.outcome == nil && strings.Contains(strings.ReplaceAll(got, id, ""), secret) {
			t.Errorf("%s of %s got %q: %s", intruder.subject, intruder.tenant, secret, got)
		}
	}
	row.expectOwned(t, owner, id)
	if row.once {
		if got, want := row.try(owner, id), strings.ReplaceAll(row.try(owner, unknown), unknown, id); got != want {
			t.Errorf("the owner's second request got\n%s\nand one with an unknown id\n%s", got, want)
		}
	}
}

// expectOwned checks that the owner's request succeeds.
func (row keptThing) expectOwned(t *testing.T, owner *tenantClient, id string) {
	t.Helper()
	got := row.try(owner, id)
	if row.outcome != nil {
		got = row.outcome(owner, id)
	}
	if !strings.Contains(got, row.works) {
		t.Fatalf("the owner got no %q: %s", row.works, got)
	}
}

// neverExisted returns an id of the same form.
func neverExisted(id string) string {
	if len(id) < 10 && strings.Trim(id, "0123456789-") == "" {
		return "999" + id // a number, or the id of an event
	}
	at, other := len(id)-2, "A"
	if id[at] == 'A' {
		other = "B"
	}
	return id[:at] + other + id[at+1:]
}

// inSession returns a try of a session that the id names.
func inSession(try func(c *tenantClient) string) func(c *tenantClient, id string) string {
	return func(c *tenantClient, id string) string {
		own := c.session
		defer func() { c.session = own }()
		c.session = id
		return try(c)
	}
}

func (c *tenantClient) ping() string { return c.request("ping", nil) }

// makeEvent returns the id of the last event of a call, of a stream with a number that
// other sessions do not have.
func makeEvent(c *tenantClient) string {
	ids := regexp.MustCompile(`id: (\d\d+-\d+)\n`)
	for range 50 {
		call := c.beginCall("1", "shared__count", object{"steps": 1}, object{"progressToken": "x"})
		call.until("counted to")
		if all := ids.FindAllStringSubmatch(call.soFar(), -1); all != nil {
			return all[len(all)-1][1]
		}
	}
	c.t.Fatal("no stream had events")
	return ""
}

// makeEndpoint opens a stream of HTTP+SSE and returns the id in its endpoint.
func makeEndpoint(c *tenantClient) string {
	text := c.stream("GET", strings.TrimSuffix(c.url, "/mcp")+"/sse", "").until("sessionId=")
	_, id, _ := strings.Cut(text, "sessionId=")
	return strings.TrimSpace(id)
}

// makeLink returns the last part of a URI that only this client was given.
func makeLink(c *tenantClient) string {
	found := regexp.MustCompile(`vault://secret/(\w+)`).FindStringSubmatch(c.tool("vault__link", object{}))
	if found == nil {
		c.t.Fatal("the result has no link")
	}
	return found[1]
}

func makeTask(c *tenantClient) string {
	found := regexp.MustCompile(`"taskId":"(\w+)"`).FindStringSubmatch(c.tool("vault__task", object{}))
	if found == nil {
		c.t.Fatal("the result is no task")
	}
	return found[1]
}

func aboutTask(method string, params object) func(c *tenantClient, id string) string {
	return func(c *tenantClient, id string) string {
		return c.request(method, merged(params, object{"taskId": id}))
	}
}

// listenToTask returns the first event of a stream about a task.
func listenToTask(c *tenantClient, id string) string {
	body, header := c.message("1", "subscriptions/listen", object{"notifications": object{"taskIds": []string{id}}})
	s := c.stream("POST", c.url, body, header...)
	defer s.cancel()
	return s.until("acknowledged")
}

// makeSuspendedCall calls a tool that asks, and returns the state.
func makeSuspendedCall(c *tenantClient) string {
	answer := c.tool("alone__ask", object{})
	found := regexp.MustCompile(`"requestState":"junctor\.([\w-]+)"`).FindStringSubmatch(answer)
	if found == nil {
		c.t.Fatalf("the call was not suspended: %s", answer)
	}
	return found[1]
}

// makeState calls a tool of a modern server that asks, and returns the state.
func makeState(tool string) func(c *tenantClient) string {
	return func(c *tenantClient) string {
		answer := c.tool(tool, object{})
		found := regexp.MustCompile(`"requestState":"junctor\.([\w-]+)"`).FindStringSubmatch(answer)
		if found == nil {
			c.t.Fatalf("the server did not ask, or its state is not sealed: %s", answer)
		}
		return found[1]
	}
}

func continueWithState(tool string) func(c *tenantClient, state string) string {
	return func(c *tenantClient, state string) string {
		return c.request("tools/call", object{
			"name": tool, "arguments": object{}, "requestState": "junctor." + state,
			"inputResponses": object{"q": object{"action": "accept", "content": object{}}},
		})
	}
}

func continueCall(c *tenantClient, state string) string {
	return c.request("tools/call", object{
		"name": "alone__ask", "arguments": object{}, "requestState": "junctor." + state,
		"inputResponses": object{"q1": object{"action": "accept", "content": object{"color": "red"}}},
	})
}

// openCalls holds the streams of calls in progress, by id.
type openCalls map[string]*httpStream

// ask calls a tool that asks the client, and returns the id of the question.
func (o openCalls) ask(c *tenantClient) string {
	s := c.beginCall(`"ask"`, "alone__ask", object{}, nil)
	found := regexp.MustCompile(`"id":(\d+),"method":"elicitation/create"`).
		FindStringSubmatch(s.until("elicitation/create"))
	if found == nil {
		c.t.Fatal("the question has no id")
	}
	o[found[1]] = s
	return found[1]
}

func answerQuestion(c *tenantClient, id string) string {
	return c.exchange("POST", c.url,
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"color":%q}}}`, id, c.subject))
}

// answer waits for the answer of a call that succeeds.
func (o openCalls) answer(_ *tenantClient, id string) string { return o[id].until(`"content"`) }
