//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// holdingServer is an MCP server in a shell. It makes a file called-ID for each call, and
// answers the calls when there is a file "go".
const holdingServer = `while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([^,]*\),.*/\1/p')
  case $line in
  *'"method":"initialize"'*)
    echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"h","version":"1"}}}' ;;
  *'"method":"tools/list"'*)
    echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"tools":[{"name":"hold","inputSchema":{"type":"object"}}]}}' ;;
  *'"method":"tools/call"'*)
    (
      : > "called-$id"
      while [ ! -e go ]; do sleep 0.02; done
      echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"content":[{"type":"text","text":"released"}]}}'
    ) & ;;
  *'"id":'*)
    echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"no such method"}}' ;;
  esac
done
`

// A gatewaySite is a reloadSite whose configuration has a gateway block.
type gatewaySite struct {
	*reloadSite
	servers string // further blocks
}

// startGatewaySite starts the gateway with the content of an http block.
func startGatewaySite(t *testing.T, content string) *gatewaySite {
	t.Helper()
	s := &gatewaySite{reloadSite: newReloadSite(t)}
	s.configure(content)
	s.start("serve", "--http")
	return s
}

// configure writes a configuration with the content of an http block.
func (s *gatewaySite) configure(content string) {
	s.t.Helper()
	s.put("junctor.hcl", "server \"steady\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n  }\n}\n"+s.servers+
		"gateway {\n  http {\n"+content+"\n  }\n}\n")
}

// reload is configure, and waits until the process has reloaded the configuration.
func (s *gatewaySite) reload(content string) {
	s.t.Helper()
	s.configure(content)
	s.hangup("reloaded the configuration")
}

// refuse is configure, and expects that the process keeps the configuration before. It
// returns the line of the log.
func (s *gatewaySite) refuse(content string) string {
	s.t.Helper()
	s.configure(content)
	return s.hangup("was not reloaded")
}

func (s *gatewaySite) put(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(s.path), name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// freeAddress returns an address of this machine at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	return "127.0.0.1:" + freePort(t)
}

// A gatewayClient is a client with a token, in a session of the legacy era or modern.
type gatewayClient struct {
	t       *testing.T
	url     string
	token   string
	session string // empty: modern
	http    *http.Client
}

func (s *gatewaySite) client(token string) *gatewayClient {
	c := &gatewayClient{t: s.t, url: s.url, token: token, http: &http.Client{Transport: &http.Transport{}}}
	s.t.Cleanup(c.http.CloseIdleConnections)
	return c
}

const (
	modernMeta       = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	legacyInitialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
)

// request sends a request. The caller closes the body of the response.
func (c *gatewayClient) request(method, path, body string, header ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(c.t.Context(), method, strings.TrimSuffix(c.url, "/mcp")+path,
		strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return c.http.Do(r)
}

// post sends a message and returns the status and the body.
func (c *gatewayClient) post(body string, header ...string) (int, string, error) {
	resp, err := c.request(http.MethodPost, "/mcp", body, header...)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return resp.StatusCode, string(text), err
}

// call calls a tool.
func (c *gatewayClient) call(tool string) (int, string, error) {
	m, header := fmt.Sprintf(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"a":1,"b":1}`, tool,
	), []string(nil)
	if c.session == "" {
		m += "," + modernMeta
		header = []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}
	}
	return c.post(m+"}}", header...)
}

// expect calls a tool and compares the status of the response.
func (c *gatewayClient) expect(what string, want int) {
	c.t.Helper()
	if status, text, err := c.call("steady__add"); err != nil || status != want ||
		want == http.StatusOK && !strings.Contains(text, `"sum":2`) {
		c.t.Errorf("%s: %d, %v: %s, want %d", what, status, err, text, want)
	}
}

// initialize begins a session.
func (c *gatewayClient) initialize() *gatewayClient {
	c.t.Helper()
	if status, text, err := c.post(legacyInitialize); err != nil || status != http.StatusOK || c.session == "" {
		c.t.Fatalf("initialize: %d, %v: %s", status, err, text)
	}
	return c
}

// stream opens a stream and returns its lines, until it ends.
func (c *gatewayClient) stream(method, path, body string, header ...string) <-chan string {
	c.t.Helper()
	resp, err := c.request(method, path, body, header...)
	if err != nil || resp.StatusCode != http.StatusOK {
		c.t.Fatalf("%s %s: %v, %v", method, path, resp, err)
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		defer resp.Body.Close()
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}

// listen opens a subscriptions/listen stream, and waits until it is acknowledged.
func (c *gatewayClient) listen() <-chan string {
	c.t.Helper()
	lines := c.stream(http.MethodPost, "/mcp",
		`{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+
			modernMeta+`}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	waitLine(c.t, lines, "acknowledged")
	return lines
}

// waitLine waits for a line with a text. It returns false if the stream ends before.
func waitLine(t *testing.T, lines <-chan string, want string) bool {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case line, ok := <-lines:
			if !ok || strings.Contains(line, want) {
				return ok
			}
		case <-deadline:
			t.Fatalf("the stream has no %q and does not end", want)
		}
	}
}

// expectEnd waits until a stream ends, after a line with a text.
func expectEnd(t *testing.T, what string, lines <-chan string, want string) {
	t.Helper()
	if !waitLine(t, lines, want) {
		t.Errorf("%s ended without %q", what, want)
	}
	if waitLine(t, lines, "\x00") {
		t.Errorf("%s does not end", what)
	}
}

func tokenBlock(subject, token string) string {
	return fmt.Sprintf("    auth \"static_token\" {\n      subject = %q\n      token   = %q\n    }\n", subject, token)
}

const (
	annToken  = "ann-0123456789abcdef"
	annToken2 = "ann-fedcba9876543210"
	bobToken  = "bob-0123456789abcdef"
)

// TestReloadRotatesTokens replaces the token of one client. Its sessions stay and its
// streams end. The other client notices nothing.
func TestReloadRotatesTokens(t *testing.T) {
	listen := fmt.Sprintf("    listen = %q\n    legacy_sse = true\n", freeAddress(t))
	s := startGatewaySite(t, listen+tokenBlock("ann", annToken)+tokenBlock("bob", bobToken))
	ann, bob := s.client(annToken).initialize(), s.client(bobToken).initialize()
	modern := s.client(annToken)
	annStream, bobStream := ann.stream(http.MethodGet, "/mcp", ""), bob.stream(http.MethodGet, "/mcp", "")
	bobListens, listens, sse := s.client(bobToken).listen(), modern.listen(), modern.stream(http.MethodGet, "/sse", "")
	ann.expect("the token before the reload", http.StatusOK)

	s.reload(listen + tokenBlock("ann", annToken2) + tokenBlock("bob", bobToken))
	expectEnd(t, "the stream of the session", annStream, "unauthorized")
	expectEnd(t, "the stream of HTTP+SSE", sse, "unauthorized")
	expectEnd(t, "the listen request", listens, `"resultType":"complete"`)
	ann.expect("the old token in its session", http.StatusUnauthorized)
	modern.expect("the old token", http.StatusUnauthorized)
	bob.expect("the other client", http.StatusOK)
	ann.token = annToken2
	ann.expect("the new token in the same session", http.StatusOK)

	s.servers = "server \"more\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n  }\n}\n"
	s.reload(listen + tokenBlock("bob", bobToken))
	if !waitLine(t, bobListens, "list_changed") || !waitLine(t, bobStream, "list_changed") {
		t.Error("the streams of the other client have ended")
	}
	ann.expect("a client that was removed", http.StatusUnauthorized)
	bob.expect("the other client", http.StatusOK)
}

// TestReloadMovesListener moves the listener while calls are in flight. They all end, and
// the sessions go on at the other address, although their store is a file.
func TestReloadMovesListener(t *testing.T) {
	first, second := freeAddress(t), freeAddress(t)
	content := func(address string) string {
		return fmt.Sprintf("    listen = %q\n    sessions {\n      store = \"disk\"\n    }\n", address)
	}
	s := &gatewaySite{reloadSite: newReloadSite(t),
		servers: "server \"held\" {\n  transport \"stdio\" {\n    command = [\"sh\", \"held.sh\"]\n  }\n}\n"}
	s.put("held.sh", holdingServer)
	s.configure(content(first))
	s.start("serve", "--http")
	session := s.client("").initialize()
	stream, listens := session.stream(http.MethodGet, "/mcp", ""), s.client("").listen()
	const calls = 10
	results := make(chan error, calls)
	for i := range calls {
		c := s.client("")
		if i%2 == 0 {
			c.initialize()
		}
		go func() {
			status, text, err := c.call("held__hold")
			if err == nil && (status != http.StatusOK || !strings.Contains(text, "released")) {
				err = fmt.Errorf("%d: %s", status, text)
			}
			results <- err
		}()
	}
	eventually.NoError(t, func() error {
		if called, _ := filepath.Glob(filepath.Join(filepath.Dir(s.path), "called-*")); len(called) != calls {
			return fmt.Errorf("the server got %d calls", len(called))
		}
		return nil
	})

	s.configure(content(second))
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.url = s.endpoint()
	if !strings.Contains(s.url, second) {
		t.Fatalf("it serves at %s", s.url)
	}
	s.waitLog("reloaded the configuration")
	if line := s.waitLog("restart only"); !strings.Contains(line, "gateway.http.listen") {
		t.Errorf("the file of sessions has the name of the address before: %s", line)
	}
	expectEnd(t, "the stream of the session", stream, "moved")
	expectEnd(t, "the listen request", listens, `"resultType":"complete"`)
	if c, err := net.Dial("tcp", first); err == nil {
		c.Close()
		t.Error("the old address accepts connections")
	}
	session.url = s.url
	session.expect("the session at the other address", http.StatusOK)
	s.put("go", "")
	for range calls {
		if err := <-results; err != nil {
			t.Errorf("a call that was in flight: %v", err)
		}
	}
	session.expect("the session after the calls", http.StatusOK)
}

// TestReloadRefusesUnusableListener: an address or certificate that cannot be used, or an
// unsafe combination, has a place in the log and changes nothing.
func TestReloadRefusesUnusableListener(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	listen := fmt.Sprintf("    listen = %q\n", freeAddress(t))
	s := startGatewaySite(t, listen+tokenBlock("ann", annToken))
	session := s.client(annToken).initialize()
	s.servers = "server \"more\" {\n  transport \"stdio\" {\n    command = [\"./demo\"]\n  }\n}\n"
	for what, c := range map[string]struct{ content, want string }{
		"an address in use": {fmt.Sprintf("    listen = %q\n", taken.Addr()) + tokenBlock("bob", bobToken),
			"cannot listen"},
		"no authentication": {"    listen = \"0.0.0.0:0\"\n    allow_plaintext = true\n",
			"must be authenticated"},
		"a missing certificate": {listen + tokenBlock("bob", bobToken) +
			"    tls {\n      cert = \"none.pem\"\n      key = \"none.key\"\n    }\n", "none.pem"},
		"a token that is missing": {listen + strings.Replace(tokenBlock("bob", "x"), `"x"`, `keyring("none")`, 1),
			"none"},
	} {
		if line := s.refuse(c.content); !strings.Contains(line, c.want) || !strings.Contains(line, "junctor.hcl:") {
			t.Errorf("%s: %s", what, line)
		}
		session.expect(what+": the session", http.StatusOK)
		s.client(bobToken).expect(what+": the new token", http.StatusUnauthorized)
		if _, text, err := s.client(annToken).call("more__add"); err != nil || !strings.Contains(text, "unknown tool") {
			t.Errorf("%s: the new server: %v: %s", what, err, text)
		}
	}
}

// TestReloadKeepsAddressOfTheCommandLine: the address of --http overrides the
// configuration, and everything else in it takes effect.
func TestReloadKeepsAddressOfTheCommandLine(t *testing.T) {
	s := &gatewaySite{reloadSite: newReloadSite(t)}
	s.configure("    listen = \"127.0.0.1:1\"\n")
	s.start("serve", "--http=127.0.0.1:0")
	session := s.client("").initialize()
	s.reload("    listen = \"127.0.0.1:2\"\n" + tokenBlock("ann", annToken))
	session.expect("without the token", http.StatusUnauthorized)
	s.client(annToken).expect("with the token", http.StatusOK)
}

// TestReloadChangesLimits changes the rate of an address, the size of a body and the
// number of sessions.
func TestReloadChangesLimits(t *testing.T) {
	listen := fmt.Sprintf("    listen = %q\n", freeAddress(t))
	s := startGatewaySite(t, listen)
	c := s.client("").initialize()
	large := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 8<<10) + `"}}`
	if status, text, err := c.post(large); err != nil || status != http.StatusOK {
		t.Errorf("a large request before: %d, %v: %s", status, err, text)
	}
	s.reload(listen + "    max_body = \"4KiB\"\n    sessions {\n      max = 1\n    }\n")
	if status, text, err := c.post(large); err != nil || status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large request after: %d, %v: %s", status, err, text)
	}
	if status, text, err := s.client("").post(legacyInitialize); err != nil ||
		status != http.StatusServiceUnavailable || !strings.Contains(text, "sessions.max is 1") {
		t.Errorf("a second session: %d, %v: %s", status, err, text)
	}
	s.reload(listen + "    per_ip {\n      rate = 0.001\n      burst = 1\n    }\n")
	c.expect("the first request", http.StatusOK)
	c.expect("the second request", http.StatusTooManyRequests)
	s.reload(listen)
	c.expect("without the limit", http.StatusOK)
}

// TestReloadNamesWhatNeedsRestart: the settings that a reload cannot change are named
// once, and all others take effect.
func TestReloadNamesWhatNeedsRestart(t *testing.T) {
	listen := fmt.Sprintf("    listen = %q\n", freeAddress(t))
	s := startGatewaySite(t, listen)
	s.configure(listen + "    sessions {\n      store = \"memory\"\n    }\n" + tokenBlock("ann", annToken))
	if _, errs, status := s.junctor("reload", "--text"); status != 0 ||
		!strings.Contains(errs, "gateway.http.sessions.store: the sessions stay in their files until a restart") {
		t.Errorf("status %d: %s", status, errs)
	}
	if line := s.waitLog("restart only"); !strings.Contains(line, "gateway.http.sessions.store") {
		t.Error(line)
	}
	if out, errs, status := s.junctor("reload", "--json"); status != 0 ||
		!strings.Contains(strings.ReplaceAll(out, " ", ""), `"needs_restart":[]`) {
		t.Errorf("a setting that had changed before: status %d: %s%s", status, out, errs)
	}
	s.client("").expect("without the token", http.StatusUnauthorized)
}

// TestReloadMovesSecretStore replaces the encrypted file. A server that uses a secret of
// it counts as changed, and so does the token of a client. A store that cannot be opened
// changes nothing.
func TestReloadMovesSecretStore(t *testing.T) {
	listen := fmt.Sprintf("    listen = %q\n", freeAddress(t)) +
		strings.Replace(tokenBlock("ann", "x"), `"x"`, `keyring("token")`, 1)
	s := &gatewaySite{reloadSite: newReloadSite(t)}
	build(t, filepath.Join(filepath.Dir(s.path), "odd"), "./testdata/odd")
	s.put("password", "correct horse battery staple\n")
	s.put("wrong", "another password\n")
	use := func(file, password string) {
		s.servers = "server \"odd\" {\n  transport \"stdio\" {\n    command = [\"./odd\"]\n    env = { KEY = keyring(\"key\") }\n  }\n}\n" +
			fmt.Sprintf("secret_store \"file\" {\n  path = %q\n  password_file = %q\n}\n",
				file+"/secrets.age", password)
	}
	for file, token := range map[string]string{"second": annToken2, "first": annToken} {
		use(file, "password")
		s.configure(listen)
		s.save("token", token)
		s.save("key", "the key of "+file)
	}
	use("first", "password")
	s.configure(listen)
	s.start("serve", "--http")
	c := s.client(annToken)
	if _, text, err := c.call("odd__env"); err != nil || !strings.Contains(text, "KEY=the key of first") {
		t.Fatalf("%v: %s", err, text)
	}
	use("second", "wrong")
	if line := s.refuse(listen); !strings.Contains(line, "junctor.hcl:") {
		t.Errorf("no place: %s", line)
	}
	c.expect("the token of the first file", http.StatusOK)
	use("second", "password")
	s.configure(listen)
	if line := s.hangup("reloaded the configuration", "was not reloaded"); !strings.Contains(line, `changed=["odd"]`) {
		t.Error(line)
	}
	c.expect("the token of the first file", http.StatusUnauthorized)
	c.token = annToken2
	c.expect("the token of the second file", http.StatusOK)
	if _, text, err := c.call("odd__env"); err != nil || !strings.Contains(text, "KEY=the key of second") {
		t.Errorf("%v: %s", err, text)
	}
}

// save stores a secret in the store of the configuration.
func (s *gatewaySite) save(name, value string) {
	s.t.Helper()
	cmd := exec.Command("junctor", "secret", "set", name)
	cmd.Dir, cmd.Env = s.cmd.Dir, s.cmd.Env
	cmd.Stdin = strings.NewReader(value)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

// TestReloadKeepsAuthentication: a configuration without any authentication is refused.
// The token of the one before is needed as before.
func TestReloadKeepsAuthentication(t *testing.T) {
	t.Parallel()
	s := startGatewaySite(t, "    listen = \"127.0.0.1:0\"\n    auth \"static_token\" {\n      token   = \"0123456789abcdef0123456789abcdef\"\n      subject = \"ada\"\n    }")
	s.configure("    listen = \"127.0.0.1:0\"")
	if line := s.hangup("not reloaded", "reloaded the"); !strings.Contains(line,
		"does not authenticate clients any longer") || !strings.Contains(line, "junctor.hcl:") {
		t.Error(line)
	}
	rewriteConfig(t, s.path, "")
	if line := s.hangup("not reloaded", "reloaded the"); !strings.Contains(line, "neither servers nor gateway.http") {
		t.Error(line)
	}
	if text, err := (&reloadClient{url: s.url}).call("steady__add"); err == nil {
		t.Errorf("a client without a token: %s", text)
	}
}
