package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/testdata/eventually"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestModernRevision(t *testing.T) {
	h := shServer(t, "")
	m := h.ask("server/discover", `{`+modernMeta+`}`)
	want := `{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"sh","version":"` + version +
		`"}},"cacheScope":"private",` +
		`"capabilities":{"tools":{}},"resultType":"complete","supportedVersions":["2026-07-28"],"ttlMs":3600000}`
	if string(m.Result) != want {
		t.Errorf("%s", m.Result)
	}
	m = h.ask("tools/list", `{`+modernMeta+`}`)
	if !strings.HasPrefix(string(m.Result),
		`{"resultType":"complete","ttlMs":300000,"cacheScope":"private","tools":[{"name":"run",`) {
		t.Errorf("%s", m.Result)
	}
	m = h.ask("tools/call", `{"name":"list",`+modernMeta+`}`)
	if c := readCallResult(t, m); c.Type != "complete" || c.Result.Stdout != "list\n" {
		t.Errorf("%s", m.Result)
	}
	m = h.ask("tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}`)
	if m.Error == nil || m.Error.Code != unsupportedVersion ||
		string(m.Error.Data) != `{"requested":"2099-01-01","supported":["2026-07-28"]}` {
		t.Errorf("%+v", m.Error)
	}
}

func TestLegacyRevisions(t *testing.T) {
	h := shServer(t, "")
	for asked, want := range map[string]string{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25", "": "2025-11-25",
	} {
		m := h.ask("initialize", `{"protocolVersion":"`+asked+`","capabilities":{}}`)
		if !strings.Contains(string(m.Result), `"protocolVersion":"`+want+`"`) ||
			!strings.Contains(string(m.Result), `"serverInfo":{"name":"sh"`) {
			t.Errorf("%s: %s", asked, m.Result)
		}
	}
	h.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if m := h.ask("ping", `{}`); string(m.Result) != `{}` {
		t.Errorf("%s", m.Result)
	}
	if m := h.ask("tools/list", `{}`); strings.Contains(string(m.Result), "resultType") ||
		strings.Contains(string(m.Result), "junctor/model") {
		t.Errorf("%s", m.Result)
	}
	if m := h.ask("tools/list", `{"_meta":{"junctor/model":true}}`); !strings.Contains(string(m.Result),
		`"junctor/model":{"command":{"path":[]`) {
		t.Errorf("%s", m.Result)
	}
}

// TestInvalidMessages checks that invalid requests are answered with an error
// and that other messages are not answered.
func TestInvalidMessages(t *testing.T) {
	h := shServer(t, "")
	for _, c := range []struct {
		method, params string
		code           int
	}{
		{"tools/call", `{"name":"absent"}`, invalidParams},
		{"tools/call", `{}`, invalidParams},
		{"tools/call", `{"name":1}`, invalidParams},
		{"tools/call", `{"Name":"run"}`, invalidParams},
		{"tools/call", `[]`, invalidParams},
		{"tools/call", `null`, invalidParams},
		{"resources/list", `{}`, methodNotFound},
		{"prompts/get", `{}`, methodNotFound},
		{"Ping", `{}`, methodNotFound},
		{"", `{}`, methodNotFound},
	} {
		if m := h.ask(c.method, c.params); m.Error == nil || m.Error.Code != c.code || m.Result != nil {
			t.Errorf("%s %s: %+v", c.method, c.params, m)
		}
	}
	for _, msg := range []string{
		`{`, `[]`, `"x"`, `null`, `{}`, `{"jsonrpc":"2.0","method":"ping"}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":5,"result":{}}`,
		`{"jsonrpc":"2.0","id":5,"method":7}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, `{"jsonrpc":"2.0","Id":6,"Method":"ping"}`,
	} {
		h.send(msg)
	}
	h.ask("ping", `{}`) // the response to the ping is the next message
}

// TestNamesAreCaseSensitive checks that a member with another case is ignored,
// although encoding/json would accept it for a struct.
func TestNamesAreCaseSensitive(t *testing.T) {
	h := shServer(t, "")
	m := h.ask("tools/call",
		`{"name":"list","Name":"run","NAME":"run","arguments":{},"Arguments":{"script":"echo evil"}}`)
	if c := readCallResult(t, m); c.Result.Stdout != "list\n" {
		t.Errorf("%s", m.Result)
	}
}

func TestCall(t *testing.T) {
	h := shServer(t, "")
	c := h.call("run", `{"script":"echo $PROMISE $TERM $PAGER $GIT_TERMINAL_PROMPT; cat; echo err >&2","stdin":"in"}`)
	if c.IsError || c.Result.Stdout != "kept dumb cat 0\nin" || c.Result.Stderr != "err\n" || c.Type != "" {
		t.Errorf("%+v", c)
	}
	if c := h.call("run", `{"script":"exit 2"}`); !c.IsError || c.Result.ExitCode != 2 {
		t.Errorf("%+v", c)
	}
	if c := h.call("run", `{"scirpt":"x"}`); !c.IsError ||
		!strings.Contains(c.Content[0].Text, "scirpt: is not an argument") {
		t.Errorf("%+v", c)
	}
	if c := shServer(t, `"data_codes":[2],`).call("run", `{"script":"exit 2"}`); c.IsError {
		t.Errorf("%+v", c)
	}
	if c := shServer(t, `"timeout":"300ms",`).call("run", `{"script":"sleep 10"}`); !c.IsError ||
		!strings.Contains(c.Content[0].Text, "within its time") {
		t.Errorf("%+v", c)
	}
	if c := h.call("run", `{"script":"`+strings.Repeat("x", 200<<10)+`"}`); !c.IsError ||
		!strings.Contains(c.Content[0].Text, "starting sh: argument list too long") {
		t.Errorf("%+v", c)
	}
}

// TestErrorsDoNotContainEnv checks the error of a failed start.
func TestErrorsDoNotContainEnv(t *testing.T) {
	_, err := plugin().Transports["cli"].Open(t.Context(), &sdk.Server{Dir: t.TempDir()},
		[]byte(`{"command":["absent-5f0c"],"env":{"A":"s3cret-value","PATH":"/nowhere"}}`))
	if err == nil || strings.Contains(fmt.Sprintf("%+v", err), "s3cret-value") {
		t.Errorf("%+v", err)
	}
}

func TestCancelledCallGetsNoResponse(t *testing.T) {
	h := shServer(t, "")
	file := filepath.Join(h.dir, "pid")
	id := h.request("tools/call", fmt.Sprintf(`{"name":"run","arguments":{"script":"echo $$ > %s; sleep 100"}}`, file))
	pid := awaitFile(t, file)
	h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	eventually.True(t, "the program has ended", func() bool {
		_, err := os.Stat("/proc/" + pid)
		return err != nil
	})
	h.ask("ping", `{}`) // the response to the ping is the next message
}

func TestCloseEndsRuns(t *testing.T) {
	h := shServer(t, "")
	file := filepath.Join(h.dir, "pid")
	h.request("tools/call",
		fmt.Sprintf(`{"name":"run","arguments":{"script":"trap '' TERM; echo $$ > %s; while :; do sleep 1; done"}}`,
			file))
	pid := awaitFile(t, file)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if err := h.conn.Close(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("closing took %s", took)
	}
	if _, err := os.Stat("/proc/" + pid); err == nil {
		t.Error("the program still runs")
	}
	h.send(`{"jsonrpc":"2.0","id":99,"method":"ping"}`)
	if m, open := <-h.got; open {
		t.Errorf("message after Close: %+v", m)
	}
}

func awaitFile(t *testing.T, file string) string {
	t.Helper()
	var text []byte
	eventually.True(t, "the program has started", func() bool {
		text, _ = os.ReadFile(file)
		return strings.HasSuffix(string(text), "\n")
	})
	return strings.TrimSpace(string(text))
}

func TestProgressNotifications(t *testing.T) {
	h := shServer(t, "")
	id := h.request("tools/call",
		`{"name":"run","arguments":{"script":"echo working >&2; sleep 1.5"},"_meta":{"progressToken":"tok"}}`)
	m := h.receive()
	var p struct {
		Token    string `json:"progressToken"`
		Progress float64
		Message  string
	}
	if json.Unmarshal(m.Params, &p) != nil || m.Method != "notifications/progress" || p.Token != "tok" ||
		p.Progress < 0.9 || !strings.HasSuffix(p.Message, ": working") {
		t.Errorf("%s %s", m.Method, m.Params)
	}
	for m = h.receive(); m.Method == "notifications/progress"; m = h.receive() { // a busy machine has time for more
	}
	if string(m.ID) != id {
		t.Errorf("%+v", m)
	}
}

// TestParallelBoundsTheRuns checks that every call gets its turn.
func TestParallelBoundsTheRuns(t *testing.T) {
	h := shServer(t, `"parallel":2,`)
	dir := filepath.Join(h.dir, "running")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`mkdir %[1]s/$$; ls %[1]s | wc -l; sleep 0.05; rmdir %[1]s/$$`, dir)
	var ids []string
	for range 20 {
		ids = append(ids, h.request("tools/call", fmt.Sprintf(`{"name":"run","arguments":{"script":%q}}`, script)))
	}
	for range ids {
		m := h.receive()
		if c := readCallResult(t, m); c.Result.Stdout != "1\n" && c.Result.Stdout != "2\n" {
			t.Errorf("%q runs at the same time", c.Result.Stdout)
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == string(m.ID) })
	}
	if len(ids) > 0 {
		t.Errorf("no response to %v", ids)
	}
}

// TestTooManyRequests checks that a request beyond the limit, or with a pending
// ID, is rejected.
func TestTooManyRequests(t *testing.T) {
	h := shServer(t, `"parallel":1,`)
	h.send(
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"run","arguments":{"script":"sleep 0.5"}}}`,
	)
	h.send(`{"jsonrpc":"2.0","id":"a","method":"ping"}`)
	if m := h.receive(); m.Error == nil || string(m.ID) != `"a"` {
		t.Errorf("%+v", m)
	}
	readCallResult(t, h.receive())
}

func TestLargeResultIsShortened(t *testing.T) {
	conn, err := plugin().Transports["cli"].Open(t.Context(), &sdk.Server{Dir: t.TempDir(), MaxMessage: 64 << 10},
		[]byte(fmt.Sprintf(shSettings, "")))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","arguments":{"script":"head -c 200000 /dev/zero"}}}`)); err != nil {
		t.Fatal(err)
	}
	msg, err := conn.Recv()
	if err != nil || len(msg) > 64<<10 || !strings.Contains(string(msg), `"truncated":true`) {
		t.Errorf("%d bytes, %v", len(msg), err)
	}
}

// TestPathsStayInCwd checks that tools from blocks and from discovery reject
// paths outside cwd unless the configuration allows them.
func TestPathsStayInCwd(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("inside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(outside, []byte("outside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	block := `{"name":"show","description":"d","argv":["--","{file}"],"access":"read",%s"argument":[{"name":"file","type":"path"}]}`
	for _, c := range []struct {
		name, settings string
		refused        bool
	}{
		{"discovered", `"only":[]`, true},
		{"discovered, anywhere", `"paths":"any"`, false},
		{"by hand", `"tool":[` + fmt.Sprintf(block, "") + `]`, true},
		{"by hand, anywhere", `"paths":"any","tool":[` + fmt.Sprintf(block, "") + `]`, false},
		{"by hand, this one anywhere", `"tool":[` + fmt.Sprintf(block, `"paths":"any",`) + `]`, false},
		{"by hand, this one in cwd", `"paths":"any","tool":[` + fmt.Sprintf(block, `"paths":"cwd",`) + `]`, true},
	} {
		h := openHost(t, fmt.Sprintf(`{"command":["cat"],"cwd":%q,%s}`, dir, c.settings))
		m := h.ask("tools/list", `{}`)
		if readOnly := strings.Contains(string(m.Result), `"readOnlyHint":true`); readOnly != c.refused {
			t.Errorf("%s: readOnlyHint is %t", c.name, readOnly)
		}
		name, args := "show", `{"file":%q}`
		if strings.HasPrefix(c.name, "discovered") {
			name, args = "cat", `{"file":[%q]}`
		}
		if got := h.call(name, fmt.Sprintf(args, "in")); got.Result.Stdout != "inside\n" {
			t.Errorf("%s: %+v", c.name, got)
		}
		got := h.call(name, fmt.Sprintf(args, outside))
		switch {
		case c.refused && (!got.IsError || !strings.Contains(got.Content[0].Text, "file") ||
			!strings.Contains(got.Content[0].Text, dir)):
			t.Errorf("%s: %+v", c.name, got)
		case !c.refused && got.Result.Stdout != "outside\n":
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	root := openHost(t, `{"command":["cat"],"cwd":"/","tool":[`+fmt.Sprintf(block, "")+`]}`).ask("tools/list", `{}`)
	if strings.Contains(string(root.Result), `"readOnlyHint":true`) {
		t.Error("a tool with the root as cwd has readOnlyHint")
	}
}

// TestKnownExitCodes checks that status 1 of grep is an answer without
// configuration.
func TestKnownExitCodes(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("inside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for settings, isError := range map[string]bool{
		`{"command":["grep"],"cwd":%q}`:                  false,
		`{"command":["grep"],"cwd":%q,"data_codes":[7]}`: true,
	} {
		h := openHost(t, fmt.Sprintf(settings, dir))
		h.ask("tools/list", `{}`)
		if got := h.call("grep", `{"patterns":"nothing of the kind","file":["in"]}`); got.IsError != isError ||
			got.Result.ExitCode != 1 {
			t.Errorf("%s: %+v", settings, got)
		}
	}
}
