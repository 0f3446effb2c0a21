//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/control"
)

// A canaryHook is a webhook that keeps what it gets.
type canaryHook struct {
	url   string
	first func()        // closes told, once
	told  chan struct{} // closed with the first notice

	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func newCanaryHook(t *testing.T) *canaryHook {
	h := &canaryHook{told: make(chan struct{})}
	h.first = sync.OnceFunc(func() { close(h.told) })
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		defer h.first()
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		fmt.Fprintf(&h.text, "%v%s\n", r.Header, body)
	}))
	t.Cleanup(s.Close)
	h.url = s.URL + "/hook"
	return h
}

func (h *canaryHook) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// A canaryOutput is a text that Junctor made.
type canaryOutput struct {
	from, text string
}

// outputs are the texts that Junctor made.
type outputs []canaryOutput

func (o *outputs) add(from, text string) { *o = append(*o, canaryOutput{from, text}) }

// use makes clients, servers and their failures appear in every output. It returns the
// errors that clients got.
func (s *canarySite) use() (answers outputs) {
	s.t.Helper()
	answers.add("junctor login", s.login())
	ann := s.client(canaries["C_TOKEN"].value())
	known := canaries["C_ENV"].value()
	arguments := fmt.Sprintf(`{"password":%q,"note":%q,"basic":%q,"query":%q}`, canaryNamed.value(), known,
		base64.StdEncoding.EncodeToString([]byte("zaphod:"+known)), url.QueryEscape(known))
	call := func(name string, header ...string) string {
		text, _, err := ann.tool(s.t.Context(), name, arguments, "", header...)
		if err != nil {
			s.t.Errorf("%s: %v", name, err)
		}
		return text
	}
	// The answer of a server is for its client alone, and has the secrets of the server.
	for _, name := range []string{"leaky__result", "leaky__fails", "leaky__refuses", "remote__result",
		"remote__refuses", "account__result", "account__refuses", "leaky__show_" + canaries["C_NAME"].value()} {
		if text := call(name, "X-Request-Id", canaries["C_NAME"].value()); !strings.Contains(text, canaryMark) {
			s.t.Errorf("%s passes on no secret of its server: %s", name, text)
		}
	}
	for _, name := range []string{"broken__result", "moved__result", "locked__result", "owned__result",
		"proxied__result", "userinfo__result", "leaky__exits", "leaky__asks"} {
		answers.add("the answer of "+name, call(name))
	}
	call("shop__buy")
	call("leaky__" + canaries["C_NAME"].value()) // does not exist
	for _, wrong := range []string{"Bearer " + canaryUnknown.value(),
		"Basic " + base64.StdEncoding.EncodeToString([]byte("zaphod:"+canaryBasic.value())),
		"Bearer " + canaries["C_JWT"].value()} {
		_, text, err := s.client("").post(legacyInitialize, "Authorization", wrong)
		answers.add("the answer to a wrong credential", fmt.Sprint(text, err))
	}
	bob := s.client(canaryGate.value())
	if status, text, err := bob.post(strings.Replace(legacyInitialize, `"name":"t"`, fmt.Sprintf(`"name":%q`, known),
		1)); err != nil || status != http.StatusOK {
		s.t.Errorf("%d, %v: %s", status, err, text)
	}
	s.secrets["session"] = []string{bob.session}
	for _, body := range []string{`"method":"tools/list"`,
		fmt.Sprintf(`"method":"resources/read","params":{"uri":"leak://%s"}`, canaries["C_NAME"].value()),
		fmt.Sprintf(`"method":"prompts/get","params":{"name":"leaky__%s"}`, known)} {
		if _, _, err := bob.post(`{"jsonrpc":"2.0","id":1,` + body + `}`); err != nil {
			s.t.Error(err)
		}
	}
	return answers
}

// login logs in to the account. It returns what the verb printed, without the address for the
// browser. The code of the login and the parameters of the address are secrets.
func (s *canarySite) login() string {
	s.t.Helper()
	s.account.Tokens = func(_ url.Values, reply map[string]any) {
		reply["access_token"], reply["refresh_token"] = canaryAccess.value(), canaryRefresh.value()
	}
	s.account.Inside = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { leakingOf(r).serve(w, r) })
	login := s.dir.command("login", "account", "--text", "--log", "trace", "--callback-port", freePort(s.t))
	said, err := login.StderrPipe()
	if err == nil {
		err = login.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	var text strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		address := strings.TrimSpace(lines.Text())
		if !strings.HasPrefix(address, "http://") {
			text.WriteString(lines.Text() + "\n")
			continue
		}
		resp, err := http.Get(address)
		if err != nil {
			s.t.Fatal(err)
		}
		page, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			s.t.Errorf("the page after a login: %d, %v", resp.StatusCode, err)
		}
		resp.Body.Close()
		text.Write(page)
	}
	if err := login.Wait(); err != nil {
		s.t.Fatalf("%v: %s", err, &text)
	}
	for _, r := range append(s.account.Requests("/authorize"), s.account.Grants("authorization_code")...) {
		for _, name := range []string{"code", "code_verifier", "state"} {
			if value := r.Form.Get(name); value != "" {
				s.secrets[name] = []string{value}
			}
		}
	}
	if s.secrets["code"] == nil || s.secrets["code_verifier"] == nil || s.secrets["state"] == nil {
		s.t.Errorf("the login had no code: %v", s.account.Requests(""))
	}
	return text.String()
}

// everything returns every output of the process, and of the verbs that tell about it.
func (s *canarySite) everything() (all outputs) {
	s.t.Helper()
	all = append(all, s.verbs(
		[]string{"call", "broken__result"}, []string{"call", "owned__result", "--log", "trace"},
		[]string{"validate", "--text", "--deep"}, []string{"doctor"},
		[]string{"doctor", "--text", "--report", "report.txt"}, []string{"auth", "status"}, []string{"policy", "table"},
		[]string{"policy", "classify"}, []string{"tools", "broken"}, []string{"tools", "userinfo"},
		[]string{"secret", "list"}, []string{"trust", "--list"}, []string{"config", "explain"},
		[]string{"config", "explain", "leaky", "--text"}, []string{"plan"},
		[]string{"why", "ann", "leaky__result", "password=" + canaryNamed.value()}, []string{"validate"},
	)...)
	all = append(all, s.verbs([]string{"reload"}, []string{"restart", "leaky"})...)
	all.add("the pages", s.pages())
	all = append(all, s.verbs(
		[]string{"top", "--once"}, []string{"top", "--once", "--text"}, []string{"status"},
		[]string{"status", "--text"}, []string{"status", "leaky"}, []string{"approvals"},
		[]string{"approvals", "--text"}, []string{"logs"}, []string{"logs", "--text"}, []string{"logs", "leaky"},
		[]string{"events"}, []string{"events", "--text"}, []string{"audit", "tail", "--text"},
		[]string{"audit", "search"}, []string{"audit", "export"}, []string{"audit", "export", "--format", "csv"},
		[]string{"audit", "export", "--format", "ocsf"},
	)...)
	for _, one := range s.rows() {
		out, errs, _ := s.junctor("audit", "show", fmt.Sprint(one))
		all.add(fmt.Sprintf("junctor audit show %d", one), out+errs)
	}
	for _, id := range s.waiting() {
		out, errs, _ := s.junctor("approvals", "show", id, "--text")
		all.add("junctor approvals show", out+errs)
	}
	for _, path := range []string{"/v1/status", "/v1/view", "/v1/logs", "/v1/events", "/v1/approvals"} {
		all.add("the control socket, "+path, s.ask(path))
	}
	resp, err := http.Get("http://" + s.metrics + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Contains(text, []byte("mcp_requests_total")) {
		s.t.Errorf("%v: %s", err, text)
	}
	all.add("the metrics", string(text))
	select {
	case <-s.hook.told:
	case <-time.After(reloadPatience):
		s.t.Error("the webhook got no notice")
	}
	all.add("the webhook", s.hook.String())
	s.spans.Await(s.t, "a span and a metric",
		func() bool { return len(s.spans.Spans()) > 10 && s.spans.Metric("mcp_requests_total") != nil })
	for len(s.log) > 0 {
		all.add("standard error", <-s.log)
	}
	return append(all, s.files()...)
}

// verbs returns what verbs print. Some wait, so that four run at the same time.
func (s *canarySite) verbs(all ...[]string) outputs {
	s.t.Helper()
	said, slots := make(outputs, len(all)), make(chan struct{}, 4)
	var work sync.WaitGroup
	for i, verb := range all {
		work.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			text, err := s.dir.command(verb...).CombinedOutput()
			if len(text) == 0 {
				s.t.Errorf("junctor %s prints nothing: %v", strings.Join(verb, " "), err)
			}
			said[i] = canaryOutput{"junctor " + strings.Join(verb, " "), string(text)}
		})
	}
	work.Wait()
	return said
}

// rows returns the numbers of the rows of the audit log.
func (s *canarySite) rows() (all []int) {
	out, _, _ := s.junctor("audit", "search", "--limit", "0", "--json")
	var rows []struct{ Seq int }
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) < 20 {
		s.t.Errorf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows[:min(len(rows), 3)] {
		all = append(all, r.Seq)
	}
	return all
}

// waiting returns the ids of the calls that wait for an approval.
func (s *canarySite) waiting() (all []string) {
	out, errs, _ := s.junctor("approvals", "--json")
	var waiting []struct{ ID string }
	if err := json.Unmarshal([]byte(out), &waiting); err != nil || len(waiting) == 0 {
		s.t.Errorf("%v: %s%s", err, out, errs)
	}
	for _, one := range waiting {
		all = append(all, one.ID)
	}
	return all
}

// ask returns an answer of the control socket.
func (s *canarySite) ask(path string) string {
	s.t.Helper()
	id := fmt.Sprint(s.cmd.Process.Pid)
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "junctor-"+id+".*", "control.sock"))
	if short, _ := filepath.Glob(filepath.Join(s.cmd.Dir, "home", "run", id+".*", "control.sock")); len(short) > 0 {
		found = short
	}
	if err != nil || len(found) != 1 {
		s.t.Fatalf("control sockets %q, %v", found, err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", found[0])
		}}}
	resp, err := client.Get("http://control" + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Errorf("%s: %d, %v", path, resp.StatusCode, err)
	}
	return string(text)
}

// pages returns the pages of the console. The key of the link, the cookie and the token of
// forms are secrets everywhere else.
func (s *canarySite) pages() string {
	s.t.Helper()
	out, _, _ := s.junctor("console", "--json")
	var link control.ConsoleLink
	if err := json.Unmarshal([]byte(out), &link); err != nil {
		s.t.Fatal(err)
	}
	browser := newBrowser(s.t)
	status, at, text := load(s.t, browser, link.URL)
	token := regexp.MustCompile(`name="csrf" value="([A-Z2-7]+)"`).FindStringSubmatch(text)
	if status != http.StatusOK || token == nil {
		s.t.Fatalf("%d: %s", status, text)
	}
	address, _ := url.Parse(link.URL)
	s.secrets["link"], s.secrets["form"] = []string{address.Query().Get("key")}, []string{token[1]}
	for _, cookie := range browser.Jar.Cookies(at) {
		s.secrets["cookie "+cookie.Name] = []string{cookie.Value}
	}
	var all strings.Builder
	page := func(path string) {
		status, _, text := load(s.t, browser, at.Scheme+"://"+at.Host+strings.TrimSuffix(at.Path, "servers")+path)
		if status != http.StatusOK {
			s.t.Errorf("%s: %d", path, status)
		}
		all.WriteString(strings.ReplaceAll(text, token[1], ""))
	}
	for _, path := range []string{
		"servers", "server?name=leaky", "server?name=broken", "server?name=owned", "server?name=locked",
		"server?name=userinfo", "tools", "tool?name=leaky__result", "access", "sessions", "approvals", "logins",
		"plugins", "limits", "charts", "audit", "audit?show=all", "log", "events", "policy", "items", "configuration",
	} {
		page(path)
	}
	return all.String()
}

// files returns the files that Junctor wrote.
func (s *canarySite) files() (all outputs) {
	s.t.Helper()
	inputs := []string{"secret.txt", "password"}
	err := filepath.WalkDir(s.cmd.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.HasPrefix(path, filepath.Join(s.cmd.Dir, "plugins")) ||
			slices.Contains(inputs, e.Name()) {
			return err
		}
		text, err := os.ReadFile(path)
		all.add("the file "+strings.TrimPrefix(path, s.cmd.Dir), string(text))
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
	if !slices.ContainsFunc(all, func(o canaryOutput) bool { return o.from == "the file /audit.db-wal" }) {
		s.t.Error("there is no file of the audit log")
	}
	return all
}

// TestNoOutputHasASecret puts a secret in every place where one can stand. A server repeats
// its secrets in everything that it says. Only the answers of servers have them, which are for
// their clients alone.
func TestNoOutputHasASecret(t *testing.T) {
	t.Parallel()
	s := newCanarySite(t)
	all := s.use()
	all = append(all, s.everything()...)
	for place, texts := range s.secrets {
		for _, secret := range texts {
			if secret == "" {
				t.Errorf("the secret of %s is not known", place)
				continue
			}
			if s.spans.Contains(secret) {
				t.Errorf("the export over OTLP has %s (%s)", place, secret)
			}
			for _, o := range all {
				if at := strings.Index(o.text, secret); at >= 0 {
					t.Errorf("%s has %s (%s): …%s…",
						o.from, place, secret, o.text[max(0, at-120):min(len(o.text), at+120)])
				}
			}
		}
	}
}
