package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

func TestLongListHasPages(t *testing.T) {
	var blocks []string
	for i := range 50 {
		blocks = append(blocks, fmt.Sprintf(`{"name":"t%02d","description":%q}`, i, strings.Repeat("x", 1000)))
	}
	conn, err := plugin().Transports["cli"].Open(t.Context(), &sdk.Server{Dir: t.TempDir(), MaxMessage: 40 << 10},
		[]byte(`{"command":["echo"],"tool":[`+strings.Join(blocks, ",")+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	list := func(params string) (message, int) {
		if err := conn.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":` + params +
			`}`)); err != nil {
			t.Fatal(err)
		}
		msg, err := conn.Recv()
		var m message
		if err != nil || json.Unmarshal(msg, &m) != nil {
			t.Fatal(err)
		}
		return m, len(msg)
	}
	var names []string
	params := `{}`
	for pages := 0; params != ""; pages++ {
		m, size := list(params)
		var l struct {
			Tools []struct{ Name string }
			Next  string `json:"nextCursor"`
		}
		if err := json.Unmarshal(m.Result, &l); err != nil || size > 40<<10 || pages > 10 {
			t.Fatalf("page %d of %d bytes: %v", pages, size, err)
		}
		for _, tool := range l.Tools {
			names = append(names, tool.Name)
		}
		if params = ""; l.Next != "" {
			params = `{"cursor":"` + l.Next + `"}`
		}
	}
	if len(names) != 50 || !slices.IsSorted(names) || names[49] != "t49" {
		t.Errorf("%v", names)
	}
	for _, cursor := range []string{`"x"`, `"-1"`, `"0"`, `"51"`, `7`, `""`} {
		if m, _ := list(`{"cursor":` + cursor + `}`); m.Error == nil || m.Error.Code != invalidParams {
			t.Errorf("%s: %s", cursor, m.Result)
		}
	}
}

func TestDiscoveredCommandCanBeCalled(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "fruit")
	if err := os.WriteFile(program, []byte(`#!/bin/sh
case "$*" in
*--help)
	case "$1" in
	peel) printf 'Usage: fruit peel [OPTIONS] NAME\n\nPeels a fruit.\n\nOptions:\n  -k, --knife KNIFE   The knife to use.\n      --fast          Be quick.\n  -h, --help          Show this help.\n' ;;
	eat) printf 'Usage: fruit eat NAME\n\nEats a fruit.\n\nOptions:\n  -h, --help   Show this help.\n' ;;
	*) printf 'Usage: fruit COMMAND\n\nAll about fruit.\n\nCommands:\n  peel   Peels a fruit.\n  eat    Eats a fruit.\n\nOptions:\n  -h, --help   Show this help.\n' ;;
	esac ;;
*) for a in "$@"; do echo "[$a]"; done ;;
esac
`), 0o755); err != nil {
		t.Fatal(err)
	}
	h := openHost(t, fmt.Sprintf(`{"command":[%q],"read":["peel"]}`, program))
	m := h.ask("tools/list", `{"_meta":{"junctor/model":true}}`)
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(m.Result, &list); err != nil || len(list.Tools) != 2 || list.Tools[0].Name != "peel" ||
		list.Tools[1].Name != "eat" {
		t.Fatalf("%s %+v", m.Result, m.Error)
	}
	if !strings.Contains(string(m.Result), `"program":"fruit"`) {
		t.Errorf("%s", m.Result)
	}
	if c := h.call("peel", `{"name":"an apple","knife":"-x","fast":true}`); c.Result.Stdout !=
		"[peel]\n[--knife=-x]\n[--fast]\n[an apple]\n" {
		t.Errorf("%+v", c)
	}
	if m := h.ask("tools/list", `{}`); !strings.Contains(string(m.Result), `"readOnlyHint":true`) {
		t.Errorf("%s", m.Result)
	}
	if m := openHost(t, fmt.Sprintf(`{"command":[%q],"only":["cook"]}`, program)).ask("tools/list",
		`{}`); m.Error == nil || !strings.Contains(m.Error.Message, "cook") {
		t.Errorf("%+v", m)
	}
}

// TestNotificationAfterEarlyList checks that the host is notified of further
// tools after it requested the list early.
func TestNotificationAfterEarlyList(t *testing.T) {
	defer func(d time.Duration) { listWait = d }(listWait)
	listWait = 50 * time.Millisecond
	dir := t.TempDir()
	program, gate := filepath.Join(dir, "slow"), filepath.Join(dir, "gate")
	script := "#!/bin/sh\nwhile ! test -e " + gate +
		"; do sleep 0.05; done\nprintf 'Usage: slow [OPTIONS]\\n\\nIs slow.\\n\\nOptions:\\n  --fast   Be quick.\\n'\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf(`{"command":[%q],"probe":"auto","tool":[{"name":"say","description":"d"}]}`, program)
	modern, old := openHost(t, settings), openHost(t, settings)
	if m := modern.ask("server/discover", `{`+modernMeta+`}`); !strings.Contains(string(m.Result),
		`"tools":{"listChanged":true}`) {
		t.Errorf("%s", m.Result)
	}
	old.ask("initialize", `{"protocolVersion":"2025-11-25"}`)
	m := modern.ask("tools/list", `{`+modernMeta+`}`)
	if !strings.Contains(string(m.Result), `"ttlMs":0`) || !strings.Contains(string(m.Result), `"name":"say"`) ||
		strings.Contains(string(m.Result), `"name":"slow"`) {
		t.Errorf("%s", m.Result)
	}
	old.ask("tools/list", `{}`)
	id := modern.request("subscriptions/listen", `{"notifications":{"toolsListChanged":true},`+modernMeta+`}`)
	if m := modern.receive(); m.Method != noteAcknowledged || string(m.Params) !=
		`{"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`},"notifications":{"toolsListChanged":true}}` {
		t.Errorf("%s %s", m.Method, m.Params)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if m := modern.receive(); m.Method != noteToolsChanged ||
		string(m.Params) != `{"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`}}` {
		t.Errorf("%s %s", m.Method, m.Params)
	}
	if m := old.receive(); m.Method != noteToolsChanged {
		t.Errorf("%+v", m)
	}
	for _, h := range []*host{modern, old} {
		if m := h.ask("tools/list", `{}`); !strings.Contains(string(m.Result), `"name":"say"`) ||
			!strings.Contains(string(m.Result), `"name":"slow"`) {
			t.Errorf("%s", m.Result)
		}
	}
	modern.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	modern.ask("ping", `{}`)
}
