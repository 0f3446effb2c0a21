package interoptest

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/junctor-mcp/junctor/testdata/eventually"
)

// A recordedClient has the members of a real client's initialize, and its wait for the first
// list.
type recordedClient struct {
	name         string
	clientInfo   object
	capabilities object
	patience     time.Duration
}

// recordedClients are from the programs themselves, but for the last three, which reports of
// defects show.
var recordedClients = []recordedClient{
	{"claude-code", object{"name": "claude-code", "title": "Claude Code", "version": "2.1.197"},
		object{"roots": object{}, "elicitation": object{}}, 5 * time.Second},
	{"codex", object{"name": "codex-mcp-client", "title": "Codex", "version": "0.171.0"},
		object{"elicitation": object{"form": object{}, "url": object{}}}, 10 * time.Second},
	{"vscode", object{"name": "Visual Studio Code", "version": "1.109.0"},
		object{
			"roots": object{"listChanged": true}, "sampling": object{},
			"elicitation": object{"form": object{}, "url": object{}},
			"tasks": object{"list": object{}, "cancel": object{},
				"requests": object{"sampling": object{"createMessage": object{}},
					"elicitation": object{"create": object{}}}},
			"extensions": object{
				"io.modelcontextprotocol/ui": object{"mimeTypes": []string{"text/html;profile=mcp-app"}},
			},
		}, 10 * time.Second},
	// The capabilities of a server, as booleans, beside its own.
	{"cursor", object{"name": "cursor-vscode", "version": "1.0.0"},
		object{"tools": true, "prompts": true, "resources": true, "logging": false, "elicitation": object{},
			"roots": object{"listChanged": false}}, 10 * time.Second},
	{"claude-desktop", object{"name": "claude-ai", "version": "0.1.0"}, object{}, 10 * time.Second},
}

// A firstList is the report of the script recorded.mjs.
type firstList struct {
	Tools []string
	Took  int // ms until the first list
	Grew  bool
}

// connect lets the client connect to the workspace. grows is a tool that its list gets later, or "".
func (c recordedClient) connect(t *testing.T, s *workspace, grows string) (got firstList) {
	t.Helper()
	what := object{"clientInfo": c.clientInfo,
		"capabilities": c.capabilities, "patience": max(c.patience, testTimeout).Milliseconds(), "grows": grows}
	cmd := exec.Command("node", npmClients.path("recorded.mjs"), program("junctor"), string(encode(t, what)))
	cmd.Dir, cmd.Env = s.dir, s.command().Env
	decode(t, output(t, cmd), &got)
	if took := time.Duration(got.Took) * time.Millisecond; took > c.patience && allCombinations() {
		t.Errorf("the first list came after %s, and the client waits for %s", took, c.patience)
	}
	return got
}

// TestRecordedClients has real clients' initialize come with one server that starts slowly and
// one that never answers. They get a list while they wait, a longer one later
// in the same session, and the longer one at first the next time.
func TestRecordedClients(t *testing.T) {
	npmClients.require(t)
	for _, c := range recordedClients {
		t.Run(c.name, func(t *testing.T) {
			if !allCombinations() {
				t.Parallel()
			}
			dir := t.TempDir()
			s := newWorkspace(t, scripted("quick", filepath.Join(dir, "quick"), `exec "$2"`),
				scripted("slow", filepath.Join(dir, "slow"), `sleep 6; exec "$2"`),
				scripted("stuck", filepath.Join(dir, "stuck"), `exec sleep 60`))
			t.Cleanup(func() { expectNone(t, s.endReaders) })
			first := c.connect(t, s, "slow__add")
			if !slices.Contains(first.Tools, "quick__add") || !first.Grew {
				t.Errorf("the first time: %+v", first)
			}
			next := c.connect(t, s, "")
			if !slices.Contains(next.Tools, "quick__add") || !slices.Contains(next.Tools, "slow__add") {
				t.Errorf("the next time: %+v", next)
			}
			t.Logf("the first list came after %d ms, and the next time after %d ms", first.Took, next.Took)
		})
	}
}

// TestListsAreReadAfterClientHasLeft has a client leave before a slow server has started. The
// list of that server is there the next time.
func TestListsAreReadAfterClientHasLeft(t *testing.T) {
	npmClients.require(t)
	t.Parallel()
	s := newWorkspace(t, scripted("slow", filepath.Join(t.TempDir(), "slow"), `sleep 5; exec "$2"`))
	t.Cleanup(func() { expectNone(t, s.endReaders) })
	c := recordedClients[0]
	if first := c.connect(t, s, ""); len(first.Tools) > 0 {
		t.Errorf("the first time: %+v", first)
	}
	eventually.True(t, "the processes have ended", func() bool { return len(s.running()) == 0 })
	next := c.connect(t, s, "")
	if !slices.Contains(next.Tools, "slow__add") || next.Took > 1000 && allCombinations() {
		t.Errorf("the next time: %+v, want slow__add within 1 s", next)
	}
}
