package interoptest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// restarts records the servers that are restarted.
type restarts struct {
	large
	mu  sync.Mutex
	all []string // guarded by mu
}

// Restart implements console.Servers.
func (r *restarts) Restart(server, _ string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, server)
	return nil
}

// attackPage is a page of another server of this machine. It knows the address of a page of
// the session and even its token.
const attackPage = `<!doctype html><title>attack</title>
<iframe name="frame" src="%[1]sservers"></iframe>
<img src="%[1]sservers"><script src="%[1]sservers"></script><link rel="stylesheet" href="%[1]sservers">
<form id="form" method="post" action="%[1]srestart" target="frame"><input name="csrf" value="%[2]s"><input name="server" value="files"></form>
<script>
const body = new URLSearchParams({csrf: %[2]q, server: "files"});
const tries = [];
for (const mode of ["no-cors", "cors"]) for (const method of ["GET", "POST"])
  tries.push(fetch(%[1]q + (method === "GET" ? "servers" : "restart"), {mode, method, credentials: "include", body: method === "GET" ? undefined : body}).then(r => r.text()).catch(e => ""));
navigator.sendBeacon(%[1]q + "restart", body);
document.getElementById("form").submit();
Promise.all(tries).then(texts => {
  let framed = "";
  try { framed = frames.frame.document.body.innerText } catch (e) {}
  document.title = "done " + texts.join("").length + " " + framed.includes("Servers") + " " + document.cookie;
});
</script>`

// TestConsoleAndHostilePage lets pages of other origins attack the console in a browser in
// which an admin is signed in: from another port, from another name of this machine, and
// from a name that is pointed at the console.
func TestConsoleAndHostilePage(t *testing.T) {
	r := &restarts{}
	server, web := serveSources(t,
		console.Sources{Process: r, Servers: r, Pins: r, Tools: callTools{large: r.large}, Approvals: r, Traffic: r})
	_, port, err := net.SplitHostPort(web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var base, token string
	var cookies []string
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		cookies = append(cookies, req.Header.Get("Cookie"))
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, attackPage, base, token)
	}))
	t.Cleanup(evil.Close)
	_, evilPort, err := net.SplitHostPort(evil.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b := openTab(t, 1440, "http://", chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"))
	path, _, _ := server.Link()
	b.open(web.URL + path)
	mu.Lock()
	base = strings.TrimSuffix(b.address(), "servers")
	token = result(b, chromedp.Evaluate[string](`document.querySelector("[name=csrf]").value`))
	mu.Unlock()
	for _, attacker := range []string{evil.URL, "http://localhost:" + evilPort, "http://evil.example:" + evilPort} {
		b.open(attacker)
		title := ""
		eventually.True(t, "the page of "+attacker+" is done", func() bool {
			title = result(b, chromedp.Evaluate[string](`document.title`))
			return strings.HasPrefix(title, "done")
		})
		if title != "done 0 false" {
			t.Errorf("%s: a page reads %q", attacker, title)
		}
	}
	// The rebound name is of the same origin as the console to the browser.
	b.open("http://evil.example:" + port + "/")
	b.shows("h1", "Unknown host name")
	b.open(strings.Replace(base, "127.0.0.1", "evil.example", 1) + "servers")
	b.shows("h1", "Unknown host name")
	mu.Lock()
	for _, c := range cookies {
		if c != "" {
			t.Errorf("another server gets the cookie %q", c)
		}
	}
	mu.Unlock()
	r.mu.Lock()
	if len(r.all) > 0 {
		t.Errorf("a page has restarted %q", r.all)
	}
	r.mu.Unlock()
	// The session is alive, so the attacks had something to steal.
	b.open(base + "servers")
	b.shows("h1", "Servers")
}
