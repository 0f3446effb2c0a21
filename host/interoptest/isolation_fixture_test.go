package interoptest

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A caller is a principal of the gateway in TestPrincipalsAreIsolated.
type caller struct{ subject, tenant string }

// The callers. Each row is tried from another tenant, and from another subject of the
// owner's tenant.
var (
	ownerCaller = caller{"alice", "acme"}
	intruders   = map[string]caller{"another tenant": {"bob", "rival"}, "another subject": {"carol", "acme"}}
)

func (c caller) token() string { return "token-of-" + c.subject + "-in-" + c.tenant }

// A vault is an MCP server of 2026-07-28 in this process. Its lists and contents name
// the account of the credential that it got.
type vault struct {
	mu       sync.Mutex
	accounts map[string]string // guarded by mu; by value of Authorization
	seen     []string          // guarded by mu; method and account of each request
}

func (v *vault) add(token, account string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.accounts[token] = account
}

// requests returns the accounts of all requests with the method.
func (v *vault) requests(method string) (accounts []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, one := range v.seen {
		if account, ok := strings.CutPrefix(one, method+" "); ok && !slices.Contains(accounts, account) {
			accounts = append(accounts, account)
		}
	}
	return accounts
}

func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name, URI, TaskID, RequestState string
			Notifications                   json.RawMessage
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &m) != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	v.mu.Lock()
	account := v.accounts[r.Header.Get("Authorization")]
	v.seen = append(v.seen, m.Method+" "+account)
	v.mu.Unlock()
	if m.Method == "subscriptions/listen" {
		v.listen(w, r, m.ID, m.Params.Notifications)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if result := vaultResult(m.Method, m.Params.Name, m.Params.URI, m.Params.TaskID, account); result != "" {
		kind := "complete"
		switch {
		case m.Params.Name == "task":
			kind = "task"
		case m.Params.Name == "ask" && m.Params.RequestState == "":
			kind, result = "input_required", fmt.Sprintf(
				`"inputRequests":{"q":{"method":"elicitation/create","params":{"message":"?"}}},"requestState":%q`,
				rand.Text(),
			)
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":%q,%s}}`, m.ID, kind, result)
		return
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
}

// listen acknowledges a listen request, and keeps it open.
func (v *vault) listen(w http.ResponseWriter, r *http.Request, id, notifications json.RawMessage) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"_meta\":{%q:%s},\"notifications\":%s}}\n\n",
		metaSubscription, id, notifications)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// vaultResult returns the members of a result, or "" for an unknown method.
func vaultResult(method, name, uri, task, account string) string {
	switch method {
	case "server/discover":
		return `"supportedVersions":["2026-07-28"],"ttlMs":0,"cacheScope":"private","capabilities":{"tools":{},"prompts":{},"completions":{},"resources":{"subscribe":true},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	case "tools/list":
		return fmt.Sprintf(`"tools":[{"name":"whoami","inputSchema":{"type":"object"}},{"name":"task","inputSchema":{"type":"object"}},{"name":"link","inputSchema":{"type":"object"}},{"name":"ask","inputSchema":{"type":"object"}},{"name":"of-%s","inputSchema":{"type":"object"}}]`,
			account)
	case "prompts/list":
		return fmt.Sprintf(`"prompts":[{"name":"whoami","arguments":[{"name":"a"}]},{"name":"of-%s"}]`, account)
	case "resources/list":
		return fmt.Sprintf(
			`"resources":[{"name":"whoami","uri":"vault://whoami"},{"name":"own","uri":"vault://of-%s"}]`,
			account,
		)
	case "resources/templates/list":
		return `"resourceTemplates":[]`
	case "resources/read":
		return fmt.Sprintf(`"contents":[{"uri":%q,"text":"read as %s"}]`, uri, account)
	case "prompts/get":
		return fmt.Sprintf(`"messages":[{"role":"user","content":{"type":"text","text":"read as %s"}}]`, account)
	case "completion/complete":
		return fmt.Sprintf(`"completion":{"values":["read as %s"]}`, account)
	case "tasks/get":
		return fmt.Sprintf(`"taskId":%q,"status":"working","ttlMs":null,"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"`,
			task)
	case "tasks/update", "tasks/cancel":
		return `"_meta":{"done":true}`
	case "tools/call":
		return vaultCall(name, account)
	}
	return ""
}

// vaultCall returns the members of the result of a tool.
func vaultCall(tool, account string) string {
	switch id := rand.Text(); tool {
	case "task":
		return fmt.Sprintf(`"taskId":%q,"status":"working","ttlMs":null,"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"`,
			id)
	case "link":
		return fmt.Sprintf(`"content":[{"type":"resource_link","name":"secret","uri":"vault://secret/%s"}]`, id)
	}
	return fmt.Sprintf(`"content":[{"type":"text","text":"read as %s"}]`, account)
}

// An isolationSite is a gateway for three principals, with servers of each share.
type isolationSite struct {
	*endpoint
	vault     *vault
	cancelled int // cancelled calls of shared__wait
}

// newIsolationSite starts the gateway and logs each principal in to the servers "team"
// and "person", which are the vault with share = "tenant" and with share = "session".
func newIsolationSite(t *testing.T) *isolationSite {
	t.Helper()
	v := &vault{accounts: map[string]string{}}
	auth := newAuthServer(t)
	auth.Inside = v
	open := httptest.NewServer(v)
	t.Cleanup(open.Close)
	shared := func(name, share string, web *webServer) server {
		s := server{name: name, web: web, more: fmt.Sprintf("  share = %q\n", share)}
		if web == nil {
			s.command = []string{program("gosdk"), "-page", "100"}
			s = s.pinned(latestLegacy)
		}
		return s
	}
	secured := &webServer{plugin: "http", url: auth.URL}
	s := newWorkspace(t,
		shared("shared", "global", nil), shared("own", "tenant", nil), shared("alone", "session", nil),
		shared("vault", "global", &webServer{plugin: "http", url: open.URL}),
		shared("team", "tenant", secured).with("  auth \"oauth\" {}\n"),
		shared("person", "session", secured).with("  auth \"oauth\" {}\n"),
	).withSecrets()
	// Some calls are still in progress at the end.
	blocks := "    legacy_sse = true\n    timeouts {\n      drain = \"100ms\"\n    }\n"
	for _, c := range []caller{ownerCaller, intruders["another tenant"], intruders["another subject"]} {
		s.env = append(s.env, c.subject+"="+c.token())
		blocks += fmt.Sprintf(
			"    auth \"static_token\" {\n      token = env(%q)\n      subject = %q\n      tenant = %q\n    }\n",
			c.subject, c.subject, c.tenant,
		)
	}
	const limits = "  limits {\n    tool \"shared/fail\" {\n      rate  = 0.001\n      burst = 2\n    }\n  }\n"
	s.appendConfig("gateway {\n" + limits + "  http {\n" + blocks + "  }\n}\n")
	for _, name := range []string{"team", "team acme", "team rival", "person", "person acme/alice", "person acme/carol",
		"person rival/bob"} {
		server, account, of := strings.Cut(name, " ")
		args := []string{"login", server}
		if of {
			args = append(args, "--tenant", account)
		}
		s.run(args...).exits(0)
		v.add("Bearer "+auth.newest(), cmp.Or(account, "local"))
	}
	return &isolationSite{endpoint: s.serveHTTP(), vault: v}
}

// A tenantClient is a client of the gateway, as bytes over HTTP.
type tenantClient struct {
	t *testing.T
	caller
	dialect
	url     string // of /mcp
	session string // of a legacy client
	http    *http.Client
}

// client returns a client of one era. A legacy client has begun a session.
func (s *isolationSite) client(t *testing.T, who caller, d dialect) *tenantClient {
	t.Helper()
	c := &tenantClient{t: t, caller: who, dialect: d, url: s.url, http: &http.Client{Transport: &http.Transport{}}}
	t.Cleanup(c.http.CloseIdleConnections)
	if !d.modern() {
		c.session = c.begin()
	}
	return c
}

// begin begins a session and returns its id.
func (c *tenantClient) begin() string {
	c.t.Helper()
	caps := c.caps
	if caps == nil {
		caps = object{}
	}
	session := c.session
	defer func() { c.session = session }()
	c.session = ""
	body, _ := c.message(`"initialize"`, "initialize", object{"protocolVersion": c.revision,
		"capabilities": caps, "clientInfo": object{"name": "isolation", "version": "1"}})
	res := c.send(c.t.Context(), "POST", c.url, body)
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	id := res.Header.Get("Mcp-Session-Id")
	if id == "" {
		c.t.Fatalf("%s got no session: %s", c.subject, res.Status)
	}
	return id
}

// message returns a request and its headers.
func (c *tenantClient) message(id, method string, params object) (body string, header []string) {
	c.t.Helper()
	if params = c.complete(params); method == "initialize" && c.modern() {
		delete(params, "_meta")
	}
	b, err := json.Marshal(object{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	if !c.modern() {
		return string(b), nil
	}
	header = []string{"Mcp-Protocol-Version", c.revision, "Mcp-Method", method}
	for _, member := range []string{"name", "uri", "taskId"} {
		if name, ok := params[member].(string); ok {
			header = append(header, "Mcp-Name", name)
		}
	}
	return string(b), header
}

// send sends an HTTP request. The caller closes the body.
func (c *tenantClient) send(ctx context.Context, method, url, body string, header ...string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.token())
	r.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := c.http.Do(r)
	if err != nil {
		c.t.Fatalf("%s: %s %s: %v", c.subject, method, url, err)
	}
	return res
}

// exchange sends an HTTP request and returns the whole response but for its date.
func (c *tenantClient) exchange(method, url, body string, header ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), testTimeout)
	defer cancel()
	res := c.send(ctx, method, url, body, header...)
	defer res.Body.Close()
	return c.text(res, res.Body)
}

// opening is exchange for a response that stays open if it is a stream. It returns the
// first event of the stream.
func (c *tenantClient) opening(method, url, body string, header ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), testTimeout)
	defer cancel()
	res := c.send(ctx, method, url, body, header...)
	defer res.Body.Close()
	if res.Header.Get("Content-Type") != "text/event-stream" {
		return c.text(res, res.Body)
	}
	lines := bufio.NewReader(res.Body)
	first, err := lines.ReadString('\n')
	if err != nil {
		c.t.Errorf("%s: %v", c.subject, err)
	}
	return c.text(res, strings.NewReader(first))
}

func (c *tenantClient) text(res *http.Response, body io.Reader) string {
	c.t.Helper()
	var text strings.Builder
	res.Header.Del("Date")
	res.Header.Del("X-Request-Id")
	fmt.Fprintln(&text, res.Status)
	_ = res.Header.Write(&text)
	if _, err := io.Copy(&text, body); err != nil {
		c.t.Errorf("%s: %v", c.subject, err)
	}
	return text.String()
}

// request sends a request and returns the response. It is never a stream, so that its
// bytes do not depend on the time that the answer takes.
func (c *tenantClient) request(method string, params object) string {
	c.t.Helper()
	body, header := c.message("1", method, params)
	return c.exchange("POST", c.url, body, append(header, "Accept", "application/json")...)
}

// tool calls a tool.
func (c *tenantClient) tool(name string, arguments object) string {
	c.t.Helper()
	return c.request("tools/call", object{"name": name, "arguments": arguments})
}

// A httpStream is an open stream and its events so far.
type httpStream struct {
	t      *testing.T
	cancel context.CancelFunc

	mu      sync.Mutex
	text    string        // guarded by mu
	over    bool          // guarded by mu
	changed chan struct{} // guarded by mu; closed and replaced with text
}

// stream opens a stream. The end of the test closes it.
func (c *tenantClient) stream(method, url, body string, header ...string) *httpStream {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &httpStream{t: c.t, cancel: cancel, changed: make(chan struct{})}
	header = append(header, "Accept", "text/event-stream")
	if method == "POST" {
		header[len(header)-1] = "application/json, text/event-stream"
	}
	res := c.send(ctx, method, url, body, header...)
	var work sync.WaitGroup
	work.Go(func() { s.read(res.Body) })
	c.t.Cleanup(func() { cancel(); work.Wait() })
	return s
}

func (s *httpStream) read(body io.ReadCloser) {
	defer body.Close()
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		s.mu.Lock()
		s.text += line
		s.over = err != nil
		close(s.changed)
		s.changed = make(chan struct{})
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// until waits for a text on the stream and returns its line.
func (s *httpStream) until(text string) string {
	s.t.Helper()
	late := time.NewTimer(testTimeout)
	defer late.Stop()
	for {
		s.mu.Lock()
		now, over, changed := s.text, s.over, s.changed
		s.mu.Unlock()
		switch {
		case strings.Contains(now, text):
			before, after, _ := strings.Cut(now, text)
			rest, _, _ := strings.Cut(after, "\n")
			return before[strings.LastIndex(before, "\n")+1:] + text + rest
		case over:
			s.t.Fatalf("the stream ended before %q: %s", text, clip(now))
		}
		select {
		case <-changed:
		case <-late.C:
			s.t.Fatalf("%q did not arrive: %s", text, clip(now))
		}
	}
}

// forget drops what has arrived.
func (s *httpStream) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = ""
}

// listen opens the client's stream of notifications. Only a modern client names the
// resources there.
func (c *tenantClient) listen(uris ...string) *httpStream {
	c.t.Helper()
	if c.modern() {
		body, header := c.message(`"listen"`, "subscriptions/listen",
			object{"notifications": object{"toolsListChanged": true,
				"resourceSubscriptions": append([]string{}, uris...)}})
		s := c.stream("POST", c.url, body, header...)
		s.until("acknowledged")
		s.forget() // the acknowledgement names the resources
		return s
	}
	for _, uri := range uris {
		if answer := c.request("resources/subscribe", object{"uri": uri}); !strings.Contains(answer, `"result"`) {
			c.t.Fatalf("subscribing: %s", answer)
		}
	}
	s := c.stream("GET", c.url, "")
	s.until("id: ")
	return s
}

// beginCall sends a call of a tool whose answer is a stream.
func (c *tenantClient) beginCall(id, tool string, arguments, meta object) *httpStream {
	c.t.Helper()
	params := object{"name": tool, "arguments": arguments}
	if meta != nil {
		params["_meta"] = meta
	}
	body, header := c.message(id, "tools/call", params)
	return c.stream("POST", c.url, body, header...)
}
