package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
)

// overrides has tools that set everything that a tool block can set in place of the
// transport.
const overrides = `{"command":[%[1]q,"-c"],"cwd":%[2]q,"paths":"any","timeout":"30s","env":{"A":"transport","B":"kept"},"ok_codes":[0],"data_codes":[7],"tool":[
	{"name":"plain","description":"d","argv":["{s}"],"argument":[{"name":"s"}]},
	{"name":"short","description":"d","argv":["echo partial; sleep 20"],"timeout":"300ms"},
	{"name":"codes","description":"d","argv":["exit {n}"],"ok_codes":[3],"data_codes":[4],"argument":[{"name":"n","type":"integer"}]},
	{"name":"nodata","description":"d","argv":["exit 7"],"data_codes":[]},
	{"name":"env","description":"d","argv":["echo $A $B $C"],"env":{"A":"tool","C":"more"}},
	{"name":"there","description":"d","argv":["pwd; cat {f}"],"cwd":%[3]q,"argument":[{"name":"f","default":"/dev/null"}],"paths":"cwd"},
	{"name":"small","description":"d","argv":["echo 0123456789"],"max_output":4},
	{"name":"files","description":"d","argv":["ulimit -n"],"limits":{"files":17}},
	{"name":"json","description":"d","argv":["echo '{\"a\":1}'"],"output":"json"},
	{"name":"other","description":"d","command":["/bin/echo","fixed"],"argv":["x"]}]}`

func TestToolsOverrideTheTransport(t *testing.T) {
	s := newWalledSite(t)
	there := t.TempDir()
	if err := os.WriteFile(filepath.Join(there, "here.txt"), []byte("there"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := openHost(t, fmt.Sprintf(overrides, s.shell, s.work, there))
	for _, c := range []struct {
		tool, args, says string
		failed           bool
	}{
		{"plain", `{"s":"echo $A $B $C; pwd"}`, "transport kept\n" + s.work, false},
		{"plain", `{"s":"exit 7"}`, "status 7", false},
		{"plain", `{"s":"exit 4"}`, "status 4", true},
		{"plain", `{"s":"ulimit -n"}`, "", false},
		{"short", `{}`, "partial\n--- it did not end within its time", true},
		{"codes", `{"n":3}`, "status 3", false},
		{"codes", `{"n":4}`, "status 4", false},
		{"codes", `{"n":7}`, "status 7", true},
		{"codes", `{"n":0}`, "", true},
		{"nodata", `{}`, "status 7", true},
		{"env", `{}`, "tool kept more", false},
		{"there", `{"f":"here.txt"}`, there + "\nthere", false},
		{"there", `{"f":"../../etc/hostname"}`, "rejected", true},
		{"there", fmt.Sprintf(`{"f":%q}`, filepath.Join(s.work, "in.txt")), "rejected", true},
		{"small", `{}`, "7 bytes were left out", false},
		{"files", `{}`, "17\n", false},
		{"json", `{}`, `{"a":1}`, false},
		{"other", `{}`, "fixed x", false},
	} {
		r := h.call(c.tool, c.args)
		if r.IsError != c.failed || !strings.Contains(r.Content[0].Text, c.says) {
			t.Errorf("%s %s: %+v", c.tool, c.args, r)
		}
		if c.tool == "short" && (r.Result.ExitCode != -1 && r.Result.ExitCode != 143) {
			t.Errorf("%+v", r)
		}
	}
}

// TestToolsHaveTheirOwnWall checks that a tool with a directory or a command of its own is
// behind the wall of these, and not behind that of the transport.
func TestToolsHaveTheirOwnWall(t *testing.T) {
	s := newWalledSite(t)
	there := t.TempDir()
	block := `{"name":%q,"description":"d","argv":["-c","{s}"],"access":%q,"argument":[{"name":"s","required":true,"pattern":"(?s).*"}]%s}`
	h := openHost(t, fmt.Sprintf(`{"command":[%q],"cwd":%q,"tool":[%s,%s,%s]}`, s.shell, s.work,
		fmt.Sprintf(block, "main", "write", ""),
		fmt.Sprintf(block, "there", "write", fmt.Sprintf(`,"cwd":%q`, there)),
		fmt.Sprintf(block, "look", "read", fmt.Sprintf(`,"cwd":%q,"command":[%q]`, there, s.shell))))
	for _, c := range []struct {
		tool, script string
		works        bool
	}{
		{"main", "cat in.txt", true},
		{"main", "ls $T", false},
		{"main", "echo x >$T/new", false},
		{"there", "echo x >made.txt && cat made.txt", true},
		{"there", "cat $W/in.txt", false},
		{"there", "echo x >$W/new", false},
		{"there", "cat ~/notes.txt", false},
		{"look", "cat made.txt", true},
		{"look", "echo x >made.txt", false},
		{"look", "cat $W/in.txt", false},
	} {
		text := fmt.Sprintf("W=$(echo %s) T=$(echo %s); ", hide(s.work), hide(there)) + c.script
		if r := runScript(h, c.tool, text); r.IsError == c.works {
			t.Errorf("%s: %s: %+v", c.tool, c.script, r)
		}
	}
}

// hide writes a path so that the rules for arguments do not see it.
func hide(path string) string { return strings.ReplaceAll(path, "/", `'\057'`) }

func runScript(h *host, tool, text string) callResult {
	return h.call(tool, fmt.Sprintf(`{"s":%q}`, strings.ReplaceAll(text, "~", "$HOME")))
}

// TestDangerRulesAreThoseOfTheTool checks that the table of known programs is asked about the
// command of the tool.
func TestDangerRulesAreThoseOfTheTool(t *testing.T) {
	dir := t.TempDir()
	h := openHost(t, fmt.Sprintf(`{"command":["/bin/cat"],"cwd":%q,"tool":[
		{"name":"grep","description":"d","command":["grep"],"argv":["x","/dev/null"],"access":"read"},
		{"name":"cat","description":"d","argv":["/dev/nothing"],"access":"read"},
		{"name":"run","description":"d","command":["/usr/bin/env"],"argv":["{p}"],"access":"read","argument":[{"name":"p"}]},
		{"name":"git","description":"d","command":["git"],"argv":["log"],"access":"read","argument":[{"name":"o","flag":"--output"}]}]}`,
		dir))
	if r := h.call("grep", `{}`); r.IsError || r.Result.ExitCode != 1 {
		t.Errorf("1 of grep is no error: %+v", r)
	}
	if r := h.call("cat", `{}`); !r.IsError {
		t.Errorf("%+v", r)
	}
	list := string(h.ask("tools/list", `{}`).Result)
	if n := strings.Count(list, `"readOnlyHint":true`); n != 2 {
		t.Errorf("%d tools count as reading: %s", n, list)
	}
}

// TestToolsWhoseProgramsAreMissing checks that the error names the place in the tool block.
func TestToolsWhoseProgramsAreMissing(t *testing.T) {
	for _, c := range []struct{ tool, path string }{
		{`"command":["no-such-program-x"]`, "tool[1].command"},
		{`"cwd":"no-such-directory"`, "tool[1].cwd"},
		{`"command":["./x"],"cwd":"/"`, "tool[1].command"},
		{`"command":["echo"],"env":{"PATH":"/no-such-directory"}`, "tool[1].command"},
	} {
		settings := `{"command":["/bin/echo"],"tool":[{"name":"a","description":"d"},{"name":"b","description":"d",` +
			c.tool + `}]}`
		conn, err := plugin().Transports["cli"].Open(t.Context(), &sdk.Server{Dir: t.TempDir(), MaxMessage: 1 << 20},
			[]byte(settings))
		e, ok := err.(*sdk.Error)
		if !ok || e.Path != c.path || e.Code != sdk.Unavailable {
			t.Errorf("%s: %v", c.tool, err)
		}
		if conn != nil {
			t.Error(conn.Close(t.Context()))
		}
	}
}

// TestManyToolsOpenQuickly opens a server with hundreds of tools that have their own
// settings but the same programs.
func TestManyToolsOpenQuickly(t *testing.T) {
	var blocks []string
	for i := range 400 {
		blocks = append(blocks, fmt.Sprintf(`{"name":"t%d","description":"d","command":["/bin/echo"],"env":{"A":"%d"},"argv":[["-n","{x}"]],"argument":[{"name":"x"}]}`,
			i, i))
	}
	begun := time.Now()
	openHost(t, `{"command":["/bin/echo"],"tool":[`+strings.Join(blocks, ",")+`]}`)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}
