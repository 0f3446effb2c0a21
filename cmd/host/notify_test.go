//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/host/notify"
)

const (
	notifySecret = "a-shared-secret-canary"
	noticeCanary = "canary-in-arguments"
)

// A hook is a webhook on loopback.
type hook struct {
	t    *testing.T
	url  string
	got  chan notify.Notice
	text chan string
}

func newHook(t *testing.T) *hook {
	h := &hook{t: t, got: make(chan notify.Notice, 100), text: make(chan string, 100)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var one notify.Notice
		if err := json.Unmarshal(body, &one); err != nil {
			t.Errorf("%v: %s", err, body)
		}
		if want := notify.Sign([]byte(notifySecret), r.Header.Get(notify.HeaderTimestamp),
			body); r.Header.Get(notify.HeaderSignature) != want {
			t.Errorf("signature %q, want %q", r.Header.Get(notify.HeaderSignature), want)
		}
		h.text <- fmt.Sprint(r.Header) + string(body)
		h.got <- one
	}))
	t.Cleanup(s.Close)
	h.url = s.URL + "/hook"
	return h
}

// await returns the next notice about an event.
func (h *hook) await(event notify.Event) notify.Notice {
	h.t.Helper()
	for deadline := time.After(reloadPatience); ; {
		select {
		case one := <-h.got:
			if one.Event == event {
				return one
			}
		case <-deadline:
			h.t.Fatalf("no notice about %s", event)
		}
	}
}

// TestNotices makes each event happen in a real process, and checks that neither arguments
// nor secrets leave it.
func TestNotices(t *testing.T) {
	d := newReloadDir(t)
	build(t, filepath.Join(d.site.dir, "plugins", "junctor-plugin-http"), "./plugins/http")
	first, second := newHook(t), newHook(t)
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer locked.Close()
	answers := filepath.Join(d.site.dir, "answers.json")
	list := func(description string) {
		text := fmt.Sprintf(
			`{"tools/list":{"tools":[{"name":"echo","description":%q,"inputSchema":{"type":"object"}}]}}`, description,
		)
		if err := os.WriteFile(answers, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list("Repeats the request")
	write := func(webhook string) {
		rewriteConfig(t, d.path, fmt.Sprintf(`
server "files" {
  transport "stdio" {
    command = ["canned", %q]
  }
}
server "broken" {
  transport "stdio" {
    command = ["sh", "-c", "exit 3"]
  }
}
server "locked" {
  transport "http" {
    url = %q
  }
}
policy {
  default = "allow"
  confirm {
    tools  = ["echo"]
    covers = "tool"
    grants = false
  }
}
notify {
  webhook = %q
  secret  = env("HOOK_SECRET")
}
`, answers, locked.URL, webhook))
	}
	write(first.url)
	d.site.env = append(d.site.env, "HOOK_SECRET="+notifySecret)
	s := d.serveHTTP()
	c := &reloadClient{url: s.url}
	c.initialize(t)
	call := func() string {
		m, err := c.request("tools/call",
			map[string]any{"name": "files__echo", "arguments": map[string]any{"text": noticeCanary}})
		return fmt.Sprint(string(m.Result), string(m.Error), err)
	}

	answer := call()
	one := first.await(notify.Approval)
	if one.Server != "files" || one.Item != "echo" || one.Kind != "tool" || len(one.Approval) != 6 ||
		!strings.Contains(answer, one.Approval) || !strings.Contains(one.Rule, "junctor.hcl:") || one.Expires == nil {
		t.Errorf("%+v\n%s", one, answer)
	}
	if out, errs, status := s.junctor("approvals", "approve", one.Approval); status != 0 {
		t.Errorf("the id of the notice cannot be approved: %s%s", out, errs)
	}
	// The lists of all servers are wanted, so broken and locked are connected.
	if _, err := c.request("tools/list", map[string]any{}); err != nil {
		t.Fatal(err)
	}
	write(second.url)
	s.hangup("reloaded the configuration")

	// The server offers another tool after a restart.
	if answer := call(); !strings.Contains(answer, noticeCanary) {
		t.Fatalf("the approved call: %s", answer)
	}
	list("Repeats the request, and more")
	if err := syscall.Kill(s.server("files").PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if down := second.await(notify.ServerDown); down.Server != "files" || down.Code == "" {
		t.Errorf("%+v", down)
	}
	if _, err := c.request("tools/list", map[string]any{}); err != nil {
		t.Fatal(err)
	}
	call()
	if changed := second.await(notify.ToolsChanged); changed.Server != "files" || len(changed.Changed) != 1 ||
		changed.Changed[0] != "echo" {
		t.Errorf("%+v", changed)
	}
	seen := map[string]notify.Event{}
	for len(first.got) > 0 {
		one := <-first.got
		seen[one.Server] = one.Event
	}
	if seen["broken"] != notify.ServerDown || seen["locked"] != notify.LoginFailed {
		t.Errorf("%v", seen)
	}
	if n := s.status().Notices; n == nil || n.Sent < 5 || n.Lost != 0 {
		t.Errorf("%+v", n)
	}
	for _, h := range []*hook{first, second} {
		for len(h.text) > 0 {
			if text := <-h.text; strings.Contains(text, noticeCanary) || strings.Contains(text, notifySecret) {
				t.Errorf("a notice tells too much: %s", text)
			}
		}
	}
}

// TestNotifyExample runs the Python function of docs/notify.md on genuine and forged
// notices.
func TestNotifyExample(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "notify.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(page), "```python\n")
	code, _, found := strings.Cut(code, "```")
	if !found {
		t.Fatal("docs/notify.md has no example in Python")
	}
	now, old := fmt.Sprint(time.Now().Unix()), fmt.Sprint(time.Now().Add(-notify.Window-time.Minute).Unix())
	body := []byte(`{"version":1}`)
	for _, c := range []struct{ stamp, signature, want string }{
		{now, notify.Sign([]byte(notifySecret), now, body), "True"},
		{now, notify.Sign([]byte("another secret, as long"), now, body), "False"},
		{now, notify.Sign([]byte(notifySecret), now, []byte("{}")), "False"},
		{old, notify.Sign([]byte(notifySecret), old, body), "False"},
		{now, notify.Sign([]byte(notifySecret), old, body), "False"},
		{"", notify.Sign([]byte(notifySecret), "", body), "False"},
		{now, "", "False"},
		{now, "v1=é", "False"},
		{"²", "v1=00", "False"},
	} {
		script := code + fmt.Sprintf(
			"\nprint(genuine(%q.encode(), {'Junctor-Timestamp': %q, 'Junctor-Signature': %q}, %q.encode()))\n",
			notifySecret, c.stamp, c.signature, body,
		)
		out, err := exec.Command(python, "-c", script).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%+v: %s, %v", c, got, err)
		}
	}
}
