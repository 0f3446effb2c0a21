package gateway

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// TestRemoteClientsGetNoLocalText: of what went wrong on this machine a client
// over HTTP gets a code and an id, under which the log has all of it.
func TestRemoteClientsGetNoLocalText(t *testing.T) {
	const secret = "/srv/app/bin/tool"
	broken := &fault.Error{Code: fault.UpstreamCommandNotFound,
		Message: "starting " + secret + ": dial tcp 127.0.0.1:7801: connection refused",
		Hint:    "install " + secret, Output: []string{"panic at " + secret}}
	synctest.Test(t, func(t *testing.T) {
		f := simple("a")
		d := newFixture(f)
		defer d.end()
		d.warm(t)
		f.broken = broken
		for _, l := range f.Links() {
			l.End(nil)
		}
		bubble.Sleep(time.Second)
		ask := func(c *testClient, id int, era string) string {
			c.say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__t"%s}}`, id, era)
			bubble.Sleep(time.Second)
			return strings.Join(c.drain(), "\n")
		}
		remote := d.visitor("alice", "one")
		defer remote.hangUp()
		remote.greet(t, "{}")
		var ids []string
		for i, era := range []string{"", `,"_meta":{$M}`, ""} {
			got := ask(remote, i, era)
			id := regexp.MustCompile(`"message":"server \\"a\\": (?:the request was not sent: )?the server's program was not found; (?:try again in 1s; )?the log of junctor says why, under ([0-9a-f]{8})"`).
				FindStringSubmatch(got)
			if id == nil || !strings.Contains(got, `"code":"upstream.command_not_found"`) ||
				!strings.Contains(got, `"server":"a"`) || !strings.Contains(got, `"id":"`+id[1]+`"`) {
				t.Fatal(got)
			}
			for _, local := range []string{secret, "127.0.0.1", "panic", "install"} {
				if strings.Contains(got, local) {
					t.Errorf("%q is in %s", local, got)
				}
			}
			ids = append(ids, id[1])
		}
		if n := d.log.count("a request failed: id=" + ids[0]); n != 1 ||
			d.log.count("said=[\"panic at "+secret) == 0 && d.log.count("panic at "+secret) == 0 {
			t.Errorf("the log has it %d times:\n%s", n, d.log.text.String())
		}
		if ids[0] != ids[1] || ids[1] != ids[2] {
			t.Errorf("the same failure has the ids %v", ids)
		}
		bubble.Sleep(failureTime)
		if got := ask(remote, 9, ""); strings.Contains(got, ids[0]) {
			t.Errorf("later it has the same id: %s", got)
		}
		own := d.client()
		defer own.hangUp()
		own.greet(t, "{}")
		if got := ask(own, 1, ""); !strings.Contains(got, secret) || !strings.Contains(got, "connection refused") {
			t.Error(got)
		}
	})
}

// TestRemoteClientsGetTheirOwnMistakes: what a client did wrong, and what a server
// answered, is not left out.
func TestRemoteClientsGetTheirOwnMistakes(t *testing.T) {
	g := New(Options{Log: hclog.NewNullLogger()})
	r := &pendingRequest{request: request{gw: g, client: &modernClient{}}}
	for code := range fault.Codes {
		got := string(clientError(r, fault.In("a", fault.New(code, "the words"))).object())
		if kept := strings.Contains(got, "the words"); kept != clientFaults[code] && code != fault.Denied {
			t.Errorf("%s: %s", code, got)
		}
	}
}

// TestFailuresAreBounded: ever new failures do not fill the memory.
func TestFailuresAreBounded(t *testing.T) {
	var f failures
	for i := range 3 * failuresKept {
		f.id(fault.New(fault.UpstreamExited, "%d", i))
	}
	if len(f.recent) > failuresKept {
		t.Errorf("%d failures", len(f.recent))
	}
}

// TestLastWords checks what a message repeats of the output of a server: few lines, short
// ones, and nothing that a terminal would obey.
func TestLastWords(t *testing.T) {
	long := strings.Repeat("x", saidLine+1)
	for _, c := range []struct {
		output []string
		want   string
	}{
		{nil, "it ended"},
		{[]string{"", " \t"}, "it ended"},
		{[]string{"no config"}, "it ended; last output: no config"},
		{[]string{"1", "2", "3", "4", "5", "6"}, "it ended; last output: 2 | 3 | 4 | 5 | 6"},
		{[]string{"\x1b[31mred\x1b[0m\u202e", "\u009b1mbold"}, "it ended; last output: red | bold"},
		{[]string{long}, "it ended; last output: " + long[1:] + "…"},
	} {
		before := &fault.Error{Code: fault.UpstreamExited, Message: "it ended", Output: c.output}
		if got := withLastWords(before).Error(); got != c.want || before.Message != "it ended" {
			t.Errorf("%q: %q, want %q", c.output, got, c.want)
		}
	}
}
